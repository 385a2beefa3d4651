"""EM on a small sample, compiled: what judges starts and moves.

It differs from `rhmm.learners.em` in what a small sample needs: a weak prior keeps a state that
explains few points from collapsing, means take one step at a time, log Z comes from a table, and
points far from every state are left out, so that a few outliers do not decide where a fit begins.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel, lean_kernel
from rhmm.gaussian.table import half_precision_and_log_z, radial_table
from rhmm.inference.forward import forward_pass
from rhmm.inference.forward_backward import smooth_pass
from rhmm.manifolds import verbs
from rhmm.parameters import scaled_densities_into
from rhmm.search.sample import Sample

_LEAST_WEIGHT = 1e-6
"""A state that explains fewer expected points than this keeps its mean."""
_TOL = 1e-4
"""The gain in log-likelihood for each point that ends the climb, unless told otherwise."""
_MOST_OUTLIERS = 0.03
"""The share of the points that can be outliers."""


class Fit(NamedTuple):
    """A model as EM left it on a sample."""

    transmat: np.ndarray
    means: np.ndarray
    delta: np.ndarray
    prior: float
    """The δ of one pseudo-observation of each state."""
    gamma: np.ndarray
    """P(state | sample), shape (T, N)."""
    latest: np.ndarray
    """Filtered probabilities of the last point, shape (N,)."""
    log_likelihood: float
    """Of the sample."""

    @property
    def visits(self) -> np.ndarray:
        """Expected visits of each state, shape (N,)."""
        return self.gamma.sum(axis=0)

    def permuted(self, order: np.ndarray) -> "Fit":
        """The same fit with state ``order[i]`` renamed to i."""
        of_states = {name: getattr(self, name)[order] for name in ("means", "delta", "latest")}
        transmat = np.ascontiguousarray(self.transmat[np.ix_(order, order)])
        return self._replace(transmat=transmat, gamma=self.gamma[:, order], **of_states)


def climbed(
    sample: Sample, transmat, means, delta, prior: float, steps: int, least: float | None = None
) -> Fit:
    """What EM reaches in at most so many iterations from these parameters.

    It rests when an iteration gains less than `least` nats, by default 10⁻⁴ for each point.
    """
    transmat, means, delta = transmat.copy(), means.copy(), delta.copy()
    alpha, density = np.empty((2, len(sample.points), len(delta)))
    likelihood = climb_all(
        sample, transmat[None], means[None], delta[None], np.array([prior]), steps, least, alpha,
        density,
    )  # fmt: skip
    latest = alpha[-1].copy()
    smooth_pass(alpha, density, transmat, sample.ends, np.zeros_like(transmat))
    return Fit(transmat, means, delta, prior, alpha, latest, float(likelihood[0]))


def climb_all(
    sample: Sample, transmat, means, delta, prior, steps: int, least: float | None = None,
    alpha=None, density=None,
) -> np.ndarray:  # fmt: skip
    """EM from K starts, in place: `transmat` (K, N, N), `means` (K, N, …), `delta` (K, N) and
    `prior` (K,). Returns their log-likelihoods (K,).

    Each rests when an iteration gains less than `least` nats, by default 10⁻⁴ for each point.
    Filtered probabilities and scaled densities of the last one go to `alpha` and `density`, of
    shape (T, N).
    """
    manifold, likelihood = sample.manifold, np.empty(len(prior))
    if alpha is None:
        alpha, density = np.empty((2, len(sample.points), delta.shape[1]))
    least = _TOL * len(sample.points) if least is None else least
    _climb_all(
        manifold.geometry, radial_table(manifold.gaussian), sample.points, sample.ends,
        sample.least_delta, outlying(manifold.dim), steps, least, prior, transmat, means, delta,
        alpha, density, likelihood,
    )  # fmt: skip
    return likelihood


@lean_kernel
def outlying(dim: int) -> float:
    """d²/2σ² of an outlier, at least: far beyond what Gaussians of this dimension have."""
    return 0.5 * dim + 10.0 * math.sqrt(0.5 * dim) + 10.0


@kernel
def _climb_all(
    geometry, table, points, ends, least_delta, limit, steps, least, prior, transmat, means, delta,
    alpha, density, likelihood,
):  # fmt: skip
    for c in range(len(prior)):
        likelihood[c] = _climb(
            geometry, table, points, ends, least_delta, limit, steps, least, prior[c],
            transmat[c], means[c], delta[c], alpha, density,
        )  # fmt: skip


@kernel
def _climb(
    geometry, table, points, ends, least_delta, limit, steps, least, prior, transmat, means, delta,
    alpha, density,
):  # fmt: skip
    """Up to `steps` EM iterations on sequences that stop at `ends`, in place.

    Leaves filtered probabilities of shape (T, N) in `alpha`, the densities behind them, each row up
    to a factor, in `density`, and returns the log-likelihood, in which an outlier counts as if its
    d²/2σ² were `limit`.
    """
    n, size = len(delta), len(points)
    d2, weights, zeta_sum = np.empty((n, size)), np.empty((n, size)), np.empty((n, n))
    outlier = np.zeros(size, np.bool_)
    layout = verbs.prepared(geometry, points)
    for i in range(n):
        verbs.distances_to(geometry, layout, 0, size, means[i], d2[i])
    likelihood = _filter(table, d2, ends, limit, delta, transmat, alpha, density, outlier)
    for _ in range(steps):
        zeta_sum[:] = 1.0 / n
        smooth_pass(alpha, density, transmat, ends, zeta_sum)
        for i in range(n):
            occupied, leaving, spread = 0.0, 0.0, 0.0
            for t in range(size):
                weights[i, t] = 0.0 if outlier[t] else alpha[t, i]
                occupied += weights[i, t]
            for j in range(n):
                leaving += zeta_sum[i, j]
            for j in range(n):
                transmat[i, j] = zeta_sum[i, j] / leaving
            if occupied > _LEAST_WEIGHT:
                verbs.approach(geometry, points, layout, weights[i], means[i], d2[i])
            for t in range(size):
                spread += weights[i, t] * d2[i, t]
            delta[i] = max((spread + prior) / (occupied + 1.0), least_delta)
        before = likelihood
        likelihood = _filter(table, d2, ends, limit, delta, transmat, alpha, density, outlier)
        if likelihood - before < least:
            break
    return likelihood


@kernel
def _filter(table, d2, ends, limit, delta, transmat, alpha, density, outlier):
    """Filtered probabilities from a flat start, into `alpha`; returns the log-likelihood."""
    n, size = d2.shape
    eta, log_z, shift = np.empty(n), np.empty(n), np.empty(size)
    for i in range(n):
        half_precision, log_z[i] = half_precision_and_log_z(table, delta[i])
        eta[i] = -half_precision
    scaled_densities_into(d2, eta, log_z, 0, size, density, shift)
    if _find_outliers(d2, eta, limit, outlier) > 0:
        for t in range(size):
            if outlier[t]:
                density[t], shift[t] = 1.0, -math.inf
                for i in range(n):
                    shift[t] = max(shift[t], max(eta[i] * d2[i, t], -limit) - log_z[i])
    return forward_pass(np.full(n, 1.0 / n), transmat, density, shift, ends, False, alpha)


@kernel
def _find_outliers(d2, eta, limit, outlier):
    """Mark the points whose d²/2σ² is above `limit` in every state: the furthest of them, if they
    are many. Returns how many lie above.
    """
    n, size = d2.shape
    nearest, count = np.full(size, math.inf), 0
    for i in range(n):
        for t in range(size):
            nearest[t] = min(nearest[t], -eta[i] * d2[i, t])
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
