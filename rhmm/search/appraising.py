"""What splits and merges promise before EM goes on: a few distances tell."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel, lean_kernel
from rhmm.gaussian.table import half_precision_and_log_z
from rhmm.manifolds import verbs
from rhmm.vector_math import dot, drawn, total

_LEAST_MASS = 4.0
"""Expected visits of a state that can be split, at least."""
_LEAST_VISITS = 1e-12
"""Added to those of every state, so that none has a logarithm of 0."""
_PROMISE = 0.0
"""Nats for each state that the appraisal of a move must reach."""


class Appraisal(NamedTuple):
    """What each split would gain and each merge lose before EM goes on, in nats."""

    gain: np.ndarray
    """Shape (N,)."""
    seeds: np.ndarray
    """The two points of the sample at which each state would be split, shape (N, 2)."""
    loss: np.ndarray
    """Shape (N, N), ∞ on the diagonal."""
    promise: float = -math.inf
    """The most that a split gains beyond what a merge of two other states loses."""

    def promises_a_move(self) -> bool:
        """Whether any move is worth a try."""
        return self.promise > _PROMISE * len(self.gain)

    # A move is five numbers: the state that is split and the two points of the sample at which,
    # then the two that are merged into the first of them. Without a split or a merge they are −1.

    def moves(self, most: int) -> np.ndarray:
        """So many splits of one state with merges of two others, those that promise the most; shape
        (K, 5), the best first."""
        value = self.gain[:, None, None] - self.loss
        value[_no_moves(len(self.gain))] = -np.inf
        best = np.argsort(-value, axis=None, kind="stable")[:most]
        best = best[value.flat[best] > -np.inf]
        state, first, second = np.unravel_index(best, value.shape)
        return np.column_stack([state, self.seeds[state], first, second])

    def splits(self, most: int) -> np.ndarray:
        """So many of the splits that promise the most, shape (K, 5)."""
        state = np.argsort(-self.gain, kind="stable")[:most]
        state = state[self.gain[state] > -np.inf]
        return np.column_stack([state, self.seeds[state], np.full((len(state), 2), -1)])

    def merges(self, most: int, limit: float) -> np.ndarray:
        """So many of the merges that lose the least, each less than the limit; shape (K, 5)."""
        loss = np.where(np.tri(len(self.gain), dtype=bool), np.inf, self.loss)
        best = np.argsort(loss, axis=None)[:most]
        first, second = np.unravel_index(best[loss.flat[best] < limit], loss.shape)
        return np.column_stack([np.full((len(first), 3), -1), first, second])


@lru_cache(16)
def _no_moves(n: int) -> np.ndarray:
    """Which splits of k and merges of i and j cannot go together, shape (N, N, N)."""
    k, i, j = np.indices((n, n, n))
    return (i >= j) | (k == i) | (k == j)


@lean_kernel
def best_move(appraisal):
    """The promise of the best move; −∞ if there is none."""
    n, best = len(appraisal.gain), -math.inf
    for k in range(n):
        for i in range(n):
            for j in range(i + 1, n):
                if k != i and k != j:
                    best = max(best, appraisal.gain[k] - appraisal.loss[i, j])
    return best


@lean_kernel
def appraise_splits(
    geometry, table, points, layout, memory, delta, least_delta, looks, appraisal, room
):
    """Gains and seeds of splits, from γ in the memory of a climb. Outliers have no weight: a split
    would begin with them. `room` (4, T) is working memory."""
    n, size = memory.alpha.shape
    weights, near, far, other = room[0], room[1], room[2], room[3]
    for i in range(n):
        appraisal.gain[i] = -math.inf
        appraisal.seeds[i, 0] = appraisal.seeds[i, 1] = 0
        for t in range(size):
            weights[t] = 0.0 if memory.outlier[t] else memory.alpha[i, t]
        mass = total(weights)
        if mass < _LEAST_MASS:
            continue
        for u in range(looks.shape[1]):
            a = drawn(weights, mass, looks[i, u, 0])
            verbs.distances_to(geometry, layout, 0, size, points[a], near)
            for t in range(size):
                other[t] = weights[t] * near[t]
            b = drawn(other, total(other), looks[i, u, 1])
            verbs.distances_to(geometry, layout, 0, size, points[b], far)
            after = _cost_of_halves(table, weights, near, far, other, least_delta)
            found = mass * _cost(table, delta[i]) - after
            if found > appraisal.gain[i]:
                appraisal.gain[i] = found
                appraisal.seeds[i, 0], appraisal.seeds[i, 1] = a, b


@lean_kernel
def _cost_of_halves(table, weights, near, far, other, least_delta):
    """Nats that the points take if each belongs to the nearer of two seeds.

    `other` (T,) is working memory, and so are the distances to both.
    """
    size = len(weights)
    for t in range(size):  # which side is a matter of chance: branches would be slow
        other[t] = weights[t] if far[t] < near[t] else 0.0
        near[t] = min(far[t], near[t])
        far[t] = weights[t] - other[t]
    mass, spread = 1e-12 + total(far), dot(far, near, size)
    other_mass, other_spread = 1e-12 + total(other), dot(other, near, size)
    whole = mass + other_mass
    return _cost_of_half(table, mass, spread, whole, least_delta) + _cost_of_half(
        table, other_mass, other_spread, whole, least_delta
    )


@lean_kernel
def _cost_of_half(table, mass, spread, whole, least_delta):
    # Around one of the points, instead of their mean, d² is about twice as large.
    delta = max(0.5 * spread / mass, least_delta)
    return mass * (_cost(table, delta) - math.log(mass / whole))


@kernel
def appraise_merges(geometry, table, gamma, means, delta, appraisal):
    """As on a flat space, where the spread of two states together is known from theirs."""
    n = len(delta)
    layout, between = verbs.prepared(geometry, means), np.empty(n)
    for i in range(n):
        verbs.distances_to(geometry, layout, 0, n, means[i], between)
        w = _LEAST_VISITS + total(gamma[i])
        for j in range(n):
            appraisal.loss[i, j] = math.inf
            if i != j:
                v = _LEAST_VISITS + total(gamma[j])
                p, q = w / (w + v), v / (w + v)
                together = p * delta[i] + q * delta[j] + p * q * between[j]
                apart = w * (_cost(table, delta[i]) - math.log(p))
                apart += v * (_cost(table, delta[j]) - math.log(q))
                appraisal.loss[i, j] = (w + v) * _cost(table, together) - apart


@kernel
def _cost(table, delta):
    """Nats that a point of a state with this δ takes on average."""
    half_precision, log_z = half_precision_and_log_z(table, delta)
    return half_precision * delta + log_z
