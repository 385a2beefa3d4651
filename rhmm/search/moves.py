"""Splits and merges: how a fit that sits in a wrong optimum gets out of it.

A fit that is stuck has, as a rule, one state that explains two clusters and two states that share
one. A move splits the first and merges the others; EM then shows whether that was better. A split
or a merge alone leads from a model of N states to one of N + 1 or N − 1.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel, lean_kernel
from rhmm.gaussian.table import half_precision_and_log_z, radial_table
from rhmm.manifolds import verbs
from rhmm.search.climbing import Fit, climbed
from rhmm.search.sample import Sample

_LOOKS = 4
"""Pairs of points that compete to be the seeds of a split."""
_LEAST_MASS = 4.0
"""Expected visits of a state that can be split, at least."""
_LEAST_GAIN = 2.0
"""Nats that a move must gain to be made."""
_PROMISE = 0.0
"""Nats for each state that the appraisal of a move must reach."""
_FIRST_LOOK, _SECOND_LOOKS = 8, 2
"""EM iterations after which the best of several moves are chosen, and how many of them."""


class Move(NamedTuple):
    """Split `state` at two points of the sample, and merge `second` into `first`."""

    state: int
    seeds: np.ndarray
    first: int
    second: int


class Appraisal(NamedTuple):
    """What each split would gain and each merge lose before EM goes on, in nats."""

    gain: np.ndarray
    """Shape (N,)."""
    seeds: np.ndarray
    """The two points of the sample at which each state would be split, shape (N, 2)."""
    loss: np.ndarray
    """Shape (N, N), ∞ on the diagonal."""

    def promises_a_move(self) -> bool:
        """Whether any move is worth a try."""
        return len(self.gain) > 2 and self._value.max() > _PROMISE * len(self.gain)

    @property
    def _value(self) -> np.ndarray:
        """Of the move that splits k and merges i < j, shape (N, N, N) in this order."""
        value = self.gain[:, None, None] - self.loss
        value[_no_moves(len(self.gain))] = -np.inf
        return value

    def moves(self, most: int) -> list[Move]:
        """Those that promise the most, the best first."""
        value = self._value
        best = np.argsort(-value, axis=None, kind="stable")[:most]
        found = np.stack(np.unravel_index(best, value.shape), axis=1)
        return [Move(k, self.seeds[k], i, j) for k, i, j in found if value[k, i, j] > -np.inf]


@lru_cache(16)  # every review asks for it
def _no_moves(n: int) -> np.ndarray:
    """Which splits of k and merges of i and j cannot go together, shape (N, N, N)."""
    k, i, j = np.indices((n, n, n))
    return (i >= j) | (k == i) | (k == j)


def appraise(sample: Sample, fit: Fit, rng: np.random.Generator) -> Appraisal:
    """Look at every split and every merge of a fit."""
    n, manifold = len(fit.delta), sample.manifold
    table = radial_table(manifold.gaussian)
    gain, seeds, loss = np.empty(n), np.zeros((n, 2), np.int64), np.empty((n, n))
    _appraise_splits(
        manifold.geometry, table, sample.points, fit.gamma, fit.delta, sample.least_delta,
        rng.random((n, _LOOKS, 2)), gain, seeds,
    )  # fmt: skip
    between = manifold.squared_distances(fit.means, fit.means)
    _appraise_merges(table, fit.visits, fit.delta, between, loss)
    return Appraisal(gain, seeds, loss)


def improved(sample: Sample, fit: Fit, rng: np.random.Generator, *, tried: int, steps: int) -> Fit:
    """The fit after moves that keep N, one after another as long as one is found that gains."""
    while True:
        moves = appraise(sample, fit, rng).moves(tried)
        found = [moved(sample, fit, move, _FIRST_LOOK) for move in moves]
        found = sorted(found, key=_likelihood)[-_SECOND_LOOKS:]
        found = [climbed(sample, f.transmat, f.means, f.delta, f.prior, steps) for f in found]
        best = max(found, key=_likelihood, default=fit)
        if best.log_likelihood < fit.log_likelihood + _LEAST_GAIN:
            return fit
        fit = best


def _likelihood(fit: Fit) -> float:
    return fit.log_likelihood


def moved(sample: Sample, fit: Fit, move: Move, steps: int) -> Fit:
    """The fit after a move and so many iterations of EM."""
    gamma, means = split(sample, fit.gamma, fit.means, move.state, move.seeds)
    gamma, means = merged(gamma, means, move.first, move.second)
    return fitted(sample, gamma, means, fit.prior, steps)


def split(sample: Sample, gamma, means, state: int, seeds) -> tuple[np.ndarray, np.ndarray]:
    """Weights (T, N + 1) and rough means after a state was split: the new state comes last."""
    points = sample.points[seeds]
    d2 = sample.manifold.squared_distances(sample.points, points)
    kept = gamma[:, state] * (d2[0] <= d2[1])
    gamma = np.column_stack([gamma, gamma[:, state] - kept])
    gamma[:, state] = kept
    means = np.concatenate([means, points[1:]])
    means[state] = points[0]
    return gamma, means


def merged(gamma, means, first: int, second: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights (T, N − 1) and rough means after the second state was merged into the first."""
    means = means.copy()
    if gamma[:, second].sum() > gamma[:, first].sum():
        means[first] = means[second]
    together = gamma.copy()
    together[:, first] += gamma[:, second]
    return np.delete(together, second, axis=1), np.delete(means, second, axis=0)


def fitted(sample: Sample, gamma, means, prior: float, steps: int) -> Fit:
    """What EM reaches from states that explain the sample with these weights (T, N)."""
    n, now = len(means), sample.steps
    weights = np.ascontiguousarray(gamma.T) + 1e-9
    means, d2, _ = sample.manifold.recentre(sample.points, weights, means, 2)
    spread = ((weights * d2).sum(axis=1) + prior) / (weights.sum(axis=1) + 1.0)
    pairs = gamma[now].T @ gamma[now + 1] + 1.0 / n
    transmat = pairs / pairs.sum(axis=1, keepdims=True)
    delta = np.maximum(spread, sample.least_delta)
    return climbed(sample, transmat, means, delta, prior, steps)


@kernel
def _appraise_splits(geometry, table, points, gamma, delta, least_delta, uniforms, gain, seeds):
    size, n = gamma.shape
    layout = verbs.prepared(geometry, points)
    near, far = np.empty(size), np.empty(size)
    weights, further = np.empty(size), np.empty(size)
    for i in range(n):
        gain[i], mass = -math.inf, 0.0
        for t in range(size):
            weights[t] = gamma[t, i]
            mass += weights[t]
        if mass < _LEAST_MASS:
            continue
        for u in range(uniforms.shape[1]):
            a = _drawn(weights, uniforms[i, u, 0])
            verbs.distances_to(geometry, layout, 0, size, points[a], near)
            for t in range(size):
                further[t] = weights[t] * near[t]
            b = _drawn(further, uniforms[i, u, 1])
            verbs.distances_to(geometry, layout, 0, size, points[b], far)
            after = _cost_of_halves(table, weights, near, far, least_delta)
            found = mass * _cost(table, delta[i]) - after
            if found > gain[i]:
                gain[i], seeds[i, 0], seeds[i, 1] = found, a, b


@lean_kernel
def _cost_of_halves(table, weights, near, far, least_delta):
    """Nats that the points take if each belongs to the nearer of two seeds."""
    mass, spread = 1e-12, 0.0
    other_mass, other_spread = 1e-12, 0.0
    for t in range(len(weights)):  # which side is a matter of chance: branches would be slow
        is_other = 1.0 if far[t] < near[t] else 0.0
        weight, square = weights[t], weights[t] * min(far[t], near[t])
        mass += (1.0 - is_other) * weight
        spread += (1.0 - is_other) * square
        other_mass += is_other * weight
        other_spread += is_other * square
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
def _appraise_merges(table, visits, delta, between, loss):
    """As on a flat space, where the spread of two states together is known from theirs."""
    n = len(delta)
    for i in range(n):
        for j in range(n):
            loss[i, j] = math.inf
            if i != j:
                w, v = visits[i] + 1e-12, visits[j] + 1e-12
                p, q = w / (w + v), v / (w + v)
                together = p * delta[i] + q * delta[j] + p * q * between[i, j]
                apart = w * (_cost(table, delta[i]) - math.log(p))
                apart += v * (_cost(table, delta[j]) - math.log(q))
                loss[i, j] = (w + v) * _cost(table, together) - apart


@lean_kernel
def _cost(table, delta):
    """Nats that a point of a state with this δ takes on average."""
    half_precision, log_z = half_precision_and_log_z(table, delta)
    return half_precision * delta + log_z


@lean_kernel
def _drawn(weights, uniform):
    """The index where the cumulative weight reaches this share of all."""
    target, total = 0.0, 0.0
    for t in range(len(weights)):
        target += weights[t]
    target *= uniform
    for t in range(len(weights)):
        total += weights[t]
        if total >= target and weights[t] > 0.0:
            return t
    return len(weights) - 1
