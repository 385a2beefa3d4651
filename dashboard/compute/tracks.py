"""A learner on its way through an endless stream, and how well it does."""

import time
from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from dashboard.model.methods import Variant
from rhmm.manifolds import Manifold
from rhmm.worlds import BLOCK, Part, Recovery, Truth

WINDOW = 500
"""Observations of every rolling measure."""

OWN_MEASURES = 4
"""Accuracy, distance of the means, ‖A − Â‖ and predictive density of a learner."""

_WEIGHT = 0.05
"""Of the latest piece in the time for an observation."""

_LEAST_HEARD = WINDOW // 5
"""Observations of a window that a mean needs."""

_LOADING = 2
"""Pieces after the start whose time does not count: they load kernels."""


class Judged(NamedTuple):
    """What one learner costs, and how it has come through the last event."""

    micros: float
    """Processor time for an observation, in microseconds; NaN before the first."""
    nbytes: int
    """Memory that it holds."""
    event: int | None
    """When the last event came; None before the first."""
    steps: int | None
    """Observations until it had recovered from it; None if it has not."""
    lost: int
    """How many more states the ceiling has found since, or in these steps."""
    memory: int | str | None
    """The memory that an automatic learner follows; None for others."""
    restarts: tuple[int, ...]
    """When it started anew, the latest times."""
    fitted: int | None = None
    """When an EM was fitted last; None for learners that always go on."""
    busy: bool = False
    """Whether it is being fitted."""


class Track:
    """One learner, online or `Refitted`, and its measures: NaN before it has started."""

    def __init__(self, estimator: Any, manifold: Manifold):
        self.estimator = estimator
        self.recovery = Recovery(window=WINDOW)
        self._manifold = manifold
        self._micros = float("nan")
        self._spent, self._uncounted, self._blocks = 0.0, 0, 0
        """Microseconds and observations that do not count yet, and blocks since the start."""
        self._levels: deque[Level] = deque(maxlen=1 + WINDOW // BLOCK)

    @property
    def _has_started(self) -> bool:
        return self.estimator.__sklearn_is_fitted__()

    def learn(self, part: Part) -> np.ndarray:
        """Learn from the observations; returns its names of their states, (n,): −1 unknown."""
        begin = time.thread_time()
        probabilities = self.estimator.partial_fit_predict_proba(part.X)
        self._count(time.thread_time() - begin, len(part.X))
        labels = probabilities.argmax(axis=1)
        if probabilities.shape[1] > 1:  # while it collects its first observations all are alike
            labels[(probabilities == probabilities[:, :1]).all(axis=1)] = -1
        self.recovery.add(part.states, labels, part.ceiling)
        return labels

    def _count(self, seconds: float, count: int) -> None:
        """Note what learning has cost, a block or more at a time; the first one loads kernels."""
        self._spent += 1e6 * seconds
        self._uncounted += count
        if self._uncounted < BLOCK:
            return
        micros = self._spent / self._uncounted
        self._spent, self._uncounted = 0.0, 0
        if not self._has_started or self._blocks < _LOADING:
            self._blocks += self._has_started
            return
        before = micros if np.isnan(self._micros) else self._micros
        self._micros = before + _WEIGHT * (micros - before)

    def note(self, now: int, heard: int) -> None:
        """Write down Σ log p so far, at a multiple of 50 observations; `heard` as in `Level`."""
        if self._has_started:
            self._levels.append(Level(now, self.estimator.log_likelihood_, heard))

    # In the names of the true states

    def _names(self, n_states: int) -> np.ndarray:
        """The learner's name of each true state, (N,): −1 where it has none."""
        names = np.full(n_states, -1)
        matching = self.recovery.matching[:n_states]
        names[: len(matching)] = matching
        return names

    def in_true_names(self, labels: np.ndarray, n_states: int) -> np.ndarray:
        """Labels (n,) of this learner as names of true states; −1 for one that is none of them."""
        names = self._names(n_states)
        renamed = np.full(max(names.max(initial=-1), labels.max(initial=-1)) + 2, -1)
        renamed[names] = np.arange(n_states)
        renamed[-1] = -1  # where −1 itself is looked up
        return renamed[labels]

    def means_of(self, n_states: int) -> tuple[np.ndarray, np.ndarray]:
        """The true states that it has means of, (K,), and these, (K, *point_shape)."""
        names = self._names(n_states) if self._has_started else np.full(n_states, -1)
        named = np.flatnonzero(names >= 0)
        means = self.estimator.means_ if len(named) else np.empty((0, *self._manifold.point_shape))
        return named, means[names[named]]

    def measures(self, truth: Truth, now: int) -> tuple[float, float, float, float]:
        """`OWN_MEASURES` against the truth of the moment.

        A state that the learner has no name for counts as never visited in Â.
        """
        if not self._has_started:
            return (float("nan"),) * 4
        names = self._names(truth.n_states)
        named = np.flatnonzero(names >= 0)
        there = np.flatnonzero((names >= 0) & truth.exists)
        means, transmat = self.estimator.means_, np.zeros_like(truth.transmat)
        transmat[np.ix_(named, named)] = self.estimator.transmat_[
            np.ix_(names[named], names[named])
        ]
        rows = np.flatnonzero(truth.exists)
        distance = (
            float(self._manifold.dist(truth.means[there], means[names[there]]).mean())
            if len(there)
            else float("nan")
        )
        error = float(np.linalg.norm((transmat - truth.transmat)[rows]))
        accuracy = self.recovery.accuracy if now >= self._known_from else float("nan")
        return accuracy, distance, error, slope(self._levels, now)

    @property
    def _known_from(self) -> int:
        """From when on all of a window was decoded; before, its accuracy says little."""
        first = getattr(self.estimator, "start_size", None) or self.estimator.fitted_at_
        return first + WINDOW

    def judged(self) -> Judged:
        """What it costs, and how it came through the last event."""
        last = self.recovery.events[-1] if self.recovery.events else None
        known = self._has_started
        return Judged(
            getattr(self.estimator, "micros_", self._micros),
            self.estimator.state_nbytes_ if known else 0,
            None if last is None else last.at,
            None if last is None else last.steps,
            0 if last is None else last.lost,
            getattr(self.estimator, "memory_", None) if known else None,
            tuple(getattr(self.estimator, "restarts_", ()) if known else ()),
            getattr(self.estimator, "fitted_at_", None),
            getattr(self.estimator, "is_busy", False),
        )


def online(variant: Variant, manifold: Manifold, n_states: int, seed: int, window: int) -> Track:
    """The track of an online learner that has seen nothing."""
    options = dict(variant.options)
    if variant.has_window:
        options["window"] = window
    return Track(variant.learner.make(manifold, n_states, seed, options), manifold)


class Level(NamedTuple):
    """A sum of log densities so far."""

    now: int
    """Observations so far."""
    total: float
    heard: int
    """How many of them were neither missing nor disturbed."""


def slope(levels: Iterable[Level], now: int) -> float:
    """The mean log density of what was heard of the last `WINDOW` observations.

    NaN where the sum was not written down, and where too little was heard.
    """
    known = {level.now: level for level in levels}
    if now not in known or now - WINDOW not in known:
        return float("nan")
    end, begin = known[now], known[now - WINDOW]
    heard = end.heard - begin.heard
    return (end.total - begin.total) / heard if heard >= _LEAST_HEARD else float("nan")
