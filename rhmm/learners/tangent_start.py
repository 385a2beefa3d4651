"""Where EM begins with wrapped laws: many short runs in one tangent space, the best goes on.

A search with isotropic Gaussians (`rhmm.search`) finds round clusters. Where states differ in
directions in which they vary little, it is lost, and so is EM that begins with it. In the tangent
space at the centre of mass of all data space is flat, and a step of EM under the very emission that
was asked for is a few products of matrices: many starts can compete there.
"""

from typing import NamedTuple

import numpy as np

from rhmm.clustering import nearest, plus_plus_seeds
from rhmm.emissions import (
    RIEMANNIAN,
    STUDENTS,
    Law,
    Prior,
    RiemannianGaussians,
    WrappedGaussians,
    WrappedStudents,
)
from rhmm.emissions import covariances as kinds
from rhmm.emissions.student import FIRST_DEGREES
from rhmm.emissions.wrapped import carried
from rhmm.learners.baum_welch import Iterate, Monitor, climb
from rhmm.manifolds import Euclidean, Manifold
from rhmm.parameters import sigmas_from_delta
from rhmm.search import Sample, sample_for, search

_TRIALS = 4
"""Points that compete to be the next seed."""
_LLOYD = 3
"""Iterations of K-means before EM begins."""
_SHORT, _LONG, _KEPT = 10, 40, 3
"""EM steps of every start, of the best ones, and how many these are."""
_LAST = 10
"""EM steps on the manifold itself that decide between the tangent space and the search."""
_STAY = 0.9
"""How likely a state is to follow itself, before anything is known."""
_TOL = 1e-2
"""The gain that ends a run."""


class Emission(NamedTuple):
    """The law of observations that EM is asked for, see `rhmm.learners.em.RiemannianHMM`."""

    name: str
    shrinkage: float | None = None
    prior_variance: float | None = None
    """The mean of d² over the dimension of a Gaussian with the prior's σ."""
    degrees: float | None = None

    def prior(self, manifold: Manifold, variances: np.ndarray) -> Prior:
        """Of each spread; those of the start, shape (N,), say what is not given."""
        default = 0.0 if self.name == RIEMANNIAN else float(manifold.dim)
        weight = default if self.shrinkage is None else float(self.shrinkage)
        given = self.prior_variance
        return Prior(weight, float(variances.mean()) if given is None else given)


def wrapped_law(
    manifold: Manifold, means: np.ndarray, variances: np.ndarray, emission: Emission
) -> WrappedGaussians:
    """Laws without a preferred direction, from a variance for each state, shape (N,)."""
    kind = kinds.kind_of(emission.name)
    covariances = kinds.from_variances(kind, variances, manifold.dim)
    prior = emission.prior(manifold, variances)
    given = (manifold, means, emission.name, covariances, prior)
    if emission.name not in STUDENTS:
        return WrappedGaussians(*given)
    if emission.degrees is None:
        return WrappedStudents(*given, degrees=FIRST_DEGREES, learns_degrees=True)
    return WrappedStudents(*given, degrees=float(emission.degrees))


def law_like(
    law: Law, emission: Emission, min_sigma: float
) -> RiemannianGaussians | WrappedGaussians:
    """A law of this emission that begins where `law` is, with the same E[d²] in every state."""
    manifold, sigmas = law.manifold, np.maximum(law.sigmas, min_sigma)
    variances = manifold.gaussian.moments(sigmas).delta / manifold.dim
    if emission.name == RIEMANNIAN:
        return RiemannianGaussians(manifold, law.means, sigmas, emission.prior(manifold, variances))
    start = wrapped_law(manifold, law.means, variances, emission)
    if isinstance(law, WrappedGaussians) and law.kind == start.kind:
        start = start.with_parameters(manifold, law.means, law.covariances)
    if isinstance(start, WrappedStudents) and start.learns_degrees and law.degrees is not None:
        start = start.with_degrees(law.degrees)
    return start


def searched_start(
    emission: Emission,
    manifold: Manifold,
    X: np.ndarray,
    observed: np.ndarray,
    lengths: np.ndarray,
    n: int,
    rng: np.random.Generator,
    *,
    tried: int,
    min_sigma: float,
) -> Iterate:
    """A start with n states and this emission: a search with the paper's (`rhmm.search`), then more
    starts in the tangent space if the emission has shapes."""
    least_delta = float(manifold.delta(min_sigma))
    found = search(manifold, X, observed, lengths, n, rng, tried=tried, least_delta=least_delta)
    sigmas = sigmas_from_delta(manifold, found.delta, min_sigma)
    law = RiemannianGaussians(manifold, found.means, sigmas)
    start = Iterate(np.full(n, 1.0 / n), found.transmat, law)
    return start_with(emission, X, observed, lengths, start, rng, tried=tried, min_sigma=min_sigma)


def start_with(
    emission: Emission,
    X: np.ndarray,
    observed: np.ndarray,
    lengths: np.ndarray,
    start: Iterate,
    rng: np.random.Generator,
    *,
    tried: int,
    min_sigma: float,
) -> Iterate:
    """A start with this emission, from one with the paper's."""
    law = law_like(start.law, emission, min_sigma)
    start = start._replace(law=law)
    if not isinstance(law, WrappedGaussians):
        return start
    return best_start(
        X, observed, lengths, start, rng, tried=tried, emission=emission, min_sigma=min_sigma
    )


def best_start(
    X: np.ndarray,
    observed: np.ndarray,
    lengths: np.ndarray,
    found: Iterate,
    rng: np.random.Generator,
    *,
    tried: int,
    emission: Emission,
    min_sigma: float,
) -> Iterate:
    """The best of `tried` starts in the tangent space, or `found`, if it is better than these.

    `found` has wrapped Gaussians; X has shape (T, *point_shape).
    """
    manifold, n = found.law.manifold, len(found.startprob)
    sample = sample_for(manifold, X, observed, lengths, float(manifold.delta(min_sigma)), n)
    centre = manifold.mean(sample.points)
    flat = sample._replace(
        manifold=Euclidean(manifold.dim),
        points=np.ascontiguousarray(manifold.normal_coordinates(centre, sample.points)[0]),
    )
    runs = [
        _climbed(flat, _seeded(flat, n, emission, min_sigma, rng), _SHORT, min_sigma)
        for _ in range(tried)
    ]
    runs = sorted(runs, key=_likelihood)[-_KEPT:]
    _, best = max((_climbed(flat, run[1], _LONG, min_sigma) for run in runs), key=_likelihood)
    shapes = best.law
    assert isinstance(shapes, WrappedGaussians)
    means, covariances = manifold.from_normal_coordinates(centre, shapes.means), shapes.covariances
    if shapes.kind == "full":
        covariances = carried(manifold, [centre] * n, means, covariances)
    law = shapes.with_parameters(manifold, means, covariances)
    candidates = [best._replace(law=law), found]
    return max((_climbed(sample, one, _LAST, min_sigma) for one in candidates), key=_likelihood)[1]


def _climbed(
    sample: Sample, start: Iterate, steps: int, min_sigma: float
) -> tuple[Monitor, Iterate]:
    lengths = np.diff(sample.ends, prepend=0)
    observed = np.ones(len(sample.points), bool)
    monitor, reached, _ = climb(
        sample.points, observed, lengths, start, n_iter=steps, tol=_TOL, min_sigma=min_sigma
    )
    return monitor, reached


def _likelihood(run: tuple[Monitor, Iterate]) -> float:
    """Without the prior, which is not the same for all runs."""
    return run[0].log_likelihood[-1]


def _seeded(sample: Sample, n: int, emission: Emission, min_sigma: float, rng) -> Iterate:
    """K-means from random seeds, and the law of its clusters."""
    manifold, points = sample.manifold, sample.points
    means = plus_plus_seeds(manifold, points, n, rng, _TRIALS)
    for _ in range(_LLOYD):
        labels, d2 = nearest(manifold.squared_distances(points, means))
        weights = (labels == np.arange(n)[:, None]).astype(float)
        alive = weights.sum(axis=1) > 0.0
        means[alive] = manifold.recentre(points, weights[alive], means[alive])[0]
    variance = max(float(d2.mean()) / manifold.dim, min_sigma**2)
    law = wrapped_law(manifold, means, np.full(n, variance), emission)
    law, _ = law.maximised(points, weights, alive, law.view(points), min_sigma)
    transmat = np.full((n, n), (1.0 - _STAY) / n) + _STAY * np.eye(n)
    return Iterate(np.full(n, 1.0 / n), transmat, law)
