"""A split or a merge of states, compiled: what a climb goes on from."""

import numpy as np

from rhmm._jit import copy_into, kernel, lean_kernel
from rhmm.manifolds import verbs
from rhmm.search.climbing import approached
from rhmm.vector_math import dot, total

_STEPS = 2
"""Steps that means take towards the centres of mass of their weights."""
_LEAST = 1e-9
"""Added to all weights."""


@lean_kernel
def size_after(move, n):
    """How many of n states there are after a move: of what `Appraisal` says."""
    return n + (1 if move[0] >= 0 else 0) - (1 if move[3] >= 0 else 0)


@kernel
def make_move(geometry, points, layout, ends, move, gamma, before, least_delta, after, c, memory):
    """Make one move in the model `before`, whose posteriors are `gamma` (N, T), and write what EM
    goes on from as the model c of `after`; the memory gets the distances to its means.

    The new state comes last. Two that are merged take the place of the first.
    """
    state, first, second = move[0], move[3], move[4]
    prior, old_means = before.prior[0], before.means[0]
    transmat, means, delta = after.transmat[c], after.means[c], after.delta[c]
    n, size = memory.d2.shape
    weights = memory.density
    row = np.int64(0)
    for i in range(len(gamma)):
        if i != second:
            copy_into(means[row], old_means[i])
            copy_into(weights[row], gamma[i])
            row += 1
    if state >= 0:
        own = state - 1 if 0 <= second < state else state
        near, far = memory.d2[own], memory.d2[n - 1]
        copy_into(means[own], points[move[1]])
        copy_into(means[n - 1], points[move[2]])
        verbs.distances_to(geometry, layout, 0, size, means[own], near)
        verbs.distances_to(geometry, layout, 0, size, means[n - 1], far)
        kept, given = weights[own], weights[n - 1]
        for t in range(size):  # which side is a matter of chance: branches would be slow
            given[t] = kept[t] if far[t] < near[t] else 0.0
            kept[t] -= given[t]
    if second >= 0:
        if total(gamma[second]) > total(gamma[first]):
            copy_into(means[first], old_means[second])
        for t in range(size):
            weights[first, t] += gamma[second, t]
    _relate(weights, ends, transmat)
    for i in range(n):
        for t in range(size):
            weights[i, t] += _LEAST
        verbs.distances_to(geometry, layout, 0, size, means[i], memory.d2[i])
        for _ in range(_STEPS):
            delta[i] = approached(
                geometry, points, layout, weights[i], prior, least_delta, means[i], memory.d2[i]
            )
    after.prior[c] = prior


@lean_kernel
def _relate(weights, ends, transmat):
    """A from weights (N, T) alone, as if each observation did not know the next one's state."""
    n, size = weights.shape
    for i in range(n):
        leaving = 0.0
        for j in range(n):
            pairs = 1.0 / n + dot(weights[i], weights[j, 1:], size - 1)
            for s in range(len(ends) - 1):  # no transition leads from one sequence to the next
                pairs -= weights[i, ends[s] - 1] * weights[j, ends[s]]
            transmat[i, j] = pairs
            leaving += pairs
        for j in range(n):
            transmat[i, j] /= leaving
