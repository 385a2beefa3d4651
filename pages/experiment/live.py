"""Live lab: watch the online algorithm find the hidden means, beside EM and K-means."""

import streamlit as st

from dashboard import canvas
from dashboard.model.truth import with_dropped
from dashboard.text import tables
from dashboard.ui import controls, downloads
from dashboard.ui.job_view import follow_experiment, has_ended, request
from dashboard.ui.session import visitor

controls.sidebar()

st.title("Online learning on the Poincaré disk")
st.caption(
    "Crosses are the true means: drag them. Coloured marks are what the online algorithm believes "
    "after k observations, and the path it took; circles have radius σ, dashed the true ones. "
    "The rim of the disk is infinitely far away."
)
controls.link_warnings()

me = visitor()
job = request(me.experiment.valid)
canvas.send_all("lab")  # for a page that begins anew; while a job runs, only what is new


def moved() -> None:
    sent = st.session_state["lab"].moved
    if sent:
        truth = me.experiment.together()  # what is half typed elsewhere is not lost
        if len(truth["means"]) != me.experiment.valid.n_states:
            truth = me.experiment.valid.truth  # the canvas shows, and has moved, the valid model
        me.propose(me.experiment, **truth | {"means": with_dropped(truth["means"], sent)})


def looked() -> None:
    sent = st.session_state["lab"].view
    if sent and sent["links"] == me.links:  # else another link was opened meanwhile
        me.look(sent)


def show(run) -> None:
    over = run.finished or has_ended(job)
    canvas.lab(run, over, me.view, me.links, key="lab", on_moved=moved, on_view=looked)
    canvas.feed(run, key="cloud")
    st.table(tables.methods_table(run))
    downloads.run_files(run, ended=over)


follow_experiment(job, show)
