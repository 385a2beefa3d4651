"""Where a search begins: greedy k-means++ seeds, judged after one iteration of EM."""

import numpy as np

from rhmm._jit import kernel, piece
from rhmm.clustering import place_seeds
from rhmm.gaussian.table import radial_table
from rhmm.manifolds import verbs
from rhmm.search.climbing import Fit, climb, climbed, outlying
from rhmm.search.sample import Sample

_TRIALS = 4
"""Points that compete to be the next seed."""


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
    manifold, points = sample.manifold, sample.points
    transmat = np.full((count, n, n), 1.0 / n)
    means, delta = np.empty((count, n, *points.shape[1:])), np.empty((count, n))
    prior, likelihood = np.empty(count), np.zeros(count)
    _screen(
        manifold.geometry, radial_table(manifold.gaussian), points, sample.ends,
        rng.random((count, n, _TRIALS)), sample.least_delta, outlying(manifold.dim), cold,
        transmat, means, delta, prior, likelihood,
    )  # fmt: skip
    return transmat, means, delta, prior, likelihood


@kernel
def _screen(
    geometry, table, points, ends, uniforms, least_delta, limit, cold,
    transmat, means, delta, prior, likelihood,
):  # fmt: skip
    """Seed every start; unless `cold`, cluster the points around its seeds and judge it."""
    n, size = len(delta[0]), len(points)
    layout = verbs.prepared(geometry, points)
    d2, alpha, density = np.empty((n, size)), np.empty((size, n)), np.empty((size, n))
    one = np.int64(1)  # a plain 1 would be a type of its own, and have `climb` compiled twice
    for c in range(len(uniforms)):
        spread = place_seeds(geometry, points, layout, uniforms[c], means[c], d2)
        prior[c] = max(spread, least_delta)
        delta[c] = prior[c]
        if not cold:
            _cluster(d2, prior[c], least_delta, delta[c], transmat[c])
            likelihood[c] = climb(
                geometry, table, points, ends, prior[c], least_delta, limit, one,
                transmat[c], means[c], delta[c], alpha, density,
            )  # fmt: skip


@piece
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
        transmat[i] /= transmat[i].sum()
