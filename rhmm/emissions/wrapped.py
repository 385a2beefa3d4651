"""Gaussians of any shape on a curved space: drawn in a tangent space and wrapped onto it.

A Gaussian N(0, Σ) in the tangent space at the origin is carried to the mean c by the isometry along
the geodesic between them, and onto the manifold by Exp. With u the normal coordinates of y at c,

    log p(y) = log N(u; 0, Σ) − log J(u)

with respect to the Riemannian volume, where J is the factor by which Exp enlarges volume: on H^d
(sinh r / r)^(d−1), on SPD(m) the product of sinh(x/2)/(x/2) over the differences x of eigenvalues
of the logarithm, on flat spaces 1. Nothing has to be integrated, whatever Σ.

An isometry of the data moves ``"isotropic"`` and ``"full"`` laws along. A shape that is shared by
states (``"tied"``) or bound to axes (``"diag"``) means something only in relation to the origin:
rotations about it move a tied law along. Re-centre the data first, see `rhmm.recentring`.
"""

from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from scipy.linalg import solve_triangular

from rhmm.emissions import covariances as kinds
from rhmm.emissions.law import NO_PRIOR, Law, Prior
from rhmm.manifolds import Manifold

_SHORTER = (1.0, 0.5, 0.2)
"""Shares of a step towards the centre of mass that are tried."""
_NEGLIGIBLE = 1e-18
"""Weights below this share of their mean change no digit of weighted sums."""
_ROUNDING = 1e-10
"""The share of itself by which rounding may make an expected log-likelihood fall."""


class View(NamedTuple):
    """What means see of the points."""

    coordinates: np.ndarray
    """Normal coordinates at each mean, shape (N, T, D)."""
    log_volume: np.ndarray
    """log J, shape (N, T)."""


class WrappedGaussians(Law):
    """Wrapped Gaussians with covariances of one kind, see `rhmm.emissions.covariances`."""

    covariances: np.ndarray
    kind: str
    """Of the covariances."""

    def __init__(
        self,
        manifold: Manifold,
        means: np.ndarray,
        emission: str,
        covariances: np.ndarray,
        prior: Prior = NO_PRIOR,
    ):
        self.manifold, self.means, self.emission = manifold, means, emission
        self.kind = kinds.kind_of(emission)
        self.covariances, self.prior = covariances, prior
        n, dim = len(means), manifold.dim
        self.matrices = kinds.matrices(self.kind, covariances, n, dim)
        """Σ_i, shape (N, D, D)."""
        self.variances = np.trace(self.matrices, axis1=1, axis2=2) / dim
        """tr Σ_i / D, shape (N,)."""
        self.sigmas = manifold.gaussian.sigma(dim * self.variances)

    @staticmethod
    def n_of_spread(emission, n, dim):
        return kinds.n_free(kinds.kind_of(emission), n, dim)

    def with_parameters(
        self, manifold: Manifold, means: np.ndarray, covariances: np.ndarray
    ) -> Self:
        """A law of the same emission under the same prior."""
        return type(self)(manifold, means, self.emission, covariances, self.prior)

    @cached_property
    def _whiteners(self) -> list[np.ndarray]:
        """W_i, lower triangular, with W Σ Wᵀ = I."""
        if self.kind == "tied":
            return [_whitener(self.covariances)] * len(self.means)
        return [_whitener(matrix) for matrix in self.matrices]

    def view(self, points):
        n, size = len(self.means), len(points)
        view = View(np.empty((n, size, self.manifold.dim)), np.empty((n, size)))
        for i, mean in enumerate(self.means):
            view.coordinates[i], view.log_volume[i] = self.manifold.normal_coordinates(mean, points)
        return view

    def log_densities(self, view):
        columns = [
            self._log_density(i, *of_one) for i, of_one in enumerate(zip(*view, strict=True))
        ]
        return np.stack(columns, axis=1)

    def _log_density(self, state: int, coordinates, log_volume) -> np.ndarray:
        radial = self.log_radial(self._squares(state, coordinates))
        return np.log(np.diagonal(self._whiteners[state])).sum() + radial - log_volume

    def _squares(self, state: int, coordinates: np.ndarray) -> np.ndarray:
        """uᵀ Σ⁻¹ u of coordinates (T, D), shape (T,)."""
        white = coordinates @ self._whiteners[state].T
        return np.einsum("td,td->t", white, white)

    def log_radial(self, squares: np.ndarray) -> np.ndarray:
        """The log density on flat space where Σ = I, from |u|²; both of shape (T,)."""
        return -0.5 * squares - 0.5 * self.manifold.dim * np.log(2.0 * np.pi)

    def pulling(self, state: int, weights: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """The weights (T,) by which points pull at the mean and the covariance of a state."""
        return weights

    def maximised(self, points, weights, alive, view, min_sigma, frozen=(), each=map):
        """Means move towards their centres of mass, then covariances are the likeliest there.

        The centre of mass of a wrapped Gaussian is its mean, as E[u] = 0. On a flat space the
        centre of mass of the points maximises the likelihood. On a curved one log J depends on the
        mean too, and the maximum has no closed form but lies nearby. So a mean steps towards the
        centre of mass as far as the expected log-likelihood does not fall: EM then never loses any.
        """
        means, dim, living = self.means.copy(), self.manifold.dim, np.flatnonzero(alive)
        counts = weights > _NEGLIGIBLE * weights.mean(axis=1, keepdims=True)
        if "means" not in frozen:
            keeps_shape = "covariances" in frozen

            def approach(i: int) -> np.ndarray:
                return self._approach(i, points, weights[i], counts[i], view, keeps_shape)

            for i, mean in zip(living, each(approach, living), strict=True):
                means[i] = mean
        if "covariances" in frozen:
            return self.with_parameters(self.manifold, means, self.covariances), view
        scatter, moved = np.zeros((len(means), dim, dim)), self._carried_to(means)
        for i in living:
            u = view.coordinates[i][counts[i]]
            scatter[i] = (u * moved.pulling(i, weights[i][counts[i]], u)[:, None]).T @ u
        new = kinds.estimated(
            self.kind, self.covariances, scatter, weights.sum(axis=1), alive, *self.prior,
            least=min_sigma**2,
        )  # fmt: skip
        return self.with_parameters(self.manifold, means, new), view

    def _carried_to(self, means: np.ndarray) -> Self:
        """The same law at other means. Own shapes go along the geodesics there, so that an isometry
        of the data moves them along; others are bound to the frames of the origin."""
        covariances = self.covariances
        if self.kind == "full":
            covariances = carried(self.manifold, self.means, means, covariances)
        return self.with_parameters(self.manifold, means, covariances)

    def _approach(
        self, state: int, points, weights, counts, view: View, keeps_shape: bool
    ) -> np.ndarray:
        """The mean after a step; the coordinates there are written into the view.

        Only points that `counts` (T,) says change a digit of weighted sums: steps are tried on
        these alone. Unless it `keeps_shape`, an own shape is carried along with the mean.
        """
        old, w, near = self.means[state], weights[counts], points[counts]
        coordinates, log_volume = view.coordinates[state], view.log_volume[state]
        seen = View(coordinates[counts], log_volume[counts])
        step, value = self._step(state, w, seen), w @ self._log_density(state, *seen)
        for share in _SHORTER:
            mean = self.manifold._from_normal(old, share * step[None])[0]
            if not self.manifold.belongs(mean):
                continue
            seen = View(*self.manifold.normal_coordinates(mean, near))
            coordinates_there = seen.coordinates
            if self.kind == "full" and not keeps_shape:
                coordinates_there = coordinates_there @ self.manifold.frame_turn(old, mean)
            new = w @ self._log_density(state, coordinates_there, seen.log_volume)
            if self.manifold.is_flat or new >= value - _ROUNDING * abs(value):
                coordinates[counts], log_volume[counts] = seen
                rest = self.manifold.normal_coordinates(mean, points[~counts])
                coordinates[~counts], log_volume[~counts] = rest
                return mean
        return old

    def _step(self, state: int, weights, seen: View) -> np.ndarray:
        """Newton's step towards the centre of mass in normal coordinates (D,), with the mean
        curvature in place of the Hessian.

        The trace of the Hessian of ½d² is D + 2 log J up to fourth powers of the distance.
        """
        pull = self.pulling(state, weights, seen.coordinates)
        total = pull.sum()
        curvature = 1.0 + 2.0 * (pull @ seen.log_volume) / (total * self.manifold.dim)
        return (pull @ seen.coordinates) / (total * curvature)

    def log_prior(self):
        """−½ w (log det Σ + v tr Σ⁻¹) for every covariance, w and v being those of the prior."""
        if self.prior.weight == 0.0:
            return 0.0
        distinct = self._whiteners[:1] if self.kind == "tied" else self._whiteners
        total = 0.0
        for whitener in distinct:
            total += 2.0 * np.log(np.diagonal(whitener)).sum()
            total -= self.prior.variance * (whitener**2).sum()
        return 0.5 * self.prior.weight * float(total)

    def collapsed(self, min_sigma):
        return self.variances <= min_sigma**2 * (1.0 + 1e-9)

    def draw(self, state, size, rng):
        coordinates = self._noise(size, rng) @ np.linalg.cholesky(self.matrices[state]).T
        return self.manifold.from_normal_coordinates(self.means[state], coordinates)

    def _noise(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of the law on flat space where Σ = I, shape (size, D)."""
        return rng.standard_normal((size, self.manifold.dim))

    def permuted(self, order):
        covariances = kinds.permuted(self.kind, self.covariances, order)
        return self.with_parameters(self.manifold, self.means[order], covariances)


def carried(manifold: Manifold, starts, ends, covariances: np.ndarray) -> np.ndarray:
    """Covariances (N, D, D) at some means, carried along the geodesics to others."""
    turns = np.stack([manifold.frame_turn(*pair) for pair in zip(starts, ends, strict=True)])
    return turns @ covariances @ np.swapaxes(turns, 1, 2)


def _whitener(covariance: np.ndarray) -> np.ndarray:
    return solve_triangular(np.linalg.cholesky(covariance), np.eye(len(covariance)), lower=True)
