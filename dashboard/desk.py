"""Between a page and its background job: ask for it, follow it while it runs, let it go."""

from collections.abc import Callable, Hashable
from functools import cache
from typing import NamedTuple

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard import runs, shipped, state, sweeps
from dashboard.experiment import TRUTH, Experiment
from dashboard.jobs import FOREVER, Desk, Expected, Job, Progress, Report

QUICK = 0.35
"""Seconds worth waiting for a result before showing the way to it."""

POLL = 0.25
"""Seconds between two looks at a running job."""

POLL_BESIDE_CHARTS = 1.0
"""The same on a page of many charts: each look keeps a browser busy for a tenth of that."""


class Stopped(NamedTuple):
    """A job that the visitor has stopped, as it was then: it may go on for others."""

    job: Job
    progress: Progress


def _compute(experiment: Experiment, report: Report) -> runs.Run:
    """Who tries another Δ need not wait for EM and K-means again: the data are the same."""
    kept = (run for run in _runs().results() if run.experiment.data == experiment.data)
    return runs.compute(experiment, report, twin=next(kept, None))


@cache
def _runs() -> Desk:
    """One for all visitors of this server."""
    known = shipped.default_run()
    return Desk(_compute, known={known.experiment: known} if known else {})


@cache
def _sweeps() -> Desk:
    """One sweep at a time: each takes all processors but one."""
    return Desk(sweeps.compute, slots=1)


def _desk_of(wish: Hashable) -> Desk:
    return _runs() if isinstance(wish, Experiment) else _sweeps()


def warm_up() -> None:
    """Compute the default experiment before anybody comes: this loads or compiles the kernels.

    Both desks are there then: of two who come first at the same time, each would make one.
    """
    _sweeps()
    _runs().request(Experiment(), FOREVER)


def _visitor() -> str:
    return get_script_run_ctx().session_id


def request(wish: Hashable) -> Job:
    """The job of this experiment or sweep; most experiments are over before this returns."""
    ended = _ended(wish)
    if ended is not None:
        return ended
    st.session_state.stopped = None
    leave(except_for=_desk_of(wish))
    job = st.session_state.asked_for = _desk_of(wish).request(wish, _visitor())
    if isinstance(wish, Experiment) and job.known is None:
        job.wait(QUICK)
    return job


def leave(except_for: Desk | None = None) -> None:
    """The visitor looks at something else: what they had asked for need not go on."""
    for desk in (_runs(), _sweeps()):
        if desk is not except_for:
            desk.leave(_visitor())


def existing(wish: Hashable) -> Job | None:
    """The job of this wish if somebody has asked for it already and not given it up."""
    return _ended(wish) or _desk_of(wish).find(wish)


def _ended(wish: Hashable) -> Job | None:
    """What this visitor has seen the end of: stopped or failed, it does not begin again before they
    say so; finished, it stays on their screen though the desk may have forgotten it for others."""
    stopped: Stopped | None = st.session_state.get("stopped")
    if stopped is not None and stopped.job.wish == wish:
        return stopped.job
    asked_for: Job | None = st.session_state.get("asked_for")
    if asked_for is None or asked_for.wish != wish:
        return None
    return asked_for if asked_for.finished or asked_for.error is not None else None


def _when_stopped(job: Job) -> Progress | None:
    """How far the job was when this visitor stopped it; None if it has finished all the same."""
    stopped: Stopped | None = st.session_state.get("stopped")
    return stopped.progress if stopped and stopped.job is job and not job.finished else None


def has_ended(job: Job) -> bool:
    """Whether nothing more of this job will come to this visitor."""
    return job.over or _when_stopped(job) is not None


def follow(
    job: Job,
    current: Callable[[], Hashable],
    show: Callable[[Progress], None],
    every: float = POLL,
) -> None:
    """Show the result as it grows. Everything above the picture keeps its place, whatever happens.

    `current()` is what the visitor wants now: when that is another wish, the page starts anew.
    `every` is how many seconds lie between two looks.
    """
    had_ended = has_ended(job)

    @st.fragment(run_every=None if had_ended else every)
    def picture():
        stopped = _when_stopped(job)
        if stopped is None:  # whoever looks at a job keeps it going
            job.watch(_visitor())
        # the second: it had ended for others at the very moment when it was asked for again
        given_up = job is not st.session_state.get("asked_for") or job.cancelled
        anew = given_up and stopped is None
        if has_ended(job) != had_ended or current() != job.wish or anew:
            st.rerun()
        _status(job)
        show(stopped or job.progress)

    picture()


def follow_experiment(job: Job, show: Callable[[runs.Run], None], every: float = POLL) -> None:
    def show_run(progress: Progress) -> None:
        show(progress.result or runs.empty_run(job.wish))

    follow(job, state.experiment, show_run, every)


def explain_truth() -> bool:
    """Say why another model is shown than the one that is set, if that is so."""
    refused = state.refused()
    if refused:
        place = "" if refused.field in TRUTH else "In the sidebar: "  # it may be folded away
        with st.container(key="refused"):
            st.error(
                f"{place}{refused} The last valid model is shown; what you change meanwhile waits."
            )
    return refused is not None


def _status(job: Job) -> None:
    """One line of fixed height: what is being done, or what came of it."""
    line = st.container(key="status", horizontal=True, vertical_alignment="center")
    with line:
        explained = explain_truth()
        if job.error is not None:
            why = job.error if isinstance(job.error, Expected) else "the server’s log says why."
            st.error(f"This could not be computed: {why}")
            st.button("Try again", on_click=_run_again)
        elif _when_stopped(job):
            st.markdown("Stopped. What was learned until then is shown.")
            st.button("Run", on_click=_run_again)
        elif not job.over:
            progress = job.progress
            share = f" {100 * progress.share:.0f} %" if progress.share else ""
            st.progress(progress.share, text=f"{progress.doing} …{share}")
            if job.known is None:  # else the result is there already
                st.button("Cancel", on_click=_stop, args=(job,))
        elif not explained:  # two sentences would need two lines
            st.markdown(job.wish.in_words())


def _stop(job: Job) -> None:
    st.session_state.stopped = Stopped(job, job.progress)
    _desk_of(job.wish).leave(_visitor())


def _run_again() -> None:
    st.session_state.stopped = st.session_state.asked_for = None
