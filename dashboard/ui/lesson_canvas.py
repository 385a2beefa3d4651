"""Mounts the pictures of the lesson. They move in the browser and need no answer from Python."""

import streamlit as st

from dashboard.canvas import lesson_messages
from dashboard.canvas.program import loader
from dashboard.compute.steps import Step
from dashboard.model.spaces.chart import Chart

# its room is kept while the modules are fetched, else what is below would move
_lesson = st.components.v2.component(
    "rhmm_lesson", css=":host { display: block; min-height: 24rem; }", js=loader("lesson/lesson")
)


def picture(name: str, *, revealed: bool) -> None:
    """The picture of a screen; `revealed` says that the visitor has made a guess."""
    _lesson(key="lesson", data=lesson_messages.lesson_message(name, revealed))


def step_picture(step: Step, chart: Chart, *, revealed: bool) -> None:
    """The picture of one step of a learner."""
    _lesson(key="lesson", data=lesson_messages.step_message(step, chart, revealed))
