"""What an experiment gives: its data, and every method's result on them, with the path it took."""

import time
import warnings
from functools import cache
from typing import NamedTuple

import numpy as np

from dashboard.compute.jobs import Report
from dashboard.model.experiment import LEAST_LENGTH, LEAST_WINDOW, Experiment
from dashboard.model.methods import CEILING, EM, KMEANS, ONLINE
from dashboard.model.space import DISK
from rhmm import (
    ConvergenceWarning,
    DegenerateWarning,
    OnlineRiemannianHMM,
    Parameters,
    RiemannianHMM,
    RiemannianKMeans,
    Trace,
    evaluate,
)
from rhmm.scoring import Evaluation
from rhmm.sweeping.run import em_nbytes, kmeans_nbytes

# The page says itself when a method did not converge or lost a state; the log stays empty.
warnings.simplefilter("ignore", ConvergenceWarning)
warnings.simplefilter("ignore", DegenerateWarning)

MOST_FRAMES = 400
"""Rows of the online learner's trace: as many moments as a picture can show."""

_FINE = time.get_clock_info("thread_time").resolution < 1e-4
_clock = time.thread_time if _FINE else time.perf_counter
"""Seconds that a method has worked, so that other visitors of the server do not lengthen them.
Where the system counts these too coarsely: seconds that have passed."""


class MethodResult(NamedTuple):
    """One method's result on the data, its states named as the true ones."""

    name: str
    model: RiemannianHMM
    states: np.ndarray
    """Its label of each observation."""
    accuracy: float
    transition_error: float
    mean_error: float
    """Average d(c_i, ĉ_i)."""
    sigma_error: float
    """Average |σ̂_i − σ_i| / σ_i."""
    log_likelihood: float
    """log p(X) per observation."""
    seconds: float | None
    nbytes: int | None
    """What it must hold in memory at once."""
    remark: str = ""


class ExperimentRun(NamedTuple):
    """Everything known of an experiment so far; a later one replaces it as the work goes on."""

    experiment: Experiment
    points: np.ndarray
    true_states: np.ndarray
    trace: Trace | None = None
    """The online learner's path, states in the true order; None while there is no step of it."""
    methods: tuple[MethodResult, ...] = ()
    em_path: tuple[Parameters, ...] = ()
    em_log_likelihood: tuple[float, ...] = ()
    finished: bool = False

    def method(self, name: str) -> MethodResult | None:
        return next((m for m in self.methods if m.name == name), None)


def empty_run(experiment: Experiment) -> ExperimentRun:
    """Before anything is known: the truth alone."""
    return ExperimentRun(experiment, np.empty((0, 2)), np.empty(0, np.int8))


def online_learner(experiment: Experiment) -> OnlineRiemannianHMM:
    """A learner as the experiment asks for, with a trace of at most `MOST_FRAMES` rows."""
    return OnlineRiemannianHMM(
        DISK,
        experiment.n_states,
        window=experiment.window,
        algorithm=experiment.algorithm,
        transition_update=experiment.transition_update,
        random_state=experiment.seed,
        trace_every=trace_stride(experiment),
    )


def trace_stride(experiment: Experiment) -> int:
    return -(-experiment.length // MOST_FRAMES)


def observations_held(experiment: Experiment) -> int:
    """How many observations the online learner holds at a time."""
    if experiment.algorithm == "windowed":
        return experiment.window
    return 2 * online_learner(experiment).lag


def compute(
    experiment: Experiment, report: Report, same_data: ExperimentRun | None = None
) -> ExperimentRun:
    """Sample the data, then learn by each method; returns the finished run.

    `report` sees the run so far, what is being done, and the share of it that is done. It may
    raise `jobs.Cancelled`.

    `same_data` is a finished run on the same data: what EM and K-means made of them is taken from
    it, with the times they took there.
    """
    truth = experiment.source.true_model()
    if same_data is None:
        points, states = experiment.source.observe()
    else:
        points, states = same_data.points, same_data.true_states
    run = ExperimentRun(experiment, points, states)
    report(run, "Preparing the engine (it is compiled the first time, about a minute)", 0.0)
    _prepare(experiment.algorithm)
    report(run, "Learning online", 0.0)

    best = evaluate(truth, truth, points, states)
    run = _learn_online(run, truth, best.ceiling, report)
    run = run._replace(methods=(_method(CEILING, best), *run.methods))
    if same_data is not None:
        return run._replace(
            methods=(*run.methods, same_data.method(KMEANS), same_data.method(EM)),
            em_path=same_data.em_path,
            em_log_likelihood=same_data.em_log_likelihood,
            finished=True,
        )
    report(run, "K-means", 0.0)

    begin = _clock()
    clusters = RiemannianKMeans(DISK, experiment.n_states, random_state=experiment.seed)
    model = RiemannianHMM.from_parameters(DISK, *clusters.fit(points).to_parameters())
    seconds = _clock() - begin
    result = evaluate(model, truth, points, states, labels=clusters.labels_, ceiling=best.ceiling)
    nbytes = kmeans_nbytes(points, experiment.n_states)
    remark = _remark(clusters.converged_, clusters.n_iter_)
    kmeans = _method(KMEANS, result, seconds, nbytes, remark)
    run = run._replace(methods=(*run.methods, kmeans))
    report(run, "EM", 0.0)

    run = _learn_by_em(run, truth, best.ceiling, report)
    return run._replace(finished=True)


@cache
def _prepare(algorithm: str) -> None:
    """Load or compile the kernels, so that the times we show are those of the methods."""
    small = Experiment(length=LEAST_LENGTH, window=LEAST_WINDOW, algorithm=algorithm)
    points = small.source.observe().points
    online_learner(small).partial_fit(points).to_hmm().predict(points)
    RiemannianKMeans(DISK, small.n_states, random_state=small.seed).fit(points).to_parameters()
    RiemannianHMM(DISK, small.n_states, random_state=small.seed).fit(points)


def _learn_online(
    run: ExperimentRun, truth: RiemannianHMM, ceiling: float, report: Report
) -> ExperimentRun:
    experiment = run.experiment
    learner = online_learner(experiment)
    # Pieces so small that cancelling never waits; the result does not depend on them.
    cost = experiment.window if experiment.algorithm == "windowed" else 20
    piece = max(trace_stride(experiment), 400_000 // (cost * experiment.n_states))
    seconds = 0.0
    for begin in range(0, experiment.length, piece):
        started = _clock()
        learner.partial_fit(run.points[begin : begin + piece])
        seconds += _clock() - started
        if len(learner.trace_.step):
            order = learner.to_hmm().order_like(truth)  # as far as can be told before the end
            run = run._replace(trace=_in_order(learner.trace_, order))
        report(run, "Learning online", min(1.0, (begin + piece) / experiment.length))
    result = evaluate(learner.to_hmm(), truth, run.points, run.true_states, ceiling=ceiling)
    if run.trace is not None:
        run = run._replace(trace=_in_order(learner.trace_, result.order))
    return run._replace(methods=(_method(ONLINE, result, seconds, learner.peak_nbytes_),))


def _share_of_em(iterations: int) -> float:
    """How far EM is, as a guess: its number of iterations is not known beforehand."""
    return iterations / (iterations + 10)


def _learn_by_em(
    run: ExperimentRun, truth: RiemannianHMM, ceiling: float, report: Report
) -> ExperimentRun:
    experiment = run.experiment

    def keep_reporting(monitor):
        report(run, f"EM, iteration {monitor.n_iter}", _share_of_em(monitor.n_iter))

    begin = _clock()
    model = RiemannianHMM(
        DISK, experiment.n_states, random_state=experiment.seed, callback=keep_reporting
    ).fit(run.points)
    seconds = _clock() - begin
    monitor = model.monitor_
    result = evaluate(model, truth, run.points, run.true_states, ceiling=ceiling)
    nbytes = em_nbytes(run.points, experiment.n_states)
    remark = _remark(monitor.converged, monitor.n_iter)
    return run._replace(
        methods=(*run.methods, _method(EM, result, seconds, nbytes, remark)),
        em_path=tuple(p.permuted(result.order) for p in monitor.parameters),
        em_log_likelihood=tuple(monitor.log_likelihood),
    )


def _remark(converged: bool, iterations: int) -> str:
    return "" if converged else f"stopped after {iterations} iterations"


def _method(name: str, result: Evaluation, seconds=None, nbytes=None, remark="") -> MethodResult:
    return MethodResult(
        name,
        result.model,
        result.labels.astype(np.int8),
        result.accuracy,
        result.transition_error,
        float(result.mean_errors.mean()),
        float(np.abs(result.sigma_errors).mean()),
        result.log_likelihood,
        seconds,
        nbytes,
        remark,
    )


def _in_order(trace: Trace, order: np.ndarray) -> Trace:
    return trace._replace(
        transmat=trace.transmat[:, order][:, :, order],
        means=trace.means[:, order],
        delta=trace.delta[:, order],
        sigmas=trace.sigmas[:, order],
        gamma=trace.gamma[:, order],
        visits=trace.visits[:, order],
    )
