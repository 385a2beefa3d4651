"""Points and isometries of every manifold, made without the engine."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rhmm import SPD, Euclidean, Hyperbolic, LogEuclideanSPD, Manifold


class Case(NamedTuple):
    manifold: Manifold
    chart: Callable[[np.ndarray], np.ndarray]
    """A point of the manifold from `dim` free coordinates; 0 is the origin."""
    isometry: Callable[[np.random.Generator], Callable[[np.ndarray], np.ndarray]]
    """A random isometry, acting on batches of points."""

    def __repr__(self) -> str:
        return repr(self.manifold)

    def points(self, count: int, reach: float = 1.0):
        """Strategy: `count` points (equal ones included), as one array."""
        coordinates = hnp.arrays(
            float,
            (count, self.manifold.dim),
            elements=st.floats(-reach, reach, allow_subnormal=False),
        )
        return coordinates.map(lambda rows: np.stack([self.chart(row) for row in rows]))

    def isometries(self):
        return st.integers(0, 1000).map(lambda seed: self.isometry(np.random.default_rng(seed)))

    def some_points(self, count: int, seed: int = 0, spread: float = 0.5) -> np.ndarray:
        """The same `count` points at every call."""
        coordinates = np.random.default_rng(seed).normal(0, spread, (count, self.manifold.dim))
        return np.stack([self.chart(row) for row in coordinates])


def ball_chart(u: np.ndarray) -> np.ndarray:
    """The point at hyperbolic distance |u| from the origin, in the direction of u."""
    length = np.linalg.norm(u)
    return u * (np.tanh(length / 2) / length if length > 0 else 0.5)


def lorentz_isometry(rng: np.random.Generator, dim: int):
    """A rotation and a boost of the hyperboloid t² − |s|² = 1, seen in the ball."""
    rotation = np.eye(dim + 1)
    rotation[1:, 1:] = random_rotation(rng, dim)
    direction = rng.normal(size=dim)
    direction /= np.linalg.norm(direction)
    rapidity = rng.uniform(0.0, 1.5)
    boost = np.eye(dim + 1)
    boost[0, 0] = np.cosh(rapidity)
    boost[0, 1:] = boost[1:, 0] = np.sinh(rapidity) * direction
    boost[1:, 1:] += (np.cosh(rapidity) - 1) * np.outer(direction, direction)

    def act(points):
        norm2 = (points**2).sum(axis=-1, keepdims=True)
        hyperboloid = np.concatenate([1 + norm2, 2 * points], axis=-1) / (1 - norm2)
        moved = hyperboloid @ (boost @ rotation).T
        return moved[..., 1:] / (1 + moved[..., :1])

    return act


def symmetric(coordinates: np.ndarray, size: int) -> np.ndarray:
    matrix = np.zeros((size, size))
    matrix[np.tril_indices(size)] = coordinates
    return 0.5 * (matrix + matrix.T)


def spd_chart(u: np.ndarray, size: int) -> np.ndarray:
    return of_eigenvalues(np.exp, symmetric(u, size))


def of_eigenvalues(function: Callable, matrices: np.ndarray) -> np.ndarray:
    """The function of symmetric matrices, shape (..., m, m), that acts on their eigenvalues."""
    values, vectors = np.linalg.eigh(matrices)
    return make_symmetric((vectors * function(values)[..., None, :]) @ np.swapaxes(vectors, -1, -2))


def make_symmetric(matrix: np.ndarray) -> np.ndarray:
    return 0.5 * (matrix + np.swapaxes(matrix, -1, -2))


def congruence(rng: np.random.Generator, size: int):
    g = random_rotation(rng, size) * rng.uniform(0.5, 2.0, size) @ random_rotation(rng, size)
    return lambda points: make_symmetric(g @ points @ g.T)


def motion_of_logarithms(rng: np.random.Generator, size: int):
    """A rotation of matrices, followed by a shift of their logarithms."""
    q, shift = random_rotation(rng, size), make_symmetric(rng.normal(size=(size, size)))

    def act(points):
        return of_eigenvalues(np.exp, q @ of_eigenvalues(np.log, points) @ q.T + shift)

    return act


def rigid_motion(rng: np.random.Generator, dim: int):
    rotation, shift = random_rotation(rng, dim), rng.normal(size=dim)
    return lambda points: points @ rotation.T + shift


def random_rotation(rng: np.random.Generator, size: int) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(size, size)))[0]


def _euclidean(dim: int) -> Case:
    return Case(Euclidean(dim), lambda u: u, lambda rng: rigid_motion(rng, dim))


def _hyperbolic(dim: int) -> Case:
    return Case(
        Hyperbolic(dim), lambda u: ball_chart(2 * u), lambda rng: lorentz_isometry(rng, dim)
    )


def _spd(size: int) -> Case:
    return Case(SPD(size), lambda u: spd_chart(u, size), lambda rng: congruence(rng, size))


def _log_euclidean(size: int) -> Case:
    return Case(
        LogEuclideanSPD(size),
        lambda u: spd_chart(u, size),
        lambda rng: motion_of_logarithms(rng, size),
    )


CASES = [
    _euclidean(1),
    _euclidean(3),
    _hyperbolic(1),
    _hyperbolic(2),
    _hyperbolic(4),
    _spd(1),
    _spd(2),
    _spd(4),
    _log_euclidean(1),
    _log_euclidean(2),
    _log_euclidean(4),
]

KINDS = [_euclidean(3), _hyperbolic(2), _spd(2), _log_euclidean(2)]

every_manifold = pytest.mark.parametrize("case", CASES, ids=repr)
every_kind = pytest.mark.parametrize("case", KINDS, ids=repr)
