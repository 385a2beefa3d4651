"""Computes a sweep over a recording: the same observations, learned from other starts."""

from typing import NamedTuple

from dashboard.compute import data_workers, kernels
from dashboard.compute.data_workers import Watch
from dashboard.compute.jobs import Report
from dashboard.compute.runs import told_if_not_started
from dashboard.compute.shared_cache import SharedCache
from dashboard.model.methods import capitalised
from dashboard.model.plan import Sweep
from dashboard.model.source import Recorded
from rhmm import Run, evaluate_without_truth
from rhmm.scoring import MEASURES
from rhmm.sweeping import Task
from rhmm.sweeping.run import nested
from rhmm.trial import learned

_KEPT = 4_000
"""Runs that are not computed again. They are few numbers each."""

_runs = SharedCache(_KEPT)


class Outcome(NamedTuple):
    """The runs that are done, and a note about what could not be read or kept, if any."""

    runs: tuple[Run, ...] = ()
    note: str = ""


def compute(sweep: Sweep, report: Report) -> Outcome:
    """Run the sweep, one run after another in a process beside the server."""
    experiment, tasks = sweep.experiment, sweep.tasks()
    learners = {task.configuration.learner for task in tasks}
    space = kernels.space_for(experiment.source.manifold)

    def compiling(done: int, total: int) -> None:
        doing = f"Compiling the engine, once for this machine: part {done + 1} of {total}"
        report(Outcome(), doing, 0.0)

    kernels.compilers().wait([kernels.Part(space, key) for key in sorted(learners)], compiling)
    done: list[Run] = []

    def report_progress(*_) -> None:
        doing = f"{len(done):,} of {len(tasks):,} runs done"
        report(Outcome(tuple(done)), doing, len(done) / len(tasks))

    for task in tasks:

        def made(task: Task = task) -> Run:
            arguments = (experiment.source, experiment.n_states, space, task)
            return data_workers.call(run_once, arguments, report_progress)

        report_progress()
        key = (experiment.held.key, experiment.n_states, task)
        done.append(_runs.get(key, made, beside=experiment.own))
    return Outcome(tuple(done))


def run_once(source: Recorded, n_states: int, space: str, task: Task, watch: Watch) -> Run:
    """One run on a recording, in a process beside the server. What needs a truth is NaN."""
    configuration, seed = task
    kernels.Part(space, configuration.learner).load()  # times are of the method alone
    watch("", 0.0)
    points, states, lengths = source.observe()
    estimator, seconds = learned(
        configuration.entry,
        source.manifold,
        n_states,
        points,
        seed=seed,
        options=configuration.settings,
        lengths=lengths,
    )
    with told_if_not_started(capitalised(configuration.name)):
        model = estimator.to_hmm()
    found = evaluate_without_truth(
        model,
        points,
        states,
        lengths=lengths,
        labels=getattr(estimator, "labels_", None),
        seconds=seconds,
        nbytes=estimator.peak_nbytes_,
    )
    _, *estimates = found.model.parameters_
    transmat, means, sigmas = (nested(array.tolist()) for array in estimates)
    return Run(
        configuration=configuration,
        seed=seed,
        transmat=transmat,
        means=means,
        sigmas=sigmas,
        **{name: getattr(found, name) for name in MEASURES},
    )
