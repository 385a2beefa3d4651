"""One kernel for all that a search does: it begins with seeds, weights or parameters, climbs by EM,
and appraises splits and merges of what it has found.

Every part of it needs the same recursions. Compiled together they take half of the time, and a
search that finds nothing to improve, as most do, is a single call.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel, lean_kernel
from rhmm.gaussian.table import radial_table
from rhmm.inference.both_ways import join
from rhmm.manifolds import verbs
from rhmm.search.appraising import Appraisal, appraise_merges, appraise_splits, best_move
from rhmm.search.climbing import Terms, approached, climb, memory_for, outlying
from rhmm.search.sample import Sample
from rhmm.search.seeding import TRIALS, seed, without_far_points

_TOL = 1e-4
"""The gain in log-likelihood for each point that ends a climb, unless told otherwise."""
_LOOKS = 4
"""Pairs of points that compete to be the seeds of a split."""
_FIRST_STEPS = 2
"""Steps that means take towards the centres of mass of given weights."""


class Fit(NamedTuple):
    """A model as EM left it on a sample."""

    transmat: np.ndarray
    means: np.ndarray
    delta: np.ndarray
    prior: float
    """The δ of one pseudo-observation of each state."""
    gamma: np.ndarray
    """P(state | sample), shape (T, N)."""
    log_likelihood: float
    """Of the sample."""

    @property
    def visits(self) -> np.ndarray:
        """Expected visits of each state, shape (N,)."""
        return self.gamma.sum(axis=0)

    @property
    def latest(self) -> np.ndarray:
        """Filtered probabilities of the last point, shape (N,)."""
        return self.gamma[-1].copy()

    def permuted(self, order: np.ndarray) -> "Fit":
        """The same fit with state ``order[i]`` renamed to i."""
        return self._replace(
            transmat=np.ascontiguousarray(self.transmat[np.ix_(order, order)]),
            means=self.means[order],
            delta=self.delta[order],
            gamma=self.gamma[:, order],
        )


class Effort(NamedTuple):
    """How hard a search looks."""

    tried: int
    """Starts that are judged."""
    kept: int
    """How many of them go on."""
    steps: int
    """Their EM iterations, at most."""
    is_cold: bool = False
    """Whether starts are bare seeds, which are not judged."""


class _Begin(NamedTuple):
    """What a search begins with."""

    uniforms: np.ndarray = np.empty((0, 0, 0))
    """Of seeds, shape (K, N, TRIALS); K is 0 if a model is given."""
    weights: np.ndarray = np.empty((0, 0))
    """Of the states of the given model, shape (N, T); N is 0 if it has all parameters."""
    looks: np.ndarray = np.empty((0, 0, 0))
    """Of splits, shape (N, L, 2); N is 0 if there is nothing to appraise."""
    kept: int = 1
    """How many of the seeds go on, after one iteration of EM."""
    is_cold: bool = False
    """Whether all that is known of them are the means."""


class _Models(NamedTuple):
    """K models."""

    transmat: np.ndarray
    """Shape (K, N, N)."""
    means: np.ndarray
    """Shape (K, N, *point_shape)."""
    delta: np.ndarray
    """Shape (K, N)."""
    prior: np.ndarray
    """Shape (K,)."""


_NO_MODELS = {
    rank: _Models(np.empty((0, 0, 0)), np.empty((0,) * (rank + 2)), np.empty((0, 0)), np.empty(0))
    for rank in (1, 2)
}


def climbed(
    sample: Sample, transmat, means, delta, prior: float, steps: int, least: float | None = None
) -> Fit:
    """What EM reaches in at most so many iterations from these parameters.

    It rests when an iteration gains less than `least` nats, by default 10⁻⁴ for each point.
    """
    model = _one_model(transmat, means, delta, prior)
    return _explored(sample, model, _Begin(), steps, least)[0]


def fitted(sample: Sample, weights, means, prior: float, steps: int) -> Fit:
    """What EM reaches from states that explain the sample with these weights (N, T)."""
    n, before = len(means), weights.copy()
    before[:, sample.ends - 1] = 0.0  # no transition leads from one sequence to the next
    pairs = before[:, :-1] @ weights[:, 1:].T + 1.0 / n
    model = _one_model(pairs / pairs.sum(axis=1, keepdims=True), means, np.ones(n), prior)
    begin = _Begin(weights=weights + 1e-9)
    return _explored(sample, model, begin, steps)[0]


def appraised(
    sample: Sample, transmat, means, delta, prior: float, rng: np.random.Generator, steps: int = 0
) -> tuple[Fit, Appraisal]:
    """What EM reaches in at most so many iterations from these parameters, and what splits and
    merges of it promise."""
    model = _one_model(transmat, means, delta, prior)
    begin = _Begin(looks=rng.random((len(delta), _LOOKS, 2)))
    return _explored(sample, model, begin, steps)


def seeded(
    sample: Sample, n: int, rng: np.random.Generator, effort: Effort
) -> tuple[Fit, Appraisal]:
    """The likeliest of several starts with n states, and what splits and merges of it would make.

    If some points are far from all others, half of the starts are seeded from the rest.
    """
    uniforms, looks = rng.random((effort.tried, n, TRIALS)), rng.random((n, _LOOKS, 2))
    begin = _Begin(uniforms, looks=looks, kept=effort.kept, is_cold=effort.is_cold)
    return _explored(sample, _NO_MODELS[sample.points.ndim - 1], begin, effort.steps)


def _one_model(transmat, means, delta, prior: float) -> _Models:
    return _Models(transmat[None], means[None], delta[None], np.array([prior]))


def _explored(
    sample: Sample, given: _Models, begin: _Begin, steps: int, least: float | None = None
) -> tuple[Fit, Appraisal]:
    manifold, points = sample.manifold, sample.points
    least = _TOL * len(points) if least is None else least
    terms = Terms(sample.least_delta, outlying(manifold.dim), steps, least)
    transmat, means, delta, prior, gamma, likelihood, appraisal = _explore(
        manifold.geometry, radial_table(manifold.gaussian), points, sample.ends, given, begin,
        terms,
    )  # fmt: skip
    fit = Fit(transmat, means, delta, prior, gamma.T, likelihood)
    return fit, Appraisal(*appraisal)


@kernel
def _explore(geometry, table, points, ends, given, begin, terms):
    """Search for the best of several models; returns its parameters, what a `Fit` has of it
    besides, and the appraisal of its moves.
    """
    layout, size = verbs.prepared(geometry, points), len(points)
    models = _begun(geometry, points, layout, given, begin, terms)
    count, n = models.delta.shape
    memory = memory_for(n, size)
    for i in range(len(begin.weights)):
        mean, weights, d2 = models.means[0, i], begin.weights[i], memory.d2[i]
        verbs.distances_to(geometry, layout, 0, size, mean, d2)
        for _ in range(_FIRST_STEPS):
            models.delta[0, i] = approached(
                geometry, points, layout, weights, models.prior[0], terms.least_delta, mean, d2
            )
    judged, screened = count if count > begin.kept else 0, np.zeros(count)
    best, highest, last = 0, -math.inf, -1
    for job in range(judged + begin.kept + 1):
        steps = 1 if job < judged else terms.steps
        c = job if job < judged else _likeliest(screened)
        if job == judged + begin.kept:  # the memory must be that of the best
            if last == best:
                break
            c, steps = best, 0
        found = climb(
            geometry, table, points, layout, ends,
            Terms(terms.least_delta, terms.limit, steps, terms.least), models.prior[c],
            models.transmat[c], models.means[c], models.delta[c], memory,
        )  # fmt: skip
        last = c
        if job < judged:
            screened[c] = found
        else:
            screened[c] = -math.inf
            if found > highest:
                best, highest = c, found
    join(
        models.transmat[best], memory.density, 0, size, memory.alpha, memory.beta, np.empty((n, n))
    )
    looked = len(begin.looks)
    appraisal = Appraisal(
        np.empty(looked), np.empty((looked, 2), np.int64), np.empty((looked, looked)), -math.inf
    )
    if looked > 0:
        appraise_splits(
            geometry, table, points, layout, memory, models.delta[best], terms.least_delta,
            begin.looks, appraisal, np.empty((4, size)),
        )  # fmt: skip
        appraise_merges(
            geometry, table, memory.alpha, models.means[best], models.delta[best], appraisal
        )
    # As plain tuples: Python takes longer to make others.
    return (
        models.transmat[best], models.means[best], models.delta[best], models.prior[best],
        memory.alpha, highest,
        (appraisal.gain, appraisal.seeds, appraisal.loss, best_move(appraisal)),
    )  # fmt: skip


@kernel
def _begun(geometry, points, layout, given, begin, terms):
    """What a search goes on from: seeds, or copies of the given models."""
    if len(begin.uniforms) == 0:
        return _Models(
            given.transmat.copy(), given.means.copy(), given.delta.copy(), given.prior.copy()
        )
    count, n = begin.uniforms.shape[0], begin.uniforms.shape[1]
    models = _Models(
        np.empty((count, n, n)), np.empty((count, n, *points.shape[1:])), np.empty((count, n)),
        np.empty(count),
    )  # fmt: skip
    _seed_all(geometry, points, layout, begin, terms, models)
    return models


@lean_kernel
def _likeliest(likelihoods):
    """The place of the largest, and of the first of these."""
    best = 0
    for c in range(1, len(likelihoods)):
        if likelihoods[c] > likelihoods[best]:
            best = c
    return best


@kernel
def _seed_all(geometry, points, layout, begin, terms, models):
    """Seed every start: the first from all points, others without outliers if there are any."""
    near = without_far_points(geometry, points, layout)
    count, n = models.delta.shape
    of_all = count if len(near) == len(points) else count // 2
    for part in range(2):
        first, last = (0, of_all) if part == 0 else (of_all, count)
        among = points if part == 0 else near
        if first < last:
            prepared, d2 = verbs.prepared(geometry, among), np.empty((n, len(among)))
            for c in range(first, last):
                models.prior[c] = seed(
                    geometry, among, prepared, begin.uniforms[c], terms.least_delta,
                    begin.is_cold, models.transmat[c], models.means[c], models.delta[c], d2,
                )  # fmt: skip
