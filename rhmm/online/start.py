"""How an online learner begins: candidates from the first observations, compiled for speed.

A learner that starts in a wrong basin never leaves it. So several starts are tried on the buffered
observations: k-means++ seeds, a few Lloyd iterations, a few EM iterations with a weak prior; those
with the best likelihood go on to race each other on what comes next (see `learner`).
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel
from rhmm.gaussian.table import half_precision_and_log_z
from rhmm.inference import forward_pass, scale_rows, smooth_pass
from rhmm.manifolds import verbs

_LEAST_WEIGHT = 1e-6


class Candidate(NamedTuple):
    transmat: np.ndarray
    means: np.ndarray
    delta: np.ndarray
    visits: np.ndarray
    """Expected visits of each state among the buffered observations."""
    alpha: np.ndarray
    """Filtered probabilities of all buffered times, shape (T, N)."""
    log_likelihood: float
    """Of the buffered observations."""


_LLOYD, _SHORT, _LONG, _TOL = 5, 2, 10, 1e-4
"""Iterations: of K-means and EM for every start, of EM for the finalists; gain that ends EM."""


def candidates(
    geometry, table, points, uniforms, least_delta: float, *, cold: bool, finalists: int
) -> list[Candidate]:
    """One start for each row of `uniforms`; unless `cold`, the `finalists` likeliest, refined."""
    n = uniforms.shape[1]
    found = []
    for row in uniforms:
        means, delta = np.empty((n, *points.shape[1:])), np.empty(n)
        transmat = np.full((n, n), 1.0 / n)
        prior = max(seed_points(geometry, points, row, means), least_delta)
        delta[:] = prior
        if not cold:
            lloyd(geometry, points, means, delta, transmat, prior, _LLOYD)
        found.append(
            _refine(geometry, table, points, transmat, means, delta, prior, 0 if cold else _SHORT)
        )
    if cold:
        return [candidate for candidate, _ in found]
    found.sort(key=lambda pair: -pair[0].log_likelihood)
    refined = [
        _refine(geometry, table, points, c.transmat, c.means, c.delta, prior, _LONG)[0]
        for c, prior in found[:finalists]
    ]
    return refined


def _refine(geometry, table, points, transmat, means, delta, prior, steps):
    alpha, visits, likelihood = em(
        geometry, table, points, means, delta, transmat, prior, steps, _TOL
    )
    return Candidate(transmat, means, delta, visits, alpha, likelihood), prior


@kernel
def seed_points(geometry, points, uniforms, means):
    """k-means++ from given uniform numbers; returns the mean d² to the nearest seed."""
    size = len(points)
    nearest, d2 = np.full(size, math.inf), np.empty((1, size))
    total = 0.0
    for i in range(len(means)):
        pick = min(int(uniforms[i] * size), size - 1)
        if i > 0:
            target, cumulative = uniforms[i] * total, nearest[0]
            pick = 0
            while cumulative < target and pick < size - 1:
                pick += 1
                cumulative += nearest[pick]
        means[i] = points[pick]
        verbs.squared_distances(geometry, points, means[i : i + 1], d2)
        total = 0.0
        for t in range(size):
            nearest[t] = min(nearest[t], d2[0, t])
            total += nearest[t]
    return total / size


@kernel
def _recentre_alive(geometry, points, weights, means, d2):
    for i in range(len(means)):
        if weights[i].sum() > _LEAST_WEIGHT:
            mine = slice(i, i + 1)
            verbs.recentre(geometry, points, weights[mine], means[mine], d2[mine], 1)


@kernel
def lloyd(geometry, points, means, delta, transmat, prior, steps):
    """A few K-means iterations; then δ, and A from counted transitions, under a weak prior."""
    n, size = len(means), len(points)
    d2, weights, labels = np.empty((n, size)), np.empty((n, size)), np.zeros(size, np.int64)
    for step in range(steps + 1):
        verbs.squared_distances(geometry, points, means, d2)
        weights[:] = 0.0
        for t in range(size):
            best = 0
            for i in range(1, n):
                if d2[i, t] < d2[best, t]:
                    best = i
            labels[t] = best
            weights[best, t] = 1.0
        if step < steps:
            _recentre_alive(geometry, points, weights, means, d2)
    transmat[:] = 1.0 / n
    for t in range(1, size):
        transmat[labels[t - 1], labels[t]] += 1.0
    for i in range(n):
        transmat[i] /= transmat[i].sum()
        delta[i] = ((weights[i] * d2[i]).sum() + prior) / (weights[i].sum() + 1.0)


@kernel
def filter_flat(table, d2, delta, transmat, alpha):
    """Filtered probabilities from a flat start, into `alpha`; returns the log-likelihood."""
    n, size = d2.shape
    log_density, shift = np.empty((size, n)), np.empty(size)
    for i in range(n):
        half_precision, log_z = half_precision_and_log_z(table, delta[i])
        for t in range(size):
            log_density[t, i] = -half_precision * d2[i, t] - log_z
    scale_rows(log_density, alpha, shift)
    for t in range(size):
        for i in range(n):
            alpha[t, i] = math.exp(alpha[t, i])
    ends = np.array([size])
    return forward_pass(np.full(n, 1.0 / n), transmat, alpha, shift, ends, False)


@kernel
def em(geometry, table, points, means, delta, transmat, prior, steps, tol):
    """Up to `steps` EM iterations; returns filtered probabilities, visits and log-likelihood."""
    n, size = len(means), len(points)
    d2, weights = np.empty((n, size)), np.empty((n, size))
    alpha, zeta_sum = np.empty((size, n)), np.empty((n, n))
    ends = np.array([size])
    verbs.squared_distances(geometry, points, means, d2)
    previous = -math.inf
    for step in range(steps + 1):
        likelihood = filter_flat(table, d2, delta, transmat, alpha)
        filtered = alpha.copy()
        zeta_sum[:] = 1.0 / n
        smooth_pass(alpha, transmat, ends, zeta_sum)
        for i in range(n):
            for t in range(size):
                weights[i, t] = alpha[t, i]
        if step == steps or likelihood - previous < tol * size:
            break
        previous = likelihood
        _recentre_alive(geometry, points, weights, means, d2)
        for i in range(n):
            transmat[i] = zeta_sum[i] / zeta_sum[i].sum()
            delta[i] = ((weights[i] * d2[i]).sum() + prior) / (weights[i].sum() + 1.0)
    visits = np.empty(n)
    for i in range(n):
        visits[i] = weights[i].sum()
    return filtered, visits, likelihood
