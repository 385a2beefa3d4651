"""The canvas of "Set the truth": the disk with a sample of the data and means to be dragged."""

import numpy as np
import streamlit as st

from dashboard.canvas import heard, hearing, pack
from dashboard.canvas.program import loader
from dashboard.experiment import Experiment
from dashboard.figures import STATE_COLOURS
from dashboard.runs import true_model

MOST_POINTS = 3_000
"""Of longer chains every second, third, … point is drawn."""

_sketch = st.components.v2.component("rhmm_sketch", js=loader("sketch"))


def sketch(experiment: Experiment, means, sigmas, *, key: str, on_moved) -> None:
    """Mount the disk: the experiment's data, these true means and a circle of radius σ around each.

    The callback finds what was dropped where in ``st.session_state[key].moved``.
    """
    message = sketch_message(experiment, means, sigmas, heard(key))
    _sketch(key=key, data=message, on_moved_change=hearing(key, on_moved))


def sketch_message(experiment: Experiment, means, sigmas, drops: int) -> bytes:
    points, states = _sample(experiment)
    if len(means) != experiment.n_states:
        points, states = points[:0], states[:0]  # of a model with other states
    truth = {"means": means, "sigmas": sigmas, "colours": STATE_COLOURS[: len(means)]}
    return pack({"truth": truth, "heard": drops}, {"xy": points, "states": states})


@st.cache_data(max_entries=32, show_spinner=False, hash_funcs={Experiment: repr})
def _sample(experiment: Experiment) -> tuple[np.ndarray, np.ndarray]:
    """The data that every page shows, as few as make a picture."""
    points, states = true_model(experiment).sample(experiment.length, experiment.seed)
    stride = -(-len(points) // MOST_POINTS)
    return points[::stride].astype(np.float32), states[::stride].astype(np.int8)
