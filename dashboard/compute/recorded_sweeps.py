"""Computes a sweep over a recording: the same observations, learned from other starts."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dashboard.compute import data_workers, kernels
from dashboard.compute.data_workers import Watch
from dashboard.compute.jobs import Report
from dashboard.compute.runs import told_if_not_started
from dashboard.compute.shared_cache import SharedCache
from dashboard.model.analysis import first_of
from dashboard.model.methods import capitalised
from dashboard.model.plan import Sweep
from dashboard.model.source import Recorded
from rhmm import Run, evaluate_without_truth
from rhmm.learners.online import OnlineHMM
from rhmm.recording import Recording
from rhmm.sweeping import Task
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
    """One run on a recording, in a process beside the server. What needs a truth is NaN, and the
    log-likelihood is how well the second half is predicted, see `predictive_density`."""
    configuration, seed = task
    kernels.Part(space, configuration.learner).load()  # times are of the method alone
    watch("", 0.0)
    points, states, lengths = source.observe()
    half = len(points) // 2
    estimator, seconds = learned(
        configuration.entry,
        source.manifold,
        n_states,
        points,
        seed=seed,
        options=configuration.settings,
        lengths=lengths,
        trace_every=half,
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
    density = predictive_density(estimator, source.held.recording, half)
    return Run.of(task, replace(found, log_likelihood=density))


def predictive_density(estimator: Any, recording: Recording, half: int) -> float:
    """log p(y_k | y_1, …, y_{k−1}), averaged over the observations after the first `half`.

    Of an online learner it is what it said of each of them before it saw it, from its start on; its
    trace has a row after `half`. Of any other, and of a learner that starts with the last
    observation, it is that of the model, which was learned from all of them.
    """
    there = recording.observed
    if isinstance(estimator, OnlineHMM):
        rows = np.flatnonzero(estimator.trace_.step == half)
        before = estimator.trace_.log_likelihood[rows].sum()
        first = there[:half].sum() if len(rows) else estimator.start_size
        if there.sum() > first:
            return float((estimator.log_likelihood_ - before) / (there.sum() - first))
    model, past = estimator.to_hmm(), first_of(recording, half)
    whole = model.score(recording.points, lengths=recording.lengths)
    ahead = whole - model.score(past.points, lengths=past.lengths)
    return float(ahead / max(there[half:].sum(), 1))
