"""Where the observations of a recording and the means of its states lie on a picture."""

from typing import NamedTuple

import numpy as np

from dashboard.compute.outlines import ellipse, outlines, spreads
from dashboard.model.spaces.disk import DISK_CHART
from dashboard.model.spaces.principal import principal_plane
from rhmm import Hyperbolic, RiemannianHMM
from rhmm.recording import Recording

MOST_DRAWN = 4_000
"""Observations on a map; of a longer recording every second, third, … is drawn."""
MOST_ELLIPSES = 400
"""The same where each is drawn as its ellipse: more of them would be a blot."""


class Map(NamedTuple):
    """Where observations and means lie on a picture."""

    shown: np.ndarray
    """The observations that are drawn, shape (M,)."""
    places: np.ndarray
    """Shape (M, 2), or (M, 3) of the ball."""
    means: np.ndarray
    """Shape (N, 2) or (N, 3)."""
    outlines: np.ndarray
    """One deviation around the means, shape (N, K, 2), or three circles of the ball, (N, 3, K, 3).
    Where the map is flat and the space is not, it is what the map shows of it to first order."""
    share: float
    """Of the variance that the picture shows; 1 if it is exact."""
    matrices: np.ndarray | None = None
    """The observations that are drawn, if they are matrices of two rows: shape (M, 2, 2)."""

    @property
    def is_solid(self) -> bool:
        """Whether it has three dimensions."""
        return self.places.shape[1] == 3


def drawn(recording: Recording, model: RiemannianHMM) -> Map:
    """The map of a recording: the disk or ball itself, or the plane in which observations spread
    most."""
    manifold, shown = recording.manifold, np.flatnonzero(recording.observed)
    are_ellipses = manifold.point_shape == (2, 2)
    shown = shown[:: -(-len(shown) // (MOST_ELLIPSES if are_ellipses else MOST_DRAWN))]
    points = recording.points[shown]
    if manifold == Hyperbolic(2):
        return Map(shown, points, model.means_, outlines(DISK_CHART, model), 1.0)
    if manifold == Hyperbolic(3):
        return Map(shown, points, model.means_, _circles(model), 1.0)
    plane = principal_plane(manifold, points)
    matrices = points if are_ellipses else None
    means, lines = plane.places(model.means_), outlines(plane, model)
    return Map(shown, plane.places(points), means, lines, plane.share, matrices)


def _circles(model: RiemannianHMM) -> np.ndarray:
    """In the ball, three circles around each mean that lie on its sphere of radius σ, or where the
    coordinates of a wrapped law are one deviation from it; shape (N, 3, K, 3)."""
    circle = ellipse(np.eye(2))
    rings = np.stack([np.insert(circle, axis, 0.0, axis=1) for axis in range(3)])
    flat = rings.reshape(-1, 3) @ np.linalg.cholesky(spreads(model)).transpose(0, 2, 1)
    ends = map(model.manifold.from_normal_coordinates, model.means_, flat)
    return np.stack(list(ends)).reshape(model.n_components, *rings.shape)
