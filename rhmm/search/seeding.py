"""Where a search begins: greedy k-means++ seeds, and what clusters around them tell."""

import numpy as np

from rhmm._jit import kernel
from rhmm.clustering import place_seeds

TRIALS = 4
"""Points that compete to be the next seed."""


@kernel
def seed(geometry, points, layout, uniforms, least_delta, cold, transmat, means, delta, d2):
    """Means at points that are drawn by `uniforms` (N, TRIALS); unless `cold`, A and δ from the
    clusters around them. `d2` (N, T) is working memory. Returns δ of all points as a prior."""
    n = len(delta)
    prior = max(place_seeds(geometry, points, layout, uniforms, means, d2), least_delta)
    delta[:] = prior
    transmat[:] = 1.0 / n
    if not cold:
        _cluster(d2, least_delta, delta, transmat)
    return prior


@kernel
def _cluster(d2, least_delta, delta, transmat):
    """δ and A from the nearest seed of every point, added to a weak prior."""
    n, size = d2.shape
    count = np.ones(n)
    last = -1
    for t in range(size):
        label = 0
        for i in range(1, n):
            if d2[i, t] < d2[label, t]:
                label = i
        count[label] += 1.0
        delta[label] += d2[label, t]
        if t > 0:
            transmat[last, label] += 1.0
        last = label
    for i in range(n):
        delta[i] = max(delta[i] / count[i], least_delta)
        total = 0.0
        for j in range(n):
            total += transmat[i, j]
        for j in range(n):
            transmat[i, j] /= total
