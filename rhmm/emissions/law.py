"""What EM and models ask of the laws of the observations."""

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Any, NamedTuple, Self

import numpy as np

from rhmm.manifolds import Manifold
from rhmm.threads import Map


class Prior(NamedTuple):
    """So many more observations of each spread, with the same variance in all directions."""

    weight: float
    variance: float


NO_PRIOR = Prior(0.0, 1.0)


class Law(ABC):
    """The laws of the observations in N hidden states, with their parameters.

    It does not change: the M-step makes another one. What densities and the M-step both need of the
    points, such as distances to the means, is computed once by `view` and handed to both.
    """

    manifold: Manifold
    means: np.ndarray
    """Shape (N, *point_shape)."""
    emission: str
    """Its name among the emissions."""
    covariances: np.ndarray | None = None
    """None for the paper's law, which has none."""
    degrees: float | None = None
    """Degrees of freedom ν of a law with heavy tails, None for others."""
    sigmas: np.ndarray
    """The σ of a Riemannian Gaussian with the same E[d²] to the mean, shape (N,)."""

    @staticmethod
    @abstractmethod
    def n_of_spread(emission: str, n: int, dim: int) -> int:
        """Free parameters of n states besides their means."""

    @abstractmethod
    def view(self, points: np.ndarray) -> Any:
        """What the means see of points (T, *point_shape)."""

    @abstractmethod
    def log_densities(self, view: Any) -> np.ndarray:
        """log p(y_t | state i) with respect to the Riemannian volume, shape (T, N)."""

    def scaled_densities(self, view: Any, each: Map = map) -> tuple[np.ndarray, np.ndarray]:
        """The densities (N, T), divided by the largest of each time, and the logarithms of these
        (T,).

        A law that can make them without the logarithms of the others, or in threads, should.
        """
        density = np.ascontiguousarray(self.log_densities(view).T)
        shift = density.max(axis=0)
        density -= shift
        return np.exp(density, out=density), shift

    @abstractmethod
    def maximised(
        self,
        points: np.ndarray,
        weights: np.ndarray,
        alive: np.ndarray,
        view: Any,
        min_sigma: float,
        frozen: Collection[str] = (),
        each: Map = map,
    ) -> tuple[Self, Any]:
        """The M-step: the law under weights (N, T), and its view of the points.

        States that are not `alive` (N,) keep their parameters; no spread is below `min_sigma`.
        Of the parameters ``"means"``, ``"sigmas"`` and ``"covariances"`` those in `frozen` stay.
        The view that is given may be overwritten. `each` maps by several threads.
        """

    def log_prior(self) -> float:
        """What EM maximises besides the log-likelihood."""
        return 0.0

    @abstractmethod
    def collapsed(self, min_sigma: float) -> np.ndarray:
        """Which states have no spread but the least one, shape (N,)."""

    @abstractmethod
    def draw(self, state: int, size: int, rng: np.random.Generator) -> np.ndarray:
        """Exact draws, shape (size, *point_shape)."""

    @abstractmethod
    def permuted(self, order: np.ndarray) -> Self:
        """The same laws with state ``order[i]`` renamed to i."""


class SummedLaw(Law):
    """A law whose M-step needs nothing but sums over the points: they may come in parts."""

    @abstractmethod
    def sums(self, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """What the M-step needs of points under weights (N, T), shape (N, K).

        Sums over the parts add up to those over all.
        """

    @abstractmethod
    def stepped(
        self,
        sums: np.ndarray,
        occupied: np.ndarray,
        alive: np.ndarray,
        share: float,
        min_sigma: float,
    ) -> Self:
        """The M-step from `sums` (N, K) and Σ w (N,), with a share of one step of each mean."""
