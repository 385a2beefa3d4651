"""What an experiment gives: its data, and every method's result on them, with the path it took."""

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple, cast

import numpy as np
from sklearn.exceptions import NotFittedError

from dashboard.compute import kernels, outlines
from dashboard.compute.feeding import models_along
from dashboard.compute.jobs import Expected, Report
from dashboard.compute.labels import taught
from dashboard.compute.shared_cache import SharedCache
from dashboard.model.analysis import thinned_size
from dashboard.model.experiment import Experiment
from dashboard.model.methods import CEILING, EMISSION, ONLINE_LEARNERS, method_name
from dashboard.model.spaces.chart import Chart
from dashboard.model.spaces.recorded import RecordedSpace
from rhmm import (
    ConvergenceWarning,
    DegenerateWarning,
    RiemannianHMM,
    evaluate,
    evaluate_without_truth,
)
from rhmm.learners.learner import Path, Progress
from rhmm.learners.online import OnlineHMM
from rhmm.learners.registry import LEARNERS
from rhmm.model import HiddenMarkovModel
from rhmm.scoring import Evaluation
from rhmm.trial import learned

# The page says itself when a method did not converge or lost a state; the log stays empty.
warnings.simplefilter("ignore", ConvergenceWarning)
warnings.simplefilter("ignore", DegenerateWarning)

MOST_FRAMES = 400
"""Rows of an online learner's trace: as many moments as a picture can show."""

MOST_JUDGED = 40
"""Rows of that trace of which the accuracy is computed: each costs a decoding of the chain."""

_REPORTED = 20
"""Rows between two reports of the shapes along a path."""

_FINE = time.get_clock_info("thread_time").resolution < 1e-4
_clock = time.thread_time if _FINE else time.perf_counter
"""Seconds that a method has worked, so that other visitors of the server do not lengthen them.
Where the system counts these too coarsely: seconds that have passed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MethodResult(Evaluation):
    """One method's result on the data, its states named as the true ones."""

    key: str
    """Of the learner."""
    path: Path | None = None
    """The parameters that it went through, in the same names; None if it does not keep them."""
    judged: np.ndarray = field(default_factory=lambda: np.zeros(0, np.intp))
    """Rows of the path of an online learner whose accuracy is known, shape (J,)."""
    accuracies: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """The accuracy on the whole chain that the parameters of these rows have, shape (J,)."""
    remark: str = ""
    balls: np.ndarray | None = None
    """Where states are one deviation from their means at each row of the path, as ellipses of the
    map (`outlines.balls`), shape (R, N, 5); None if they are round."""
    restarts: tuple[int, ...] = ()
    """After how many observations it has started anew."""

    @property
    def name(self) -> str:
        """Its name on a page."""
        return method_name(self.key)

    @property
    def states(self) -> np.ndarray:
        """The state of `model` that each observation was taken for, −1 if missing; shape (T,)."""
        return np.where(self.labels < 0, -1, np.searchsorted(self.names, self.labels))


class ExperimentRun(NamedTuple):
    """Everything known of an experiment so far; a later one replaces it as the work goes on."""

    experiment: Experiment
    points: np.ndarray
    """Shape (T, *point_shape)."""
    true_states: np.ndarray
    """Those of a simulated chain, or the labels of a recording, −1 where none is known; (T,)."""
    lengths: np.ndarray | None = None
    """Of the sequences of a recording, shape (S,)."""
    methods: tuple[MethodResult, ...] = ()
    paths_so_far: Mapping[str, Path] = {}
    """The path of an online learner that is learning, by its key; states as far as can be told."""
    reference: float | None = None
    """The share of the labels that a model tells right which was taught them, if that is asked."""
    finished: bool = False

    @property
    def has_labels(self) -> bool:
        """Whether there is anything to compare decoded states with."""
        return bool((self.true_states >= 0).any())

    def method(self, key: str) -> MethodResult | None:
        return next((m for m in self.methods if m.key == key), None)

    def path(self, key: str) -> Path | None:
        """The path of a method, states in the true order; None while there is no step."""
        method = self.method(key)
        return self.paths_so_far.get(key) if method is None else method.path

    @property
    def chart(self) -> Chart:
        """The map of the experiment."""
        return map_of(self.experiment, self.points)


_charts = SharedCache(16)


def map_of(experiment: Experiment, points: np.ndarray) -> Chart:
    """The map of an experiment. That of a recording is made from all its observations, once; before
    these are known, it is empty."""
    space = experiment.observed_in
    if not isinstance(space, RecordedSpace):
        return experiment.chart
    if not len(points):
        return space.pending_chart
    key = experiment.held.key
    return _charts.get(key, lambda: space.chart_of(points), beside=experiment.own)


def empty_run(experiment: Experiment) -> ExperimentRun:
    """Before anything is known: the truth alone."""
    shape = experiment.observed_in.manifold.point_shape
    return ExperimentRun(experiment, np.empty((0, *shape)), np.empty(0, np.int8))


def trace_stride(experiment: Experiment) -> int:
    """Observations between two rows of an online learner's trace."""
    return -(-experiment.length // MOST_FRAMES)


def observations_held(experiment: Experiment, key: str) -> int:
    """From how many of the latest observations an online learner learns at a time."""
    return _fresh(experiment, key).n_held


def start_size(experiment: Experiment, key: str) -> int:
    """From how many observations an online learner starts."""
    return _fresh(experiment, key).start_size


def _fresh(experiment: Experiment, key: str) -> OnlineHMM:
    """An online learner that has seen nothing."""
    manifold, options = experiment.observed_in.manifold, experiment.options_of(key)
    return ONLINE_LEARNERS[key].make(manifold, experiment.n_states, experiment.seed, options)


def compute(
    experiment: Experiment,
    report: Report,
    same_data: ExperimentRun | None = None,
    pace: float = 0.0,
) -> ExperimentRun:
    """Sample the data, then learn by each method; returns the finished run.

    `report` sees the run so far, what is being done, and the share of it that is done. It may
    raise `jobs.Cancelled`. It sees a learner that is learning every `pace` seconds at most.

    `same_data` is a finished run on the same data: the results of methods that have the same
    options there are taken from it, with the times they took.
    """
    truth = experiment.source.true_model()
    if same_data is None:
        run = ExperimentRun(experiment, *experiment.source.observe())
    else:
        run = same_data._replace(
            experiment=experiment, methods=(), paths_so_far={}, reference=None, finished=False
        )

    # the map of a recording needs kernels, too
    for part in compile_kernels(empty_run(experiment) if truth is None else run, report):
        part.load()
    if truth is not None:
        best = evaluate(truth, truth, run.points, run.true_states)
        run = run._replace(methods=(MethodResult(**vars(best), key=CEILING),))
    for key in experiment.methods:
        if key == CEILING:
            continue
        method = _known(same_data, experiment, key)
        if method is None:
            report(run, method_name(key), 0.0)
            method = _learn(run, truth, key, report, pace)
        run = run._replace(methods=(*run.methods, method))
    if experiment.reference == "yes" and run.has_labels:
        report(run, "A model that is taught the labels", 0.0)
        recording, size = experiment.held.recording, thinned_size(experiment.held.recording)
        few = recording if size is None else recording.thinned(size)
        run = run._replace(reference=taught(few, recording, experiment.emission))
    return run._replace(finished=True)


def compile_kernels(run: ExperimentRun, report: Report) -> list[kernels.Part]:
    """Wait until the kernels that a run needs are compiled; returns them."""

    def compiling(done: int, total: int) -> None:
        report(run, f"Compiling the engine, once for this machine: part {done + 1} of {total}", 0.0)

    report(run, "Preparing the engine", 0.0)
    experiment = run.experiment
    space = kernels.space_for(experiment.source.manifold)
    parts = kernels.parts_of(space, experiment.algorithms, experiment.has_shapes)
    kernels.compilers().wait(parts, compiling)
    return parts


def _known(same_data: ExperimentRun | None, experiment: Experiment, key: str):
    """The result of this method on these data, if that run has it with the same options."""
    if same_data is None:
        return None
    other = same_data.experiment
    if other.n_states != experiment.n_states or other.seed != experiment.seed:
        return None  # a recording does not depend on them
    if other.options_of(key) != experiment.options_of(key):
        return None
    return same_data.method(key)


def _learn(
    run: ExperimentRun,
    truth: RiemannianHMM | None,
    key: str,
    report: Report,
    pace: float,
) -> MethodResult:
    """One method's result; while it learns, `report` sees the run with the path so far."""
    experiment, name, learner = run.experiment, method_name(key), LEARNERS[key]
    like = _named_like(run, truth)

    next_report = time.monotonic() + pace

    def watch(progress: Progress) -> None:
        nonlocal next_report
        if time.monotonic() < next_report:  # to bring the path so far into order takes a while
            return
        next_report = time.monotonic() + pace
        so_far, doing = run, f"{name}, {progress.doing}" if progress.doing else name
        if learner.is_online:
            path = learner.path(progress.estimator)
            if path is not None:
                if like is not None:
                    path = path.permuted(progress.estimator.to_hmm().order_like(like))
                so_far = run._replace(paths_so_far={key: path})
        report(so_far, doing, progress.share)

    estimator, seconds = learned(
        learner,
        experiment.source.manifold,
        experiment.n_states if truth is None else len(truth.startprob_),
        run.points,
        seed=experiment.seed,
        options=experiment.options_of(key),
        lengths=run.lengths,
        trace_every=trace_stride(experiment),
        watch=watch,
        clock=_clock,
    )
    with told_if_not_started(name):
        evaluation = _evaluated(run, truth, estimator, seconds)
    path = learner.path(estimator)
    method = MethodResult(
        **vars(evaluation),
        key=key,
        path=None if path is None else path.permuted(evaluation.order),
        remark=learner.remark(estimator),
        restarts=tuple(getattr(estimator, "restarts_", ())),
    )
    if not learner.is_online or path is None:
        return method
    if EMISSION.name not in experiment.options_of(key):
        return _judged(run, method)
    return _with_shapes(run._replace(paths_so_far={key: cast(Path, method.path)}), method, report)


@contextmanager
def told_if_not_started(name: str) -> Iterator[None]:
    """Where the result of a learner of this name is asked for: a file may hold too little."""
    try:
        yield
    except NotFittedError:
        raise Expected(
            f"{name} finds no start: too few observations are there, or differ from those before "
            "them. Fewer states, a smaller Δ or the paper’s law of a state may help."
        ) from None


def _named_like(run: ExperimentRun, truth: RiemannianHMM | None) -> RiemannianHMM | None:
    """The model whose names the states of a learner get while it learns: the true one, or the first
    that was learned from the recording."""
    if truth is not None:
        return truth
    return run.methods[0].model if run.methods else None


def _evaluated(
    run: ExperimentRun, truth: RiemannianHMM | None, estimator, seconds: float
) -> Evaluation:
    """How good the result is, and its states in the names of the true ones, of the labels, or of
    the first result on the same recording."""
    model, labels = estimator.to_hmm(), getattr(estimator, "labels_", None)
    measured = {"seconds": seconds, "nbytes": estimator.peak_nbytes_, "lengths": run.lengths}
    if truth is not None:
        ceiling = cast(MethodResult, run.method(CEILING)).accuracy
        return evaluate(
            model, truth, run.points, run.true_states, labels=labels, ceiling=ceiling, **measured
        )
    like = _named_like(run, truth)
    if not run.has_labels and like is not None:
        order = model.order_like(like)
        model = model.permuted(order)
        labels = None if labels is None else np.append(np.argsort(order), -1)[labels]
        found = evaluate_without_truth(model, run.points, labels=labels, **measured)
        return replace(found, order=order)
    return evaluate_without_truth(model, run.points, run.true_states, labels=labels, **measured)


def _judged(run: ExperimentRun, method: MethodResult) -> MethodResult:
    """The result with the accuracies that it had on the way; states keep their final names."""
    if not run.has_labels:
        return method
    path, model = cast(Path, method.path), method.model
    rows = _judged_rows(path)

    def accuracy(row: int) -> float:
        at_row = RiemannianHMM.from_parameters(
            model.manifold, model.startprob_, path.transmat[row], path.means[row], path.sigmas[row]
        )
        return _accuracy(run, method, row, at_row)

    accuracies = [accuracy(row) for row in rows]
    return replace(method, judged=rows, accuracies=np.array(accuracies))


def _judged_rows(path: Path) -> np.ndarray:
    last = len(path.step) - 1
    return np.unique(np.linspace(0, last, min(MOST_JUDGED, last + 1)).astype(np.intp))


def _accuracy(
    run: ExperimentRun, method: MethodResult, row: int, model: HiddenMarkovModel
) -> float:
    """Of the model at a row of a method's path."""
    step = cast(Path, method.path).step
    if row == len(step) - 1 and step[row] == run.experiment.length:
        return method.accuracy
    found = method.names[model.predict(run.points, lengths=run.lengths)]
    return float(np.mean((found == run.true_states)[run.true_states >= 0]))


def _with_shapes(run: ExperimentRun, method: MethodResult, report: Report) -> MethodResult:
    """The same for states with shapes. A path does not hold these, so the learner goes the same way
    again."""
    experiment, path = run.experiment, cast(Path, method.path)
    again = _fresh(experiment, method.key)
    rows = _judged_rows(path) if run.has_labels else np.zeros(0, np.intp)
    chart, balls, accuracies = run.chart, [], []
    for row, model in enumerate(models_along(again, run.points, run.lengths, path.step)):
        model = model.permuted(method.order)
        ellipses = outlines.balls(chart, model)
        ellipses[:, :2] = chart.places(path.means[row])  # before a review at that very step
        balls.append(ellipses)
        if row in rows:
            accuracies.append(_accuracy(run, method, row, model))
        if row % _REPORTED == 0:
            report(run, f"{method.name}, its shapes", float(path.step[row] / experiment.length))
    return replace(
        method, balls=_turning(np.stack(balls)), judged=rows, accuracies=np.array(accuracies)
    )


def _turning(balls: np.ndarray) -> np.ndarray:
    """Ellipses (R, N, 5) whose angles do not jump by half turns from row to row."""
    balls[:, :, 4] = np.unwrap(balls[:, :, 4], period=np.pi, axis=0)
    return balls
