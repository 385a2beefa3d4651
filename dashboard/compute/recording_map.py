"""Where the observations of a recording and the means of its states lie on a picture."""

from typing import NamedTuple

import numpy as np

from dashboard.model.analysis import ROUND
from dashboard.model.spaces.disk import DISK_CHART
from dashboard.model.spaces.principal import principal_plane
from rhmm import Hyperbolic, RiemannianHMM
from rhmm.emissions.covariances import matrices
from rhmm.recording import Recording

MOST_DRAWN = 4_000
"""Observations on a map; of a longer recording every second, third, … is drawn."""
_ON_ELLIPSE = 73
"""Points of an outline."""


class Map(NamedTuple):
    """Where observations and means lie on a picture."""

    shown: np.ndarray
    """The observations that are drawn, shape (M,)."""
    places: np.ndarray
    """Shape (M, 2), or (M, 3) of the ball."""
    means: np.ndarray
    """Shape (N, 2) or (N, 3)."""
    outlines: np.ndarray | None
    """One deviation around the means, shape (N, K, 2), or three circles of the ball, (N, 3, K, 3);
    None where the map is not exact."""
    share: float
    """Of the variance that the picture shows; 1 if it is exact."""

    @property
    def is_solid(self) -> bool:
        """Whether it has three dimensions."""
        return self.places.shape[1] == 3


def drawn(recording: Recording, model: RiemannianHMM) -> Map:
    """The map of a recording: the disk or ball itself, or the plane in which observations spread
    most."""
    shown = np.flatnonzero(recording.observed)
    shown = shown[:: -(-len(shown) // MOST_DRAWN)]
    points, manifold = recording.points[shown], recording.manifold
    if manifold == Hyperbolic(2):
        return Map(shown, points, model.means_, _outlines(model), 1.0)
    if manifold == Hyperbolic(3):
        return Map(shown, points, model.means_, _circles(model), 1.0)
    plane = principal_plane(manifold, points)
    return Map(shown, plane.places(points), plane.places(model.means_), None, plane.share)


def _outlines(model: RiemannianHMM) -> np.ndarray:
    """On the disk, a circle of radius σ around each mean, or where the coordinates of a wrapped
    Gaussian are one standard deviation from it."""
    if model.emission == ROUND:
        return DISK_CHART.outlines(model.means_, model.sigmas_)
    shapes = matrices(model.emission, model.covariances_, model.n_components, 2)
    ends = map(model.manifold.from_normal_coordinates, model.means_, map(ellipse, shapes))
    return np.stack(list(ends))


def _circles(model: RiemannianHMM) -> np.ndarray:
    """In the ball, three circles around each mean that lie on its sphere of radius σ, or where the
    coordinates of a wrapped Gaussian are one standard deviation from it; shape (N, 3, K, 3)."""
    n = model.n_components
    if model.emission == ROUND:
        shapes = model.sigmas_[:, None, None] ** 2 * np.eye(3)
    else:
        shapes = matrices(model.emission, model.covariances_, n, 3)
    circle = ellipse(np.eye(2))
    rings = np.stack([np.insert(circle, axis, 0.0, axis=1) for axis in range(3)])
    flat = rings.reshape(-1, 3) @ np.linalg.cholesky(shapes).transpose(0, 2, 1)
    ends = map(model.manifold.from_normal_coordinates, model.means_, flat)
    return np.stack(list(ends)).reshape(n, *rings.shape)


def ellipse(matrix: np.ndarray) -> np.ndarray:
    """Points x with xᵀ P⁻¹ x = 1 for a positive definite matrix P of two rows, shape (K, 2)."""
    angle = np.linspace(0.0, 2.0 * np.pi, _ON_ELLIPSE)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) @ np.linalg.cholesky(matrix).T
