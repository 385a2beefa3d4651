"""Single steps of an online learner, opened up at any k of a chain.

A learner must replay the chain to come to k. Copies of it are kept along the way, so that the next
step, or one further back, costs milliseconds.
"""

import copy
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dashboard.compute.feeding import feed
from dashboard.compute.shared_cache import SharedCache
from dashboard.model.analysis import HeldRecording
from dashboard.model.source import Source
from rhmm.learners.learner import Learner
from rhmm.learners.online import OnlineHMM
from rhmm.learners.windowed import WindowedRiemannianHMM
from rhmm.manifolds import Manifold
from rhmm.streams.explanation import Estimate, Explanation

_SNAPSHOTS = 25
"""Copies of a learner along a chain: few enough for windows of thousands of observations."""
_KEPT_STEPS = 64

PAPER, CONVEX, STREAMING = "paper", "convex", "streaming"
"""Which formulas a step follows."""

_replays = SharedCache(8)


class Step(NamedTuple):
    """One step of a learner, its states in the order of the true means that they resemble; those of
    a recording in its own."""

    kind: str
    """`PAPER`, `CONVEX` or `STREAMING`."""
    manifold: Manifold
    explanation: Explanation
    held: np.ndarray
    """The observations in the window or lag, the newest last, shape (W, *point_shape)."""
    distances: np.ndarray
    """d(y, c_i) of the observations that are learned, before the step, shape (N, L)."""
    raw: np.ndarray
    """A as the formula gives it, before it is clipped and scaled, shape (N, N)."""


class Replay:
    """A learner on a chain, to be looked at after any number of observations."""

    def __init__(
        self,
        source: Source,
        learner: Learner,
        options: Mapping[str, Any],
        seed: int,
        n_states: int,
    ):
        self._manifold, self._truth = source.manifold, source.true_model()
        self.points, _, self._lengths = source.observe()
        fresh: OnlineHMM = learner.make(self._manifold, n_states, seed, options)
        self.first = fresh.start_size + 1
        """The first observation that is learned by a step."""
        self.last = len(self.points)
        self._stride = -(-self.last // _SNAPSHOTS)
        self._snapshots = {0: fresh}
        self._steps = SharedCache(_KEPT_STEPS)
        self._lock = threading.Lock()

    def step(self, k: int) -> Step:
        """The step at observation k, from `first` to `last`."""
        return self._steps.get(k, lambda: self._explained(k))

    def _explained(self, k: int) -> Step:
        learner = self._learner_at(k)
        explanation = learner.explain()
        if self._truth is not None:
            explanation = permuted(explanation, learner.to_hmm().order_like(self._truth))
        manifold = self._manifold
        return Step(
            _kind(learner),
            manifold,
            explanation,
            self.points[k - len(explanation.alpha) : k],
            np.sqrt(manifold.squared_distances(explanation.learned, explanation.before.means)),
            raw_transmat(_kind(learner), explanation),
        )

    def _learner_at(self, k: int) -> OnlineHMM:
        """A copy that has learned the first k observations; leaves snapshots on its way there."""
        with self._lock:
            at = max(seen for seen in self._snapshots if seen < k)
            learner = copy.deepcopy(self._snapshots[at])
            for stop in range(at + self._stride, k, self._stride):
                feed(learner, self.points, self._lengths, at, stop)
                self._snapshots[stop] = copy.deepcopy(learner)
                at = stop
            feed(learner, self.points, self._lengths, at, k)
            return learner


def replay(
    source: Source,
    learner: Learner,
    options: Mapping[str, Any],
    seed: int,
    n_states: int,
    own: HeldRecording | None = None,
) -> Replay:
    """The replay of this learner on this chain, shared by all visitors, unless `own` is the file of
    one of them."""
    key = (repr(source), learner.key, tuple(sorted(options.items())), seed, n_states)
    return _replays.get(key, lambda: Replay(source, learner, options, seed, n_states), beside=own)


def _kind(learner: OnlineHMM) -> str:
    if isinstance(learner, WindowedRiemannianHMM):
        return PAPER if learner.transition_update == "paper" else CONVEX
    return STREAMING


def raw_transmat(kind: str, e: Explanation) -> np.ndarray:
    """A after the step before any entry is clipped or any row scaled, shape (N, N)."""
    old = e.before.transmat
    if not len(e.learned):
        return old
    if kind == PAPER and e.mu is not None and e.g is not None:
        pull = (e.g / e.mu).sum(axis=1) / (1.0 / e.mu).sum(axis=1)
        return old + (e.g - pull[:, None]) / e.mu
    if kind == CONVEX:
        return old + (e.pair - old * e.pair.sum(axis=1, keepdims=True)) / e.visits[:, None]
    visited = np.maximum(e.weight.sum(axis=0), 1e-300)[:, None]
    return (1.0 - e.tau[:, None]) * old + e.tau[:, None] * e.pair / visited


def permuted(e: Explanation, order: np.ndarray) -> Explanation:
    """The same step with state ``order[i]`` renamed to i."""
    rows = ("visits", "tau", "kappa")
    columns = ("density", "alpha", "beta", "gamma", "weight")
    pairs = ("pair", "mu", "g")
    square = np.ix_(order, order)
    return e._replace(
        **{name: getattr(e, name)[order] for name in rows},
        **{name: getattr(e, name)[:, order] for name in columns},
        **{name: getattr(e, name)[square] for name in pairs if getattr(e, name) is not None},
        zeta=e.zeta[:, order][:, :, order],
        before=_permuted_estimate(e.before, order),
        after=_permuted_estimate(e.after, order),
    )


def _permuted_estimate(estimate: Estimate, order: np.ndarray) -> Estimate:
    transmat, means, delta, sigmas = estimate
    return Estimate(transmat[np.ix_(order, order)], means[order], delta[order], sigmas[order])
