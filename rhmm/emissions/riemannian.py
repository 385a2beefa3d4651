"""The paper's emission: a Riemannian Gaussian in every state, eq. (1)."""

from collections import deque
from typing import NamedTuple

import numpy as np

from rhmm.emissions.law import NO_PRIOR, Prior, SummedLaw
from rhmm.manifolds import Manifold
from rhmm.parameters import dispersions_from_delta, log_densities, scaled_densities_into
from rhmm.threads import Map, spans

RIEMANNIAN = "riemannian"
"""Its name among the emissions, and the default."""
_ROUNDING = 1e-12
"""The share of itself by which rounding may make Σ w d² grow."""


class Distances(NamedTuple):
    """What means see of T points."""

    d2: np.ndarray
    """Squared distances, shape (N, T)."""
    layout: np.ndarray | None = None
    """What the manifold reads of the points besides: iterations of EM hand it on."""


class RiemannianGaussians(SummedLaw):
    """p(y | i) ∝ exp(−d²(y, c_i)/2σ_i²)."""

    emission = RIEMANNIAN

    def __init__(
        self,
        manifold: Manifold,
        means: np.ndarray,
        sigmas: np.ndarray,
        prior: Prior = NO_PRIOR,
        log_z: np.ndarray | None = None,
    ):
        """`log_z` is the logarithm of Z(σ), shape (N,), if it is known."""
        self.manifold, self.means, self.sigmas, self.prior = manifold, means, sigmas, prior
        self.log_z = manifold.gaussian.moments(sigmas).log_z if log_z is None else log_z

    @staticmethod
    def n_of_spread(emission, n, dim):
        return n

    def view(self, points):
        return Distances(self.manifold.squared_distances(points, self.means))

    def log_densities(self, view):
        return log_densities(self.manifold, view.d2, self.sigmas)

    def scaled_densities(self, view, each=map):
        density, shift = np.empty_like(view.d2), np.empty(view.d2.shape[1])
        eta = -0.5 / self.sigmas**2

        def fill(span: tuple[int, int]) -> None:
            scaled_densities_into(view.d2, eta, self.log_z, *span, density, shift)

        deque(each(fill, spans(view.d2.shape[1])), maxlen=0)
        return density, shift

    def maximised(self, points, weights, alive, view, min_sigma, frozen=(), each=map):
        """c_i takes a step to the weighted centre of mass, σ_i = δ⁻¹ of the weighted mean of d²."""
        means, sigmas, log_z = self.means.copy(), self.sigmas.copy(), self.log_z.copy()
        all_alive, layout = alive.all(), view.layout
        of_living, d2 = (weights, view.d2) if all_alive else (weights[alive], view.d2[alive])
        total = np.linalg.vecdot(of_living, d2)
        if "means" not in frozen:
            layout = self.manifold.layout(points) if layout is None else layout
            means[alive], d2, total = self._approach(
                points, of_living, means[alive], d2, total, each, layout
            )
            if not all_alive:
                d2_of_living, d2 = d2, view.d2.copy()
                d2[alive] = d2_of_living
            view = Distances(d2, layout)
        if "sigmas" not in frozen:
            weight, variance = self.prior
            spread = total + weight * self.manifold.dim * variance
            delta = spread / (of_living.sum(axis=1) + weight)
            sigmas[alive], log_z[alive] = dispersions_from_delta(self.manifold, delta, min_sigma)
        return RiemannianGaussians(self.manifold, means, sigmas, self.prior, log_z), view

    def _approach(
        self, points, weights, means, d2, total, each: Map, layout
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The means after one step towards their centres of mass, d² to them, and Σ w d² (N,).

        `d2` (N, T) and `total` are d² and Σ w d² before. One step of Newton's method is enough: it
        leads most of the way, the next iteration takes the next, and where nothing moves any more
        the centres of mass are reached. A mean whose step would lose likelihood goes there at once.
        """
        moved, d2 = self.manifold.approach(points, weights, means, d2, each, layout)
        after = np.linalg.vecdot(weights, d2)
        lost = ~(after <= total * (1.0 + _ROUNDING))
        if lost.any():
            moved[lost], d2[lost], _ = self.manifold.recentre(points, weights[lost], means[lost])
            after = np.linalg.vecdot(weights, d2)
        return moved, d2, after

    def log_prior(self):
        """−w (δ₀/2σ² + log Z(σ)) for every state, w being the weight of the prior and δ₀ its E[d²].

        A prior of this form is as if there were so many more observations at that distance.
        """
        weight, variance = self.prior
        if weight == 0.0:
            return 0.0
        spread = 0.5 * self.manifold.dim * variance / self.sigmas**2
        return -weight * float((spread + self.log_z).sum())

    def sums(self, points, weights):
        return self.manifold.centre_sums(points, weights, self.means)

    def stepped(self, sums, occupied, alive, share, min_sigma):
        """Each mean takes a `share` of Newton's step towards its centre of mass. δ is the mean of
        d² that the same quadratic model predicts there. Where nothing moves any more, neither would
        the full M-step: both have the same fixed points.
        """
        means, sigmas, log_z = self.means.copy(), self.sigmas.copy(), self.log_z.copy()
        means[alive], d2_sums = self.manifold.centre_steps(
            sums[alive], occupied[alive], means[alive], share
        )
        delta = d2_sums / occupied[alive]
        sigmas[alive], log_z[alive] = dispersions_from_delta(self.manifold, delta, min_sigma)
        return RiemannianGaussians(self.manifold, means, sigmas, log_z=log_z)

    def collapsed(self, min_sigma):
        return self.sigmas <= min_sigma

    def draw(self, state, size, rng):
        return self.manifold.sample(self.means[state], self.sigmas[state], size, rng)

    def permuted(self, order):
        means, sigmas, log_z = self.means[order], self.sigmas[order], self.log_z[order]
        return RiemannianGaussians(self.manifold, means, sigmas, self.prior, log_z)
