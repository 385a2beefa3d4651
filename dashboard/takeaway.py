"""The row of buttons that hand out what is on screen."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import streamlit as st

from dashboard import downloads
from dashboard.chain_diagram import chain_svg
from dashboard.experiment import Experiment
from dashboard.runs import Run

KEPT = 16
"""Runs whose files stay in memory for whoever sees them next."""

Shown = TypeVar("Shown")

_OF_A_RUN = {
    "data.csv": ("Data (CSV)", "text/csv", downloads.data_csv),
    "run.npz": ("Arrays (NPZ)", "application/zip", downloads.arrays_npz),
    "results.json": ("Results (JSON)", "application/json", downloads.results_json),
}


def buttons(run: Run, *, ended: bool) -> None:
    """What there is of a run once it has ended, be it stopped; its script at any time."""
    ready = ended and len(run.points) > 0
    with st.container(horizontal=True, key="takeaway"):
        for name, (label, mime, _) in _OF_A_RUN.items():
            button(label, name, mime, partial(_file_of, name), run, ready=ready)
        _script_button(run.experiment)


def truth_buttons(experiment: Experiment) -> None:
    with st.container(horizontal=True, key="takeaway"):
        button("Parameters (JSON)", "parameters.json", "application/json",
               downloads.experiment_json, experiment)  # fmt: skip
        _script_button(experiment)
        button("Chain (SVG)", "chain.svg", "image/svg+xml", chain_svg, experiment.transmat)


def _script_button(experiment: Experiment) -> None:
    button("Script (Python)", "run.py", "text/x-python", downloads.script, experiment)


def prepare(run: Run) -> None:
    """Make the files of a run where nobody waits: those of a long one take a tenth of a second."""
    _files(id(run), run)


def _file_of(name: str, run: Run) -> bytes:
    _, files = _files(id(run), run)
    return files[name]


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _files(run_id: int, _run: Run) -> tuple[Run, dict[str, bytes]]:
    """Made once for all visitors. The run is kept too: no other can have its id meanwhile."""
    return _run, {name: make(_run) for name, (_, _, make) in _OF_A_RUN.items()}


def button(
    label: str,
    name: str,
    mime: str,
    make: Callable[[Shown], str | bytes],
    shown: Shown,
    *,
    ready: bool = True,
) -> None:
    """Hands out ``make(shown)``, asked for once.

    Streamlit could call `make` when somebody clicks, but forgets it whenever the page runs again:
    a click at such a moment would come to nothing. A file that is there keeps its address.
    """
    made = st.session_state.setdefault("made", {})
    if ready and (name not in made or made[name][0] is not shown):
        made[name] = shown, make(shown)
    st.download_button(
        label, made[name][1] if ready else b"", name, mime, key=f"take-{name}",
        disabled=not ready, on_click="ignore",
    )  # fmt: skip
