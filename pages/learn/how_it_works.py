"""How it works: nine screens from distance to the algorithm, each with something to guess."""

import streamlit as st

from dashboard.compute.runs import map_of
from dashboard.compute.steps import Replay, Step, replay
from dashboard.model.lesson import INSPECTED, STEPS
from dashboard.model.methods import capitalised
from dashboard.model.spaces.chart import Chart
from dashboard.text import glossary, step_formulas
from dashboard.text.lesson import SCREENS, Question
from dashboard.ui import controls, job_view, lesson_canvas, sync
from dashboard.ui.session import visitor

AFTER_START = 48
"""Observations after the start at which a step is opened, if no k is asked for."""

controls.sidebar()
job_view.leave()  # this page waits for no run

me = visitor()
now = me.experiment.valid
lesson = me.lesson
screen = SCREENS[lesson.step]


def turn() -> None:
    """Back, the nine screens, and Next."""
    with st.container(key="lesson-turn", horizontal=True, vertical_alignment="center"):
        back, ahead = lesson.previous, lesson.next
        st.button(
            "Back", shortcut="Left", disabled=back is None, on_click=me.learn,
            kwargs={"step": back or lesson.step},
        )  # fmt: skip
        for i, step in enumerate(STEPS):
            title = SCREENS[step].title
            st.button(
                f"{i + 1}",
                key=f"lesson-{step}",
                help=title,
                type="primary" if step == lesson.step else "tertiary",
                on_click=me.learn,
                kwargs={"step": step},
            )
        st.button(
            "Next", shortcut="Right", disabled=ahead is None, on_click=me.learn,
            kwargs={"step": ahead or lesson.step}, type="primary",
        )  # fmt: skip


def ask(question: Question) -> None:
    """The question, and beside the guess the answer."""

    def keep(choice: str | None) -> None:
        if choice is not None:
            me.guesses[lesson.step] = choice

    guess = me.guesses.get(lesson.step)
    sync.widget(
        st.radio, f"guess-{lesson.step}", f"**Guess first.** {question.text}", guess, keep,
        options=question.options,
    )  # fmt: skip
    if guess is None:
        return
    right = question.options[question.right]
    verdict = "Right" if guess == right else f"You guessed “{guess}”. It is “{right}”"
    st.info(f"**{verdict}.** {question.because}")


def opened() -> tuple[Replay, int]:
    """The learner that is looked at, and the observation k at which its step is opened."""
    variant = INSPECTED[lesson.inspect]
    options = dict(variant.options)
    if variant.has_window:
        options["window"] = now.window
    steps = replay(now.source, variant.learner, options, now.seed, now.n_states, now.own)
    asked = me.view.k if me.view.k is not None else steps.first - 1 + AFTER_START
    return steps, min(max(asked, steps.first), steps.last)


def choose_step(steps: Replay, k: int) -> None:
    """Which learner, and which k."""

    def go(to: float | None) -> None:
        if to is not None:
            me.show(k=min(max(int(to), steps.first), steps.last))

    sync.widget(
        st.selectbox, "inspect", "Learner", lesson.inspect, lambda key: me.learn(inspect=key),
        options=list(INSPECTED), format_func=lambda key: capitalised(INSPECTED[key].name),
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xxsmall"):
        sync.widget(
            st.number_input, "lesson-k", "k", k, go, step=1, width=130,
            help=f"Observation {steps.first:,}, the first after the start, to {steps.last:,}.",
        )  # fmt: skip
        for by in (-100, -1, 1, 100):
            st.button(
                f"{by:+}".replace("-", "−"), help=f"{abs(by)} {'on' if by > 0 else 'back'}",
                on_click=go, args=(k + by,), disabled=k == (steps.last if by > 0 else steps.first),
            )  # fmt: skip
    if me.view.k is not None and me.view.k < steps.first:
        st.caption(
            f"At k = {me.view.k:,} the learner still collects its first {steps.first - 1:,} "
            f"observations: its first step is at k = {steps.first:,}."
        )


def show_formulas(step: Step, chart: Chart) -> None:
    """Every formula of the step for one state, with its numbers."""
    e = step.explanation
    st.subheader(f"The step at k = {e.step:,} in formulas")
    st.caption(step_formulas.kind_in_words(step.kind))
    shown = st.radio(
        "State", range(now.n_states), format_func=lambda i: f"State {i + 1}", horizontal=True,
        key="lesson-state", index=int(e.gamma[-1].argmax()),
    )  # fmt: skip
    state = min(shown, now.n_states - 1)
    with st.container(key="lesson-formulas"):
        # the entries of a large matrix would fill the page
        coords = chart.places if now.is_recorded else now.observed_in.coords
        formulas = step_formulas.formulas(step, state, coords)
        for i, formula in enumerate(formulas):
            width = "wide" if formula.is_wide else "narrow"
            with st.container(border=True, key=f"formula-{width}-{i}"):
                st.markdown(f"**{formula.title}**")
                st.latex(formula.tex)
                if formula.words:
                    st.caption(formula.words)


st.title("How it works")
controls.link_warnings()
turn()

with st.container(key="lesson-halves"):
    left, right = st.columns([13, 8], gap="medium")
revealed = lesson.step in me.guesses
step: Step | None = None
with left:
    if lesson.step == "step":
        with st.spinner("Replaying the chain up to this step."):
            steps, k = opened()
            step = steps.step(k)
            chart = map_of(now, steps.points)
        lesson_canvas.step_picture(step, chart, revealed=revealed)
    else:
        with st.spinner("Computing the examples of the lesson."):
            lesson_canvas.picture(lesson.step, revealed=revealed)
with right:
    st.header(f"{lesson.number + 1}. {screen.title}", anchor=False)
    st.markdown(screen.words)
    if step is not None:
        choose_step(steps, k)
    ask(screen.question())
    st.page_link("experiment/live.py", label="Open the Live lab with this experiment")

if step is not None:
    show_formulas(step, chart)

st.subheader("Glossary", anchor="glossary")
st.html(glossary.glossary_table())
st.caption(f"The paper: {glossary.PAPER}.")
