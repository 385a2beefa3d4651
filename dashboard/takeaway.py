"""The row of buttons that hand out what is on screen."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from dashboard import downloads
from dashboard.runs import Run

Shown = TypeVar("Shown")


def buttons(run: Run) -> None:
    with st.container(horizontal=True, key="takeaway"):
        for label, name, mime, make, shown in (
            ("Data (CSV)", "data.csv", "text/csv", downloads.data_csv, run),
            ("Arrays (NPZ)", "run.npz", "application/zip", downloads.arrays_npz, run),
            ("Results (JSON)", "results.json", "application/json", downloads.parameters_json, run),
            ("Script (Python)", "run.py", "text/x-python", downloads.script, run.experiment),
        ):
            button(label, name, mime, make, shown, ready=run.finished)


def button(
    label: str,
    name: str,
    mime: str,
    make: Callable[[Shown], str | bytes],
    shown: Shown,
    *,
    ready: bool = True,
) -> None:
    """Hands out ``make(shown)``, made once.

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
