"""Live lab: watch the online algorithm find the hidden means, beside EM and K-means."""

import streamlit as st

from dashboard import controls, present, state, takeaway
from dashboard.desk import follow_experiment, has_ended, request
from dashboard.truth import with_dropped
from dashboard.ui import canvases

controls.sidebar()

st.title("Online learning on the Poincaré disk")
st.caption(
    "Crosses are the true means: drag them. Coloured marks are what the online algorithm believes "
    "after k observations, with the way it came; circles have radius σ, dashed the true ones. "
    "The rim of the disk is infinitely far away."
)
for problem in state.link_problems():
    st.warning(str(problem))

job = request(state.experiment())
canvases.send_all("lab")  # for a page that begins anew; while a job runs, only what is new


def moved(drops) -> None:
    truth = state.drafted_truth()  # what is half typed elsewhere is not lost
    if len(truth["means"]) != state.experiment().n_states:
        truth = state.experiment().truth  # those that were moved are of the model on screen
    state.propose(**truth | {"means": with_dropped(truth["means"], drops)})


def looked(report) -> None:
    if report["version"] == state.links():  # else another link was opened meanwhile
        state.look(report)


def show(run) -> None:
    over = run.finished or has_ended(job)
    canvases.lab(run, over, state.view(), state.links(), key="lab", on_moved=moved, on_view=looked)
    canvases.feed(run, key="cloud")
    st.table(present.methods_table(run))
    takeaway.run_files(run, ended=over)


follow_experiment(job, show)
