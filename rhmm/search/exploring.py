"""One kernel for all that a search does: it begins with seeds, moves or parameters, climbs by EM,
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
from rhmm.search.climbing import Terms, climb, memory_for, outlying
from rhmm.search.move_kernel import make_move, size_after
from rhmm.search.sample import Sample
from rhmm.search.seeding import TRIALS, seed, without_far_points

_TOL = 1e-4
"""The gain in log-likelihood for each point that ends a climb, unless told otherwise."""
_LEAD = 2
"""Steps that means take towards the centres of mass of what a move gives them."""
_LOOKS = 4
"""Pairs of points that compete to be the seeds of a split."""


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
    """How far a search goes on from each of its beginnings."""

    kept: int
    """How many of them go on after the first look: the likeliest."""
    steps: int
    """Their EM iterations, at most."""
    first_steps: int = 1
    """The EM iterations before the first look, at most."""
    hope: float = -math.inf
    """The log-likelihood that a beginning must have after the first of several to go on."""
    least: float = -math.inf
    """The log-likelihood that it must exceed at the first look to go on."""


class _Begin(NamedTuple):
    """What a search begins with, beside a model."""

    uniforms: np.ndarray = np.empty((0, 0, 0))
    """Of seeds, shape (K, N, TRIALS); K is 0 if a model is given."""
    moves: np.ndarray = np.empty((0, 5), np.int64)
    """That are made in the given model, of what `Appraisal` says; K is 0 if it goes on itself."""
    gamma: np.ndarray = np.empty((0, 0))
    """Its posteriors, shape (N, T), if there are moves."""
    looks: np.ndarray = np.empty((0, 0, 0))
    """Of splits, shape (N, L, 2); N is 0 if there is nothing to appraise."""
    kept: int = 1
    """How many go on after the first look."""
    first_steps: int = 1
    """EM iterations before it."""
    least: float = -math.inf
    """The log-likelihood at the first look that those that go on exceed."""
    is_cold: bool = False
    """Whether all that is known of seeds are the means."""


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


def moved(sample: Sample, fit: Fit, moves: np.ndarray, effort: Effort) -> Fit | None:
    """The likeliest fit that any of these moves leads to, each of shape (5,): see `Appraisal`.

    All of them lead to the same number of states. None if there are none, or no hope for any.
    """
    if len(moves) == 0:
        return None
    model = _one_model(fit.transmat, fit.means, fit.delta, fit.prior)
    begin = _Begin(
        moves=moves, gamma=np.ascontiguousarray(fit.gamma.T), kept=effort.kept,
        first_steps=effort.first_steps, least=effort.least,
    )  # fmt: skip
    found = _explored(sample, model, begin, effort.steps, hope=effort.hope)[0]
    return found if found.log_likelihood > -math.inf else None


def appraised(
    sample: Sample, transmat, means, delta, prior: float, rng: np.random.Generator, steps: int = 0
) -> tuple[Fit, Appraisal]:
    """What EM reaches in at most so many iterations from these parameters, and what splits and
    merges of it promise."""
    model = _one_model(transmat, means, delta, prior)
    begin = _Begin(looks=rng.random((len(delta), _LOOKS, 2)))
    return _explored(sample, model, begin, steps)


def seeded(
    sample: Sample,
    n: int,
    rng: np.random.Generator,
    tried: int,
    effort: Effort,
    *,
    cold: bool = False,
) -> tuple[Fit, Appraisal]:
    """The likeliest of several starts with n states, and what splits and merges of it would make.

    If some points are far from all others, half of the starts are seeded from the rest. If `cold`,
    they are bare seeds.
    """
    uniforms, looks = rng.random((tried, n, TRIALS)), rng.random((n, _LOOKS, 2))
    begin = _Begin(
        uniforms, looks=looks, kept=effort.kept, first_steps=effort.first_steps, is_cold=cold
    )
    return _explored(sample, _NO_MODELS[sample.points.ndim - 1], begin, effort.steps)


def _one_model(transmat, means, delta, prior: float) -> _Models:
    return _Models(transmat[None], means[None], delta[None], np.array([prior]))


def _explored(
    sample: Sample,
    given: _Models,
    begin: _Begin,
    steps: int,
    least: float | None = None,
    hope: float = -math.inf,
) -> tuple[Fit, Appraisal]:
    manifold, points = sample.manifold, sample.points
    least = _TOL * len(points) if least is None else least
    terms = Terms(sample.least_delta, outlying(manifold.dim), steps, least, hope)
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
    models, moves = _begun(geometry, points, layout, given, begin, terms), begin.moves
    count, n = models.delta.shape
    memory = memory_for(n, size)
    kept, screened = min(begin.kept, count), np.zeros(count)
    judged = count if len(moves) > 0 or count > kept else 0
    best, highest, last = 0, -math.inf, -1
    for job in range(judged + kept + 1):
        steps = begin.first_steps if job < judged else terms.steps
        c = job if job < judged else _likeliest(screened)
        if job == judged + kept:  # the memory must be that of the best
            if last == best:
                break
            c, steps = best, 0
        elif job >= judged and not screened[c] > begin.least:  # NaN has no hope, either
            break
        lead = 0
        if job < len(moves):
            make_move(
                geometry, points, layout, ends, moves[c], begin.gamma, given, models, c, memory
            )
            lead = _LEAD
        found = climb(
            geometry, table, points, layout, ends,
            Terms(terms.least_delta, terms.limit, steps, terms.least, terms.hope), lead,
            models.prior[c], models.transmat[c], models.means[c], models.delta[c], memory,
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
    """What a search goes on from: seeds, copies of given models, or room for what moves make."""
    count, n = begin.uniforms.shape[0], begin.uniforms.shape[1]
    if len(begin.moves) > 0:
        count, n = len(begin.moves), size_after(begin.moves[0], given.delta.shape[1])
    elif count == 0:
        return _Models(
            given.transmat.copy(), given.means.copy(), given.delta.copy(), given.prior.copy()
        )
    models = _Models(
        np.empty((count, n, n)), np.empty((count, n, *points.shape[1:])), np.empty((count, n)),
        np.empty(count),
    )  # fmt: skip
    if len(begin.moves) == 0:
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
