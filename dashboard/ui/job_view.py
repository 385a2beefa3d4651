"""Between a page and its background job: ask for it, follow it while it runs, let it go."""

import time
from collections.abc import Callable

import streamlit as st

from dashboard.compute import queues, runs
from dashboard.compute.jobs import Expected, Job, Progress, Request
from dashboard.compute.turns import LONG
from dashboard.model.experiment import TRUTH, Experiment
from dashboard.model.plan import Sweep
from dashboard.ui.session import Stopped, visitor, visitor_id

QUICK = 1.0
"""Seconds worth waiting for the result of a short run before showing the way to it."""

_LOOK = 0.05
"""Seconds between two looks whether the visitor has clicked meanwhile."""

POLL = 0.25
"""Seconds between two looks at a running job."""

SELDOM = 1.0
"""The same on a page of many charts, where each look keeps a browser busy for a tenth of that, and
where the result is known before it is computed here, so that there is nothing new to see."""


def request(wanted: Request) -> Job:
    """The job of this request; most of the short ones are over before this returns."""
    ended = _ended(wanted)
    if ended is not None:
        return ended
    me = visitor()
    me.stopped = None
    _keep(me.asked_for)
    queue = queues.queue_of(wanted)
    queues.leave(visitor_id(), except_for=queue)
    job = me.asked_for = queue.request(wanted, visitor_id())
    is_short = not isinstance(wanted, Sweep) and 1e-6 * wanted.effort <= LONG
    if is_short and job.known is None:
        _wait_a_little(job)
    return job


def _keep(job: Job | None) -> None:
    """Let the session have a result that the visitor may come back to and no queue keeps."""
    if job is not None and job.finished and queues.queue_of(job.request) is queues.data_queue():
        visitor().data.keep(job)


def _wait_a_little(job: Job) -> None:
    """Wait for the end of a job, unless the visitor clicks meanwhile."""
    end = time.monotonic() + QUICK
    while not job.wait(_LOOK) and time.monotonic() < end:
        visitor()  # reading the session lets Streamlit end this run for the next one


def leave() -> None:
    """The visitor looks at something else: their jobs need not go on."""
    queues.leave(visitor_id())


def existing(wanted: Request) -> Job | None:
    """The job of this request if a visitor has asked for it and not given it up."""
    return _ended(wanted) or queues.queue_of(wanted).find(wanted)


def _ended(wanted: Request) -> Job | None:
    """The job of this request if this visitor has seen it end.

    Stopped or failed, it begins again only when they say so; finished, it stays on their screen
    even if the queue has forgotten it.
    """
    me = visitor()
    if me.stopped is not None and me.stopped.job.request == wanted:
        return me.stopped.job
    job = me.asked_for
    if job is None or job.request != wanted:
        return None
    return job if job.finished or job.error is not None else None


def _when_stopped(job: Job) -> Progress | None:
    """How far the job was when this visitor stopped it; None if it has finished all the same."""
    stopped = visitor().stopped
    return stopped.progress if stopped and stopped.job is job and not job.finished else None


def has_ended(job: Job) -> bool:
    """Whether nothing more of this job will come to this visitor."""
    return job.over or _when_stopped(job) is not None


def follow(
    job: Job,
    current: Callable[[], Request],
    show: Callable[[Progress], None],
    every: float = POLL,
    with_status: bool = True,
) -> None:
    """Show the result as it grows. Everything above the picture keeps its place, whatever happens.

    `current()` is what the visitor wants now: when that is another request, the page starts anew.
    `every` is how many seconds lie between two looks. Without `with_status`, `show` says itself
    where the status line is.
    """
    had_ended = has_ended(job)
    if job.known is not None:
        every = max(every, SELDOM)

    @st.fragment(run_every=None if had_ended else every)
    def picture():
        stopped = _when_stopped(job)
        if stopped is None:  # a visitor who looks at a job keeps it going
            job.watch(visitor_id())
        # a job may be cancelled, its last visitor gone, just as this one asks for it
        given_up = job is not visitor().asked_for or job.cancelled
        anew = given_up and stopped is None
        if has_ended(job) != had_ended or current() != job.request or anew:
            st.rerun()
        if with_status:
            status(job)
        show(stopped or job.progress)

    picture()


def follow_experiment(
    job: Job,
    show: Callable[[runs.ExperimentRun], None],
    every: float = POLL,
    with_status: bool = True,
) -> None:
    """`follow` for a run: before its first result, `show` gets an empty one."""

    def current() -> Experiment:
        return visitor().experiment.valid

    def show_run(progress: Progress) -> None:
        show(progress.result or runs.empty_run(current()))

    follow(job, current, show_run, every, with_status)


def explain_truth() -> bool:
    """Say why another model is shown than the one that is set, if that is so."""
    refused = next(iter(visitor().experiment.problems()), None)
    if refused:
        place = "" if refused.field in TRUTH else "In the sidebar: "  # it may be folded away
        with st.container(key="refused"):
            st.error(
                f"{place}{refused} The last valid model is shown; your changes apply once this is "
                "fixed."
            )
    return refused is not None


def status(job: Job) -> None:
    """One line of fixed height: what is being done, or what came of it."""
    line = st.container(key="status", horizontal=True, vertical_alignment="center")
    with line:
        explained = isinstance(job.request, Experiment | Sweep) and explain_truth()
        if job.error is not None:
            why = job.error if isinstance(job.error, Expected) else "the server’s log says why."
            st.error(f"This could not be computed: {why}")
            st.button("Try again", on_click=_run_again)
        elif stopped := _when_stopped(job):
            shown = "" if stopped.result is None else " What was learned until then is shown."
            st.markdown(f"Stopped.{shown}")
            st.button("Run", on_click=_run_again)
        elif not job.over:
            progress = job.progress
            share = f" {100 * progress.share:.0f} %" if progress.share else ""
            st.progress(progress.share, text=f"{progress.doing} …{share}")
            if job.known is None:  # else the result is there already
                st.button("Cancel", on_click=_stop, args=(job,))
        elif not explained:  # two sentences would need two lines
            st.markdown(job.request.in_words())


def _stop(job: Job) -> None:
    visitor().stopped = Stopped(job, job.progress)
    queues.queue_of(job.request).leave(visitor_id())


def _run_again() -> None:
    me = visitor()
    me.stopped = me.asked_for = None
