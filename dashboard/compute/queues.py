"""The job queues of a server, for runs, sweeps and visitors' data, shared by all its visitors."""

from functools import cache
from typing import Any

from dashboard.compute import fits, kernels, precomputed_run, run_workers, runs, sweeps
from dashboard.compute.jobs import FOREVER, JobQueue, Report, Request
from dashboard.model.experiment import Experiment
from dashboard.model.plan import Sweep


@cache
def run_queue() -> JobQueue:
    """Runs, as many at a time as there are processors; the precomputed one is known at once."""
    known = precomputed_run.default_run()
    return JobQueue(_compute_run, known={known.experiment: known} if known else {})


@cache
def sweep_queue() -> JobQueue:
    """One sweep at a time: each takes all processors but one."""
    return JobQueue(sweeps.compute, slots=1, turn=sweeps.TURN, resumes=True)


@cache
def data_queue() -> JobQueue:
    """Files and fits, and runs and sweeps on a visitor's own file, in turn with other runs. What is
    made of a file goes with the visitor."""
    return JobQueue(_compute_data, keeps=False, turns=run_queue().turns)


def queue_of(request: Request) -> JobQueue:
    """The queue for this request."""
    if isinstance(request, Experiment) and request.own is None:
        return run_queue()
    if isinstance(request, Sweep) and request.experiment.own is None:
        return sweep_queue()
    return data_queue()


def leave(watcher: str, except_for: JobQueue | None = None) -> None:
    """Tell all queues but one that the watcher looks at something else."""
    for queue in (run_queue(), sweep_queue(), data_queue()):
        if queue is not except_for:
            queue.leave(watcher)


def warm_up() -> None:
    """Compute the default experiment before the first visitor: this loads or compiles the kernels.

    All queues exist afterwards: two visitors who come first at the same time would make two. The
    kernels of other spaces and learners are compiled when those of the first page are there.
    """
    sweep_queue()
    data_queue()
    first = Experiment()
    kernels.compilers().ask(kernels.every_part())
    kernels.compilers().ask(kernels.parts_of(first.space, first.algorithms))
    run_queue().request(first, FOREVER)


def load_kernels() -> None:
    """Load the kernels of the first page into the server: runs have processes of their own, but
    pages decode and draw chains by themselves."""
    first = Experiment()
    for part in runs.compile_kernels(runs.empty_run(first), lambda *_: None):
        part.load()


def _compute_run(experiment: Experiment, report: Report) -> runs.ExperimentRun:
    """Takes what is known from a finished run on the same data, if there is one."""
    kept = (
        run
        for run in queue_of(experiment).results()
        if isinstance(run, runs.ExperimentRun) and run.experiment.source == experiment.source
    )
    return run_workers.compute(experiment, report, same_data=next(kept, None))


def _compute_data(request: Any, report: Report) -> Any:
    if isinstance(request, Experiment):
        return _compute_run(request, report)
    return (sweeps if isinstance(request, Sweep) else fits).compute(request, report)
