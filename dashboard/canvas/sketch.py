"""The canvas of "Set the truth": the disk with a sample of the data and means to be dragged."""

import streamlit as st

from dashboard.canvas import heard, hearing, pack
from dashboard.canvas.program import loader
from dashboard.compute.sample import sample_to_draw
from dashboard.figures.states import STATE_COLOURS
from dashboard.model.experiment import Experiment

_sketch = st.components.v2.component("rhmm_sketch", js=loader("sketch"))


def sketch(experiment: Experiment, means, sigmas, *, key: str, on_moved) -> None:
    """Mount the disk: the experiment's data, these true means and a circle of radius σ around each.

    The callback finds what was dropped where in ``st.session_state[key].moved``.
    """
    message = sketch_message(experiment, means, sigmas, heard(key))
    _sketch(key=key, data=message, on_moved_change=hearing(key, on_moved))


def sketch_message(experiment: Experiment, means, sigmas, drops: int) -> bytes:
    points, states = sample_to_draw(experiment)
    if len(means) != experiment.n_states:
        points, states = points[:0], states[:0]  # of a model with other states
    truth = {"means": means, "sigmas": sigmas, "colours": STATE_COLOURS[: len(means)]}
    return pack({"truth": truth, "heard": drops}, {"xy": points, "states": states})
