"""A learner on its way through an endless stream, and how well it does."""

import time
from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from rhmm.manifolds import Manifold
from rhmm.worlds import BLOCK, Recovery, Truth

WINDOW = 500
"""Observations of every rolling measure of a chain."""

OWN_MEASURES = 5
"""Accuracy, distance of the means, ‖A − Â‖, predictive density and number of states of a learner.
"""

_WEIGHT = 0.05
"""Of the latest piece in the time for an observation."""

_LEAST_HEARD = 0.2
"""The share of a window that a mean needs."""

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
    """One learner, online or `Refitted`, and its measures: NaN before it has started.

    Its names of states are arbitrary: they are matched to those that it is judged by. Of a
    recording (`names_all`), states that no label is left for are named by what comes next.
    """

    def __init__(
        self, estimator: Any, manifold: Manifold, window: int = WINDOW, *, names_all: bool = False
    ):
        self.estimator = estimator
        self.recovery = Recovery(window=window)
        self._manifold = manifold
        self._window = window
        self._names_all = names_all
        self._micros = float("nan")
        self._spent, self._uncounted, self._blocks = 0.0, 0, 0
        """Microseconds and observations that do not count yet, and blocks since the start."""
        self._levels: deque[Level] = deque(maxlen=1 + window // BLOCK)

    @property
    def _has_started(self) -> bool:
        return self.estimator.__sklearn_is_fitted__()

    def learn(self, X: np.ndarray, *, ends: bool = False) -> np.ndarray:
        """Learn from observations; returns its names of their states, (n,): −1 unknown.

        `ends` says whether their sequence ends with them.
        """
        begin = time.thread_time()
        lengths = [len(X)] if ends else None
        probabilities = self.estimator.partial_fit_predict_proba(X, lengths=lengths)
        self._count(time.thread_time() - begin, len(X))
        labels = probabilities.argmax(axis=1)
        if probabilities.shape[1] > 1:  # while it collects its first observations all are alike
            labels[(probabilities == probabilities[:, :1]).all(axis=1)] = -1
        return labels

    def judge(self, states: np.ndarray, labels: np.ndarray, ceiling: np.ndarray) -> None:
        """Compare its names of states with the true ones, where these are known (not −1)."""
        known = states >= 0
        if not known.all():
            states, labels, ceiling = states[known], labels[known], ceiling[known]
        self.recovery.add(states, labels, ceiling)

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
        if self._names_all and self._has_started:
            free, others = np.flatnonzero(names < 0), np.setdiff1d(self._own_names, names)
            shared = min(len(free), len(others))
            names[free[:shared]] = others[:shared]
        return names

    @property
    def _own_names(self) -> np.ndarray:
        """The name of each of its states: one that counts them gives a name of its own to each."""
        own = getattr(self.estimator, "names_", None)
        return np.arange(len(self.estimator.transmat_)) if own is None else own

    def _places(self, names: np.ndarray) -> np.ndarray:
        """Which of its states have these names, (N,): −1 where none has."""
        places = np.full(max(self._own_names.max(), names.max(initial=-1)) + 2, -1)
        places[self._own_names] = np.arange(len(self._own_names))
        return places[names]  # −1 itself looks up the last, which is none

    def in_true_names(self, labels: np.ndarray, n_states: int) -> np.ndarray:
        """Labels (n,) of this learner as names of true states; −1 for one that is none of them."""
        names = self._names(n_states)
        renamed = np.full(max(names.max(initial=-1), labels.max(initial=-1)) + 2, -1)
        renamed[names] = np.arange(n_states)
        renamed[-1] = -1  # where −1 itself is looked up
        return renamed[labels]

    def means_of(self, n_states: int) -> tuple[np.ndarray, np.ndarray]:
        """The true states that it has means of, (K,), and these, (K, *point_shape)."""
        if not self._has_started:
            return np.empty(0, int), np.empty((0, *self._manifold.point_shape))
        places = self._places(self._names(n_states))
        named = np.flatnonzero(places >= 0)
        return named, self.estimator.means_[places[named]]

    def measures(self, truth: Truth | None, now: int) -> tuple[float, ...]:
        """`OWN_MEASURES` against the truth of the moment; NaN where that must be known and is not.

        A state that the learner has no name for counts as never visited in Â.
        """
        if not self._has_started:
            return (float("nan"),) * OWN_MEASURES
        accuracy = self.recovery.accuracy if now >= self._known_from else float("nan")
        density, count = slope(self._levels, now, self._window), float(len(self._own_names))
        if truth is None:
            return accuracy, float("nan"), float("nan"), density, count
        return accuracy, *self._errors(truth), density, count

    def _errors(self, truth: Truth) -> tuple[float, float]:
        """The mean distance of the means, and ‖A − Â‖."""
        places = self._places(self._names(truth.n_states))
        named = np.flatnonzero(places >= 0)
        there = np.flatnonzero((places >= 0) & truth.exists)
        means, transmat = self.estimator.means_, np.zeros_like(truth.transmat)
        transmat[np.ix_(named, named)] = self.estimator.transmat_[
            np.ix_(places[named], places[named])
        ]
        rows = np.flatnonzero(truth.exists)
        distance = (
            float(self._manifold.dist(truth.means[there], means[places[there]]).mean())
            if len(there)
            else float("nan")
        )
        return distance, float(np.linalg.norm((transmat - truth.transmat)[rows]))

    @property
    def _known_from(self) -> int:
        """From when on all of a window was decoded; before, its accuracy says little."""
        first = getattr(self.estimator, "start_size", None) or self.estimator.fitted_at_
        return first + self._window

    def judged(self) -> Judged:
        """What it costs, and how it came through the last event."""
        known = self._has_started
        last = self.recovery.events[-1] if known and self.recovery.events else None
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


class Level(NamedTuple):
    """A sum of log densities so far."""

    now: int
    """Observations so far."""
    total: float
    heard: int
    """How many of them were neither missing nor disturbed."""


def slope(levels: Iterable[Level], now: int, window: int = WINDOW) -> float:
    """The mean log density of what was heard of the last `window` observations.

    NaN where the sum was not written down, and where too little was heard.
    """
    known = {level.now: level for level in levels}
    if now not in known or now - window not in known:
        return float("nan")
    end, begin = known[now], known[now - window]
    heard = end.heard - begin.heard
    enough = heard >= _LEAST_HEARD * window
    return (end.total - begin.total) / heard if enough else float("nan")
