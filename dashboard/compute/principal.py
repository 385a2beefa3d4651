"""A flat map of points of any space: the principal directions at their centre of mass."""

from typing import NamedTuple

import numpy as np

from rhmm import SPD, LogEuclideanSPD, Manifold


class Principal(NamedTuple):
    """The plane through the centre of mass in which points spread most."""

    manifold: Manifold
    centre: np.ndarray
    """The centre of mass, shape (*point_shape,)."""
    axes: np.ndarray
    """The directions to the right and up, in normal coordinates; shape (2, dim)."""
    share: float
    """Of the variance of the points that the plane shows."""

    def places(self, points: np.ndarray) -> np.ndarray:
        """Where points (T, *point_shape) lie on the map, shape (T, 2)."""
        return normal_coordinates(self.manifold, self.centre, points) @ self.axes.T


def principal_plane(manifold: Manifold, points: np.ndarray) -> Principal:
    """The plane for points (T, *point_shape), none of them missing."""
    centre = manifold.mean(points)
    vectors = normal_coordinates(manifold, centre, points)
    values, directions = np.linalg.eigh(vectors.T @ vectors)
    best = directions[:, ::-1][:, :2].T
    largest = best[np.arange(len(best)), np.abs(best).argmax(axis=1)]
    axes = np.zeros((2, len(values)))  # on a line there is no second direction
    axes[: len(best)] = best * np.sign(largest)[:, None]  # else the sign would be by chance
    total = values.sum()
    share = values[-2:].sum() / total if total > 0.0 else 1.0
    return Principal(manifold, centre, axes, min(float(share), 1.0))


def normal_coordinates(manifold: Manifold, centre: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The geodesics from `centre` to points (T, *point_shape), in an orthonormal frame: (T, dim).

    Their lengths are the distances.
    """
    if isinstance(manifold, LogEuclideanSPD):
        return _entries(_logarithms(points) - _logarithms(centre[None]))
    if isinstance(manifold, SPD):
        inverse = np.linalg.inv(np.linalg.cholesky(centre))
        return _entries(_logarithms(inverse @ points @ inverse.T))
    # the metric of the ball and of flat space has no preferred direction
    unit = np.eye(len(centre))[0] * 1e-3
    return manifold.log(centre, points) * (manifold.norm(centre, unit) / 1e-3)


def _logarithms(matrices: np.ndarray) -> np.ndarray:
    """Of positive definite matrices, shape (T, m, m)."""
    values, vectors = np.linalg.eigh(0.5 * (matrices + np.swapaxes(matrices, 1, 2)))
    least = np.finfo(float).tiny  # rounding must not make an eigenvalue zero or negative
    logs = np.log(np.maximum(values, least))
    return (vectors * logs[:, None, :]) @ np.swapaxes(vectors, 1, 2)


def _entries(symmetric: np.ndarray) -> np.ndarray:
    """Symmetric matrices (T, m, m) as vectors (T, m(m+1)/2) of the same length."""
    i, j = np.triu_indices(symmetric.shape[-1])
    return symmetric[:, i, j] * np.where(i == j, 1.0, np.sqrt(2.0))
