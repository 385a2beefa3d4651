"""Where the observations of a recording and the means of its states lie on a picture."""

from typing import NamedTuple

import numpy as np

from dashboard.model.analysis import ROUND
from dashboard.model.spaces.disk import DISK_CHART
from dashboard.model.spaces.principal import Principal, principal_plane
from rhmm import Hyperbolic, RiemannianHMM
from rhmm.emissions import covariances
from rhmm.recording import Recording

MOST_DRAWN = 4_000
"""Observations on a map; of a longer recording every second, third, … is drawn."""
MOST_ELLIPSES = 400
"""The same where each is drawn as its ellipse: more of them would be a blot."""
_ON_ELLIPSE = 73
"""Points of an outline."""
_STEP = 1e-4
"""The length of geodesics whose ends say how a map shows directions at a mean."""


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
        return Map(shown, points, model.means_, _outlines(model), 1.0)
    if manifold == Hyperbolic(3):
        return Map(shown, points, model.means_, _circles(model), 1.0)
    plane = principal_plane(manifold, points)
    means, outlines = plane.places(model.means_), _shadows(plane, model)
    matrices = points if are_ellipses else None
    return Map(shown, plane.places(points), means, outlines, plane.share, matrices)


def _spreads(model: RiemannianHMM) -> np.ndarray:
    """The matrix of one deviation in each state, in normal coordinates; shape (N, D, D)."""
    n, dim = model.n_components, model.manifold.dim
    if model.emission == ROUND:
        return model.sigmas_[:, None, None] ** 2 * np.eye(dim)
    kind = covariances.kind_of(model.emission)
    return covariances.matrices(kind, model.covariances_, n, dim)


def _outlines(model: RiemannianHMM) -> np.ndarray:
    """On the disk, a circle of radius σ around each mean, or where the coordinates of a wrapped law
    are one deviation from it."""
    if model.emission == ROUND:
        return DISK_CHART.outlines(model.means_, model.sigmas_)
    ends = map(model.manifold.from_normal_coordinates, model.means_, map(ellipse, _spreads(model)))
    return np.stack(list(ends))


def _circles(model: RiemannianHMM) -> np.ndarray:
    """In the ball, three circles around each mean that lie on its sphere of radius σ, or where the
    coordinates of a wrapped law are one deviation from it; shape (N, 3, K, 3)."""
    circle = ellipse(np.eye(2))
    rings = np.stack([np.insert(circle, axis, 0.0, axis=1) for axis in range(3)])
    flat = rings.reshape(-1, 3) @ np.linalg.cholesky(_spreads(model)).transpose(0, 2, 1)
    ends = map(model.manifold.from_normal_coordinates, model.means_, flat)
    return np.stack(list(ends)).reshape(model.n_components, *rings.shape)


def _shadows(plane: Principal, model: RiemannianHMM) -> np.ndarray:
    """On a flat map, the ellipse that one deviation of each state leaves there; shape (N, K, 2)."""
    manifold, ways = model.manifold, _STEP * np.eye(model.manifold.dim)
    shadows = []
    for mean, spread in zip(model.means_, _spreads(model), strict=True):
        ahead, behind = (
            plane.places(manifold.from_normal_coordinates(mean, sign * ways)) for sign in (1, -1)
        )
        slopes = (ahead - behind) / (2.0 * _STEP)
        shadows.append(plane.places(mean[None]) + ellipse(slopes.T @ spread @ slopes))
    return np.stack(shadows)


def ellipse(matrix: np.ndarray) -> np.ndarray:
    """Points x with xᵀ P⁻¹ x = 1 for matrices P (…, 2, 2), shape (…, K, 2): a line or a point where
    P has no inverse."""
    angle = np.linspace(0.0, 2.0 * np.pi, _ON_ELLIPSE)
    values, axes = np.linalg.eigh(matrix)
    roots = np.sqrt(np.maximum(values, 0.0))[..., None, :] * axes
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) @ np.swapaxes(roots, -1, -2)
