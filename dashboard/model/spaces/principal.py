"""A flat map of points of any space: the principal directions at their centre of mass."""

from typing import NamedTuple

import numpy as np

from rhmm import Manifold


class Principal(NamedTuple):
    """The plane through the centre of mass in which points spread most."""

    manifold: Manifold
    centre: np.ndarray
    """The centre of mass, shape (*point_shape,)."""
    axes: np.ndarray
    """The directions to the right and up, in normal coordinates; shape (2, dim)."""
    shares: tuple[float, float]
    """Of the variance of the points that each of these directions shows."""

    @property
    def share(self) -> float:
        """Of the variance that the plane shows."""
        return min(sum(self.shares), 1.0)

    def places(self, points: np.ndarray) -> np.ndarray:
        """Where points (T, *point_shape) lie on the map, shape (T, 2)."""
        coordinates, _ = self.manifold.normal_coordinates(self.centre, points)
        return coordinates @ self.axes.T


def principal_plane(manifold: Manifold, points: np.ndarray) -> Principal:
    """The plane for points (T, *point_shape), none of them missing."""
    centre = manifold.mean(points)
    vectors, _ = manifold.normal_coordinates(centre, points)
    values, directions = np.linalg.eigh(vectors.T @ vectors)
    best = directions[:, ::-1][:, :2].T
    largest = best[np.arange(len(best)), np.abs(best).argmax(axis=1)]
    axes = np.zeros((2, len(values)))  # on a line there is no second direction
    axes[: len(best)] = best * np.sign(largest)[:, None]  # else the sign would be by chance
    total, kept = values.sum(), np.zeros(2)
    kept[: len(best)] = values[::-1][:2]
    first, second = kept / total if total > 0.0 else (1.0, 0.0)
    return Principal(manifold, centre, axes, (float(first), float(second)))
