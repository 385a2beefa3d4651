"""Heavy tails on a curved space: Student's law, drawn in a tangent space and wrapped onto it.

A law ∝ (1 + d²/νσ²)^−(ν+D)/2 cannot be normalised on hyperbolic space or on SPD matrices, where
volume grows exponentially with the distance. Student's law of the tangent space can: as for the
Gaussian (`rhmm.emissions.wrapped`), with u the normal coordinates of y at c,

    log p(y) = log t_ν(u; 0, Σ) − log J(u)

with respect to the Riemannian volume. Σ is the scale matrix: where ν > 2, ν/(ν − 2) times it is the
covariance. All states share one ν: a few observations say little about tails.
"""

from typing import Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betaln, gammaln

from rhmm.emissions.law import NO_PRIOR, Prior
from rhmm.emissions.wrapped import WrappedGaussians
from rhmm.manifolds import Manifold

FIRST_DEGREES = 5.0
"""Where EM begins if ν is learned: few enough that outliers do not lead it astray."""
_DEGREES = (0.5, 1000.0)
"""The least and the most that is learned; the most can hardly be told from a Gaussian."""
_CLOSE = 1e-5
"""How closely log ν is learned."""
_DRAWS = 100
"""Times that a point is drawn before it is given up."""


class WrappedStudents(WrappedGaussians):
    """Student's laws with scale matrices of one kind, see `rhmm.emissions.covariances`.

    `sigmas` and `variances` speak of the scale matrices; E[d²] is infinite where ν ≤ 2.
    """

    degrees: float

    def __init__(
        self,
        manifold: Manifold,
        means: np.ndarray,
        emission: str,
        covariances: np.ndarray,
        prior: Prior = NO_PRIOR,
        *,
        degrees: float,
        learns_degrees: bool = False,
    ):
        super().__init__(manifold, means, emission, covariances, prior)
        self.degrees, self.learns_degrees = degrees, learns_degrees

    def with_parameters(self, manifold, means, covariances):
        return type(self)(
            manifold, means, self.emission, covariances, self.prior,
            degrees=self.degrees, learns_degrees=self.learns_degrees,
        )  # fmt: skip

    def with_degrees(self, degrees: float) -> Self:
        """The same law with another ν."""
        law = self.with_parameters(self.manifold, self.means, self.covariances)
        law.degrees = degrees
        return law

    def log_radial(self, squares):
        if np.isinf(self.degrees):
            return super().log_radial(squares)
        nu, half = self.degrees, 0.5 * self.manifold.dim
        tail = np.log1p(squares / nu)
        return _log_factor(nu, half) - (0.5 * nu + half) * tail

    def pulling(self, state, weights, coordinates):
        """E[precision] of each point: Student's law is a Gaussian whose precision is random."""
        if np.isinf(self.degrees):
            return weights
        nu, dim = self.degrees, self.manifold.dim
        return weights * ((nu + dim) / (nu + self._squares(state, coordinates)))

    def maximised(self, points, weights, alive, view, min_sigma, frozen=(), each=map):
        """As of the Gaussian, with less weight on what lies far away; then ν is the likeliest.

        Each of mean, covariance and ν raises the expected log-likelihood under the others.
        """
        law, view = super().maximised(points, weights, alive, view, min_sigma, frozen, each)
        if self.learns_degrees:
            law = law.with_degrees(law._likeliest_degrees(weights, alive, view))
        return law, view

    def _likeliest_degrees(self, weights, alive, view) -> float:
        living = np.flatnonzero(alive).tolist()
        squares = np.concatenate([self._squares(i, view.coordinates[i]) for i in living])
        weight, half = weights[living].reshape(-1), 0.5 * self.manifold.dim
        total = weight.sum()

        def loss(log_degrees: float) -> float:
            nu = np.exp(log_degrees)
            tail = weight @ np.log1p(squares / nu)
            return float((0.5 * nu + half) * tail - total * _log_factor(nu, half))

        found = minimize_scalar(
            loss, bounds=np.log(_DEGREES), method="bounded", options={"xatol": _CLOSE}
        )
        is_better = found.fun < loss(np.log(self.degrees))
        return float(np.exp(found.x)) if is_better else self.degrees

    def draw(self, state, size, rng):
        """Draws that lie further out than double precision can tell points apart, beyond a distance
        of about 35 on hyperbolic space, are drawn again."""
        points, left = np.empty((size, *self.manifold.point_shape)), np.arange(size)
        root = np.linalg.cholesky(self.matrices[state])
        for _ in range(_DRAWS):
            with np.errstate(over="ignore", invalid="ignore"):
                coordinates = self._noise(len(left), rng) @ root.T
                found = self.manifold._from_normal(self.means[state], coordinates)
                good = self.manifold.belongs(found)
            points[left[good]] = found[good]
            left = left[~good]
            if not len(left):
                return points
        raise ValueError(
            f"degrees={self.degrees:g} and covariances lead to points of {self.manifold!r} that "
            "double precision cannot hold"
        )

    def _noise(self, size, rng):
        noise = super()._noise(size, rng)
        if np.isinf(self.degrees):
            return noise
        precision = rng.gamma(0.5 * self.degrees, 2.0 / self.degrees, size)
        return noise / np.sqrt(precision)[:, None]


def _log_factor(nu: float, half: float) -> float:
    """log Γ(ν/2 + D/2)/Γ(ν/2) − D/2 log νπ with D/2 = `half`, also where ν is large."""
    return gammaln(half) - betaln(0.5 * nu, half) - half * np.log(np.pi * nu)
