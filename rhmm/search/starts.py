"""Where a search begins: greedy k-means++ seeds, judged after one iteration of EM."""

import numpy as np

from rhmm._jit import kernel
from rhmm.clustering import place_seeds
from rhmm.manifolds import verbs
from rhmm.parameters import median
from rhmm.search.climbing import Fit, climb_all, climbed
from rhmm.search.sample import Sample

_TRIALS = 4
"""Points that compete to be the next seed."""
_LOOKS, _FAR, _MOST_FAR = 9, 25.0, 0.03
"""Points from which the d² of all others are compared, an odd number; how many times the usual one
is far, and the share of the points that can be."""


def starts(
    sample: Sample, n: int, rng: np.random.Generator, *, tried: int, kept: int, steps: int
) -> list[Fit]:
    """The likeliest starts with n states each, after so many more iterations of EM each."""
    transmat, means, delta, prior, likelihood = _screened(sample, n, rng, tried, cold=False)
    chosen = np.argsort(-likelihood, kind="stable")[:kept]
    found = [climbed(sample, transmat[c], means[c], delta[c], prior[c], steps) for c in chosen]
    return sorted(found, key=lambda fit: -fit.log_likelihood)


def seeds(sample: Sample, n: int, rng: np.random.Generator) -> Fit:
    """A bare start: it has points for means, one δ, and a chain that goes anywhere."""
    transmat, means, delta, prior, _ = _screened(sample, n, rng, 1, cold=True)
    return climbed(sample, transmat[0], means[0], delta[0], prior[0], 0)


def _screened(sample: Sample, n: int, rng, count: int, *, cold: bool):
    """So many starts; unless `cold`, each after one iteration of EM, with its log-likelihood.

    If some points are far from all others, half of the starts do without them.
    """
    manifold, points = sample.manifold, sample.points
    transmat = np.full((count, n, n), 1.0 / n)
    means, delta = np.empty((count, n, *points.shape[1:])), np.empty((count, n))
    prior, uniforms = np.empty(count), rng.random((count, n, _TRIALS))
    near = _without_far_points(sample)
    of_all = count if len(near) == len(points) else count // 2
    for part, among in ((slice(of_all), points), (slice(of_all, count), near)):
        _seed(
            manifold.geometry, among, uniforms[part], sample.least_delta, cold, transmat[part],
            means[part], delta[part], prior[part],
        )  # fmt: skip
    likelihood = np.zeros(count) if cold else climb_all(sample, transmat, means, delta, prior, 1)
    return transmat, means, delta, prior, likelihood


def _without_far_points(sample: Sample) -> np.ndarray:
    """The points but for outliers, of which every seeding would take as many as it can."""
    points = sample.points
    looks = np.linspace(0, len(points) - 1, _LOOKS).astype(int)
    d2 = sample.manifold.squared_distances(points, points[looks])
    away = np.sort(d2, axis=0)[_LOOKS // 2]
    most = int(_MOST_FAR * len(points))
    furthest = np.partition(away, len(points) - 1 - most)[len(points) - 1 - most]
    near = away <= max(furthest, _FAR * median(away))
    return points if near.all() else points[near]


@kernel
def _seed(geometry, points, uniforms, least_delta, cold, transmat, means, delta, prior):
    """Seed every start; unless `cold`, cluster the points around its seeds."""
    n, size = len(delta[0]), len(points)
    layout, d2 = verbs.prepared(geometry, points), np.empty((n, size))
    for c in range(len(uniforms)):
        spread = place_seeds(geometry, points, layout, uniforms[c], means[c], d2)
        prior[c] = max(spread, least_delta)
        delta[c] = prior[c]
        if not cold:
            _cluster(d2, prior[c], least_delta, delta[c], transmat[c])


@kernel
def _cluster(d2, prior, least_delta, delta, transmat):
    """δ and A from the nearest seed of every point, under a weak prior."""
    n, size = d2.shape
    count = np.ones(n)
    delta[:] = prior
    transmat[:] = 1.0 / n
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
        total = transmat[i].sum()
        for j in range(n):
            transmat[i, j] /= total
