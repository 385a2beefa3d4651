"""One learner on one data set, watched, timed and measured."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rhmm.learners.learner import Learner, Options, Progress, Watch
from rhmm.manifolds import Manifold
from rhmm.model import HiddenMarkovModel
from rhmm.scoring import Evaluation, evaluate


class Trial(NamedTuple):
    """What a learner made of the data."""

    estimator: Any
    evaluation: Evaluation
    """With the time that learning took."""


class Learned(NamedTuple):
    """A learner that has seen the data."""

    estimator: Any
    seconds: float
    """That learning took."""


def learned(
    learner: Learner,
    manifold: Manifold,
    n_components: int,
    X: np.ndarray,
    *,
    seed: int,
    options: Options,
    lengths: np.ndarray | None = None,
    truth: HiddenMarkovModel | None = None,
    trace_every: int | None = None,
    watch: Watch | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Learned:
    """Learn X (T, *point_shape), sequences of these `lengths`; `truth` is for learners that
    need it.

    `watch` follows the learning; its own time does not count.
    """
    estimator = learner.make(
        manifold,
        n_components,
        seed,
        options,
        truth=truth,
        trace_every=trace_every if learner.is_online else None,
    )
    stopwatch = _Stopwatch(clock)
    began = clock()
    following = None if watch is None else stopwatch.pausing(watch)
    learner.learn(estimator, X, following, lengths=lengths)
    return Learned(estimator, clock() - began - stopwatch.paused)


def run_trial(
    learner: Learner,
    truth: HiddenMarkovModel,
    X: np.ndarray,
    states: np.ndarray,
    *,
    seed: int,
    options: Options,
    trace_every: int | None = None,
    ceiling: float | None = None,
    watch: Watch | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Trial:
    """Learn X (T, *point_shape) and compare with the truth behind it and its states (T,).

    The other arguments are those of `learned`; `ceiling` is that of an earlier trial on the same
    data.
    """
    estimator, seconds = learned(
        learner,
        truth.manifold,
        len(truth.startprob_),
        X,
        seed=seed,
        options=options,
        truth=truth,
        trace_every=trace_every,
        watch=watch,
        clock=clock,
    )
    evaluation = evaluate(
        estimator.to_hmm(),
        truth,
        X,
        states,
        labels=getattr(estimator, "labels_", None),
        ceiling=ceiling,
        seconds=seconds,
        nbytes=estimator.peak_nbytes_,
    )
    return Trial(estimator, evaluation)


class _Stopwatch:
    """Knows how long the watcher has held up the learner."""

    def __init__(self, clock: Callable[[], float]):
        self.clock = clock
        self.paused = 0.0

    def pausing(self, watch: Watch) -> Watch:
        def pause_and_watch(progress: Progress) -> None:
            began = self.clock()
            watch(progress)
            self.paused += self.clock() - began

        return pause_and_watch
