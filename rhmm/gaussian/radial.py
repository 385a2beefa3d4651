"""The law of the distance d(y, c) under a Riemannian Gaussian.

On a homogeneous space the density exp(−d²/2σ²)/Z(σ) depends on the distance alone, so everything
a learner needs follows from three functions of σ: log Z, δ = E[d²] = ∂ log Z/∂η and
Var[d²] = ∂δ/∂η, where η = −1/2σ² is the natural parameter (the paper's eq. (5)).
"""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel

_NEWTON_STEPS = 60


class Moments(NamedTuple):
    """Functions of σ at k values of it, each of shape (k,)."""

    log_z: np.ndarray
    """log Z(σ), with respect to the Riemannian volume."""
    delta: np.ndarray
    """δ = E[d²]."""
    var_d2: np.ndarray
    """Var[d²]."""


class RadialGaussian(ABC):
    """Moments of d² as functions of σ, and the inverse σ(δ).

    Laws of one class and dimension are equal, and share one table (see `radial_table`).
    """

    dim: int

    def __eq__(self, other) -> bool:
        return type(self) is type(other) and self.dim == other.dim

    def __hash__(self) -> int:
        return hash((type(self), self.dim))

    @abstractmethod
    def moments(self, sigma: np.ndarray) -> Moments:
        """log Z, E[d²] and Var[d²] at every σ of an array of shape (k,)."""

    @cached_property
    def _grid(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """log δ, log σ and d log σ/d log δ on a grid, to start Newton's method from."""
        log_sigma = np.linspace(np.log(1e-4), np.log(30.0), 400)
        sigma = np.exp(log_sigma)
        _, delta, var_d2 = self.moments(sigma)
        return np.log(delta), log_sigma, delta * sigma**2 / var_d2

    def _guess(self, log_delta: np.ndarray) -> np.ndarray:
        """log σ to about 10⁻⁹: cubics between the knots of the grid, straight lines beyond."""
        return _interpolated(*self._grid, log_delta)

    def sigma(self, delta: np.ndarray) -> np.ndarray:
        """The σ of each δ, both of shape (k,), by Newton's method on log δ against log σ.

        δ is strictly increasing in σ: dδ/dη = Var[d²] > 0, hence
        d log δ / d log σ = Var[d²] / (δ σ²), which lies between 2 and 4 on these manifolds and
        makes the iteration converge from anywhere.
        """
        return self.dispersions(delta)[0]

    def dispersions(self, delta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`sigma` of each δ, and log Z of it."""
        log_sigma = self._guess(np.log(delta))
        for _ in range(_NEWTON_STEPS):
            sigma = np.exp(log_sigma)
            moments = self.moments(sigma)
            error = np.log(moments.delta / delta)
            log_sigma = log_sigma - error * moments.delta * sigma**2 / moments.var_d2
            if np.abs(error).max(initial=0.0) < 1e-8:  # quadratic: this step was the last needed
                break
        found = np.exp(log_sigma)
        change = 0.5 / sigma**2 - 0.5 / found**2  # of η by the last step, which was short
        log_z = moments.log_z + change * (moments.delta + 0.5 * change * moments.var_d2)
        return found, log_z


@kernel
def _interpolated(knots, log_sigma, slope, log_delta):
    """log σ of each log δ, both of shape (k,), see `RadialGaussian._guess`."""
    out = np.empty(len(log_delta))
    for i in range(len(out)):
        inside = min(max(log_delta[i], knots[0]), knots[-1])
        k, above = 0, len(knots) - 1
        while above - k > 1:
            middle = (k + above) // 2
            if knots[middle] < inside:
                k = middle
            else:
                above = middle
        width = knots[k + 1] - knots[k]
        x = (inside - knots[k]) / width
        rise = x * x * (3.0 - 2.0 * x) * (log_sigma[1] - log_sigma[0])
        bend = width * x * (1.0 - x) * ((1.0 - x) * slope[k] - x * slope[k + 1])
        # Beyond the grid δ ~ σ² where σ ≪ 1, and δ ~ σ⁴ where σ ≫ 1 (σ² if space is flat).
        beyond = log_delta[i] - inside
        straight = slope[-1] if beyond > 0.0 else slope[0]
        out[i] = log_sigma[k] + rise + bend + straight * beyond
    return out
