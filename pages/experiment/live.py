"""Live lab: watch the online algorithms find the hidden means, beside EM and K-means."""

import streamlit as st

from dashboard.model.truth import with_dropped
from dashboard.text import ceiling, columns, tables
from dashboard.ui import canvases, controls, downloads
from dashboard.ui.job_view import follow_experiment, has_ended, request, status
from dashboard.ui.session import visitor

controls.sidebar()

me = visitor()
now = me.experiment.valid
words = now.observed_in.words

with st.container(key="around-lab"):
    note = "" if now.is_recorded else now.chart.note
    st.title(words.title, help=f"{words.caption} {note}")
    controls.choose_story()
    controls.link_warnings()

job = request(now)
canvases.send_all("lab")  # for a page that begins anew; while a job runs, only what is new


def moved(drops) -> None:
    valid = me.experiment.valid
    truth = me.experiment.together()  # what is half typed elsewhere is not lost
    if (truth["space"], len(truth["means"])) != (valid.space, valid.n_states):
        truth = valid.truth  # the canvas shows, and has moved, the valid model
    means = with_dropped(truth["means"], valid.means, drops)
    me.propose(me.experiment, **truth | {"means": means})


def looked(report) -> None:
    if report["version"] == me.links:  # else another link was opened meanwhile
        me.look(report)


def show(run) -> None:
    over = run.finished or has_ended(job)
    canvases.lab(
        run,
        over,
        me.view,
        me.links,
        doing=job.progress.doing,
        key="lab",
        on_moved=moved,
        on_view=looked,
    )
    canvases.feed(run, key="cloud")
    status(job)
    st.html(columns.table_html(tables.methods_table(run), "Results of all methods"))
    controls.reference_of(run)
    st.caption(ceiling.of_this_chain(run))
    if run.experiment.is_recorded and len(run.points):
        st.caption(run.chart.note)
    downloads.run_files(run, ended=over)


follow_experiment(job, show, with_status=False)
