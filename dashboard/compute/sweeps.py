"""Computes a sweep in the background, by processes of this machine or by a cluster."""

import logging
import os
import time
from collections.abc import Container, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from queue import Empty, SimpleQueue
from threading import Thread

from dashboard.compute import recorded_sweeps
from dashboard.compute.jobs import Expected, Report
from dashboard.compute.recorded_sweeps import Outcome
from dashboard.compute.run_cache import RunCache
from dashboard.model.methods import variant_of
from dashboard.model.plan import Sweep
from rhmm import RiemannianHMM, Run, open_executor
from rhmm.sweeping import Task, compute_runs
from rhmm.sweeping.workers import processors

TURN = 60.0
"""Seconds that a sweep is computed before it lets another visitor's sweep go first."""

_TICK = 0.25
"""Seconds between two reports while no run is finished."""


class Unreachable(Expected):
    """The cluster that this server is told to use is not there."""


def seconds(sweep: Sweep) -> float:
    """About how long the sweep takes on this machine; a cluster may be faster or slower."""
    return 1e-6 * sweep.effort / _processors()


def runs_of(runs: Iterable[Run], variant: str, window: int | None) -> list[Run]:
    """The runs of one variant of a learner with one Δ."""
    return [
        run
        for run in runs
        if run.configuration.window == window
        and (found := variant_of(run.configuration)) is not None
        and found.key == variant
    ]


def compute(sweep: Sweep, report: Report) -> Outcome:
    """Run the sweep, reporting what is done and how long the rest will take."""
    if sweep.experiment.is_recorded:
        return recorded_sweeps.compute(sweep, report)
    truth, tasks = sweep.experiment.simulated.true_model(), sweep.tasks()
    report(Outcome(), "Starting", 0.0)
    with RunCache(truth, sweep.experiment.length) as cache:
        done = {task: cache.known[task] for task in tasks if task in cache.known}
        missing = [task for task in tasks if task not in done]

        def report_progress(rest: str = "") -> None:
            doing = f"{len(done):,} of {len(tasks):,} runs done{rest}"
            report(Outcome(tuple(done.values()), cache.note), doing, len(done) / len(tasks))

        report_progress()
        if missing:
            with _computing(truth, missing) as arrived:
                begin = time.monotonic()
                while len(done) < len(tasks):
                    with suppress(Empty):
                        item = arrived.get(timeout=_TICK)
                        if isinstance(item, Exception):
                            raise item
                        cache.keep(item)
                        done[item.task] = item
                        if not arrived.empty():
                            continue
                    report_progress(_time_left(missing, done, time.monotonic() - begin))
        return Outcome(tuple(done[task] for task in tasks), cache.note)


@contextmanager
def _computing(truth: RiemannianHMM, tasks: list[Task]) -> Iterator[SimpleQueue]:
    """A queue that receives each run as it is finished, or the error that ended the work.

    A thread of its own waits for the processes of this machine, or for the cluster that the
    server's owner has chosen. No visitor may choose the address: Dask runs what it is sent.
    """
    arrived: SimpleQueue = SimpleQueue()
    with ExitStack() as stack:
        try:
            executor = stack.enter_context(open_executor(scheduler(), _processors()))
        except (ConnectionError, ValueError, ModuleNotFoundError) as error:
            # the address is for the server's log, not for visitors
            logging.getLogger(__name__).warning("RHMM_SCHEDULER cannot be used: %s", error)
            raise Unreachable("the cluster that this server uses does not answer.") from error
        Thread(target=_compute_into, args=(arrived, truth, tasks, executor), daemon=True).start()
        yield arrived


def scheduler() -> str | None:
    """The address of the cluster that the server's owner has chosen, if there is one."""
    return os.environ.get("RHMM_SCHEDULER") or None


def _processors() -> int:
    """All but one, which is left to the pages: a click must not wait for a sweep."""
    return max(1, processors() - 1)


def _compute_into(arrived: SimpleQueue, truth: RiemannianHMM, tasks: list[Task], executor) -> None:
    try:
        for run in compute_runs(truth, tasks, executor):
            arrived.put(run)
    except Exception as error:
        arrived.put(error)


def _time_left(missing: list[Task], done: Container[Task], seconds: float) -> str:
    """How long the rest of the missing runs will take; empty while that cannot be estimated."""
    efforts = {task: task.configuration.effort for task in missing}
    finished = sum(effort for task, effort in efforts.items() if task in done)
    if not finished:  # no run yet, or only windows as long as the chain, which take no time
        return ""
    rest = sum(efforts.values()) - finished
    return f", about {seconds * rest / finished:.0f} s left"
