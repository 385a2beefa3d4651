"""Where a search begins: greedy k-means++ seeds, and what clusters around them tell."""

import numpy as np

from rhmm._jit import copy_into, kernel
from rhmm.clustering import place_seeds
from rhmm.manifolds import verbs
from rhmm.ranks import median, nth_smallest

TRIALS = 4
"""Points that compete to be the next seed."""
_LOOKS, _FAR, _MOST_FAR = 9, 25.0, 0.03
"""Points from which the d² of all others are compared, an odd number; how many times the usual one
is far, and the share of the points that can be."""


@kernel
def without_far_points(geometry, points, layout):
    """The points but for outliers, of which every seeding would take as many as it can."""
    size = len(points)
    d2, away, looks = np.empty((_LOOKS, size)), np.empty(size), np.empty(_LOOKS)
    for u in range(_LOOKS):
        look = points[u * (size - 1) // (_LOOKS - 1)]
        verbs.distances_to(geometry, layout, 0, size, look, d2[u])
    for t in range(size):
        for u in range(_LOOKS):
            looks[u] = d2[u, t]
        away[t] = nth_smallest(looks, _LOOKS // 2)
    ranked = away.copy()
    furthest = nth_smallest(ranked, size - 1 - int(_MOST_FAR * size))
    limit = max(furthest, _FAR * median(ranked))
    near, count = np.empty_like(points), 0
    for t in range(size):
        if away[t] <= limit:
            copy_into(near[count], points[t])
            count += 1
    return near[:count] if count > 0 else points  # NaN is nowhere


@kernel
def seed(geometry, points, layout, uniforms, least_delta, cold, transmat, means, delta, d2):
    """Means at points that are drawn by `uniforms` (N, TRIALS); unless `cold`, A and δ from the
    clusters around them. `d2` (N, T) is working memory. Returns δ of all points as a prior."""
    n = len(delta)
    prior = max(place_seeds(geometry, points, layout, uniforms, means, d2), least_delta)
    for i in range(n):
        delta[i] = prior
        for j in range(n):
            transmat[i, j] = 1.0 / n
    if not cold:
        _cluster(d2, least_delta, delta, transmat)
    return prior


@kernel
def _cluster(d2, least_delta, delta, transmat):
    """δ and A from the nearest seed of every point, added to a weak prior."""
    n, size = d2.shape
    count = np.empty(n)
    for i in range(n):
        count[i] = 1.0
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
