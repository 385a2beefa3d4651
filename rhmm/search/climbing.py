"""EM on a small sample, compiled: what judges starts and moves.

It differs from `rhmm.learners.em` in what a small sample needs: a weak prior keeps a state that
explains few points from collapsing, means take one step at a time, log Z comes from a table, and
points far from every state are left out, so that a few outliers do not decide where a fit begins.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel, lean_kernel
from rhmm.gaussian.table import half_precision_and_log_z
from rhmm.inference.both_ways import go_both_ways, join
from rhmm.manifolds import verbs
from rhmm.parameters import scaled_densities_into
from rhmm.vector_math import dot, total

_LEAST_WEIGHT = 1e-6
"""A state that explains fewer expected points than this keeps its mean."""
_MOST_OUTLIERS = 0.03
"""The share of the points that can be outliers."""


class Terms(NamedTuple):
    """What a climb is held to."""

    least_delta: float
    """The floor of every δ."""
    limit: float
    """d²/2σ² of an outlier, at least."""
    steps: int
    """EM iterations, at most."""
    least: float
    """Nats that an iteration must gain to be followed by another."""
    hope: float = -math.inf
    """The log-likelihood that the first iteration must reach, if there is one to follow."""


class Memory(NamedTuple):
    """What a climb works on: T points, and what N states make of them."""

    d2: np.ndarray
    """Squared distances to the means, shape (N, T)."""
    density: np.ndarray
    """Densities, divided by the largest of each time; shape (N, T)."""
    shift: np.ndarray
    """The logarithms of these, shape (T,)."""
    outlier: np.ndarray
    """Which points are outliers, shape (T,)."""
    alpha: np.ndarray
    """What `go_both_ways` finds, shape (N, T); `join` turns it into γ."""
    beta: np.ndarray
    """The same, shape (N + 1, T)."""


@kernel
def memory_for(n, size):
    """The memory of n states and so many points."""
    room = np.empty((4 * n + 2, size))
    return Memory(
        room[:n], room[n : 2 * n], room[2 * n], np.zeros(size, np.bool_),
        room[2 * n + 1 : 3 * n + 1], room[3 * n + 1 :],
    )  # fmt: skip


@lean_kernel
def outlying(dim: int) -> float:
    """d²/2σ² of an outlier, at least: far beyond what Gaussians of this dimension have."""
    return 0.5 * dim + 10.0 * math.sqrt(0.5 * dim) + 10.0


@kernel
def climb(
    geometry, table, points, layout, ends, terms, lead, prior, transmat, means, delta, memory
):
    """EM on sequences that stop at `ends`, in place.

    Before it means and δ alone take `lead` steps, with the weights that `memory.alpha` has. Leaves
    what `go_both_ways` finds in the memory, and returns the log-likelihood, in which an
    outlier counts as if its d²/2σ² were at the limit; −∞ if it ends for want of hope.
    """
    n, size = memory.d2.shape
    zeta_sum, start = np.empty((n, n)), np.empty(n)
    for i in range(n):
        start[i] = 1.0 / n
        verbs.distances_to(geometry, layout, 0, size, means[i], memory.d2[i])
    likelihood = -math.inf
    for step in range(-lead, terms.steps + 1):
        if step >= 0:
            _weigh(table, terms.limit, delta, memory)
            before = likelihood
            likelihood = go_both_ways(
                start, transmat, memory.density, memory.shift, ends, 0, len(ends), memory.alpha,
                memory.beta,
            )  # fmt: skip
            if step == terms.steps or likelihood - before < terms.least:
                break
            if step == 1 and likelihood < terms.hope:
                return -math.inf
            for i in range(n):
                for j in range(n):
                    zeta_sum[i, j] = 1.0 / n
            join(transmat, memory.density, 0, size, memory.alpha, memory.beta, zeta_sum)
            _forget_outliers(memory)
            scale_rows(zeta_sum, transmat)
        for i in range(n):
            delta[i] = _approached(
                geometry, points, layout, memory.alpha[i], prior, terms.least_delta, means[i],
                memory.d2[i],
            )  # fmt: skip
    return likelihood


@lean_kernel
def _forget_outliers(memory):
    """Leave them without weight in any state."""
    for i in range(len(memory.alpha)):
        weights = memory.alpha[i]
        for t in range(len(weights)):
            weights[t] = 0.0 if memory.outlier[t] else weights[t]


@lean_kernel
def scale_rows(matrix, out):
    """Divide each row by its sum."""
    for i in range(len(matrix)):
        whole = 0.0
        for j in range(len(matrix)):
            whole += matrix[i, j]
        for j in range(len(matrix)):
            out[i, j] = matrix[i, j] / whole


@kernel
def _approached(geometry, points, layout, weights, prior, least_delta, mean, d2):
    """Move a mean towards the centre of mass of the points, and d² (T,) with it; returns δ."""
    occupied = total(weights)
    if occupied > _LEAST_WEIGHT:
        verbs.approach(geometry, points, layout, weights, mean, d2)
    spread = dot(weights, d2, len(weights))
    return max((spread + prior) / (occupied + 1.0), least_delta)


@kernel
def _weigh(table, limit, delta, memory):
    """Densities, and which points are outliers: these have the same density in all states."""
    d2, density, shift, outlier = memory.d2, memory.density, memory.shift, memory.outlier
    n, size = d2.shape
    eta, log_z = np.empty(n), np.empty(n)
    for i in range(n):
        half_precision, log_z[i] = half_precision_and_log_z(table, delta[i])
        eta[i] = -half_precision
    scaled_densities_into(d2, eta, log_z, 0, size, density, shift)
    if _find_outliers(d2, eta, limit, outlier) > 0:
        for t in range(size):
            if outlier[t]:
                shift[t] = -math.inf
                for i in range(n):
                    density[i, t] = 1.0
                    shift[t] = max(shift[t], max(eta[i] * d2[i, t], -limit) - log_z[i])


@kernel
def _find_outliers(d2, eta, limit, outlier):
    """Mark the points whose d²/2σ² is above `limit` in every state: the furthest of them, if they
    are many. Returns how many lie above.
    """
    n, size = d2.shape
    nearest, count = np.empty(size), 0
    for i in range(n):
        for t in range(size):
            mine = -eta[i] * d2[i, t]
            nearest[t] = mine if i == 0 else min(nearest[t], mine)
    for t in range(size):
        if nearest[t] > limit:
            count += 1
    if count > _MOST_OUTLIERS * size:
        limit = _limit_of(nearest, int(_MOST_OUTLIERS * size))
    for t in range(size):
        outlier[t] = nearest[t] > limit
    return count


@lean_kernel
def _limit_of(values, most):
    """The least of the values that at most so many others exceed."""
    limit, left = math.inf, most
    while True:
        largest, equal = -math.inf, 0
        for value in values:
            if value < limit and value >= largest:
                equal = equal + 1 if value == largest else 1
                largest = value
        limit = largest
        if equal > left or equal == 0:  # there are no more values
            return limit
        left -= equal
