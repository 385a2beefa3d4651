"""The row of buttons that hand out what is on screen; a file is made when it is asked for."""

from functools import partial

import streamlit as st

from dashboard import downloads
from dashboard.runs import Run


def buttons(run: Run) -> None:
    files = (
        ("Data (CSV)", "data.csv", "text/csv", partial(downloads.data_csv, run)),
        ("Arrays (NPZ)", "run.npz", "application/zip", partial(downloads.arrays_npz, run)),
        ("Results (JSON)", "results.json", "application/json",
         partial(downloads.parameters_json, run)),
        ("Script (Python)", "run.py", "text/x-python", partial(downloads.script, run.experiment)),
    )  # fmt: skip
    with st.container(horizontal=True, key="takeaway"):
        for label, name, mime, make in files:
            st.download_button(
                label, make, name, mime, key=f"take-{name}", disabled=not run.finished,
                on_click="ignore",
            )  # fmt: skip
