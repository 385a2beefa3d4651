"""A split or a merge of states, compiled: what a climb goes on from."""

from rhmm._jit import copy_into, lean_kernel
from rhmm.manifolds import verbs
from rhmm.search.climbing import scale_rows
from rhmm.vector_math import dot, total

_LEAST = 1e-9
"""Added to all weights."""


@lean_kernel
def size_after(move, n):
    """How many of n states there are after a move: of what `Appraisal` says."""
    return n + (1 if move[0] >= 0 else 0) - (1 if move[3] >= 0 else 0)


@lean_kernel
def make_move(geometry, points, layout, ends, move, gamma, before, after, c, memory):
    """Make one move in the model `before`, whose posteriors are `gamma` (N, T), and write what a
    climb goes on from: A and means as the model c of `after`, and weights into `memory.alpha`.

    The new state comes last. Two that are merged take the place of the first.
    """
    state, first, second = move[0], move[3], move[4]
    old_means, means, weights = before.means[0], after.means[c], memory.alpha
    n, size = weights.shape
    row = 0
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
    _relate(weights, ends, after.transmat[c])
    for i in range(n):
        for t in range(size):
            weights[i, t] += _LEAST
    after.prior[c] = before.prior[0]


@lean_kernel
def _relate(weights, ends, transmat):
    """A from weights (N, T) alone, as if each observation did not know the next one's state."""
    n, size = weights.shape
    for i in range(n):
        for j in range(n):
            pairs = 1.0 / n + dot(weights[i], weights[j, 1:], size - 1)
            for s in range(len(ends) - 1):  # no transition leads from one sequence to the next
                pairs -= weights[i, ends[s] - 1] * weights[j, ends[s]]
            transmat[i, j] = pairs
    scale_rows(transmat, transmat)
