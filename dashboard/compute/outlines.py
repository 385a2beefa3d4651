"""Where the states of a model are one deviation from their means, on a map.

The disk shows that exactly. On a map that is flat where the space is not, it is what the map shows
of it to first order.
"""

from typing import Protocol

import numpy as np

from rhmm import Hyperbolic, Manifold
from rhmm.emissions import RIEMANNIAN, covariances
from rhmm.model import HiddenMarkovModel

_ON_ELLIPSE = 73
"""Points of an outline."""
_STEP = 1e-4
"""The length of geodesics whose ends say how a map shows directions at a mean."""


class Places(Protocol):
    """A map."""

    def places(self, points: np.ndarray) -> np.ndarray:
        """Where points (T, *point_shape) lie on it, shape (T, 2)."""


def spreads(model: HiddenMarkovModel) -> np.ndarray:
    """The matrix of one deviation in each state, in normal coordinates; shape (N, D, D)."""
    n, dim, emission = len(model.means_), model.manifold.dim, model.law_.emission
    if emission == RIEMANNIAN:
        return model.sigmas_[:, None, None] ** 2 * np.eye(dim)
    return covariances.matrices(covariances.kind_of(emission), model.covariances_, n, dim)


def outlines(shown: Places, model: HiddenMarkovModel) -> np.ndarray:
    """A closed line around the mean of each state, shape (N, K, 2)."""
    manifold, means = model.manifold, model.means_
    if manifold == Hyperbolic(2):
        ends = map(manifold.from_normal_coordinates, means, map(ellipse, spreads(model)))
        return np.stack([shown.places(line) for line in ends])
    return shown.places(means)[:, None] + ellipse(_shadows(shown, model))


def balls(shown: Places, model: HiddenMarkovModel) -> np.ndarray:
    """The same as ellipses: cx, cy, rx, ry and the angle of rx, shape (N, 5).

    Of the disk, the radii and the angle are those in the tangent space at the mean, from which the
    canvas draws the line.
    """
    flat = spreads(model) if model.manifold == Hyperbolic(2) else _shadows(shown, model)
    values, axes = np.linalg.eigh(flat)
    radii = np.sqrt(np.maximum(values, 0.0))
    angles = np.arctan2(axes[:, 1, 1], axes[:, 0, 1])
    return np.column_stack([shown.places(model.means_), radii[:, 1], radii[:, 0], angles])


def _shadows(shown: Places, model: HiddenMarkovModel) -> np.ndarray:
    """What a flat map shows of the matrix of each state, shape (N, 2, 2)."""
    slopes = np.stack([_slopes(shown, model.manifold, mean) for mean in model.means_])
    return np.swapaxes(slopes, 1, 2) @ spreads(model) @ slopes


def _slopes(shown: Places, manifold: Manifold, mean: np.ndarray) -> np.ndarray:
    """How the places on a map change along the axes of normal coordinates, shape (D, 2)."""
    ways = _STEP * np.eye(manifold.dim)
    ahead, behind = (
        shown.places(manifold.from_normal_coordinates(mean, sign * ways)) for sign in (1, -1)
    )
    return (ahead - behind) / (2.0 * _STEP)


def ellipse(matrix: np.ndarray) -> np.ndarray:
    """Points x with xᵀ P⁻¹ x = 1 for matrices P (…, 2, 2), shape (…, K, 2): a line or a point where
    P has no inverse."""
    angle = np.linspace(0.0, 2.0 * np.pi, _ON_ELLIPSE)
    values, axes = np.linalg.eigh(matrix)
    roots = np.sqrt(np.maximum(values, 0.0))[..., None, :] * axes
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) @ np.swapaxes(roots, -1, -2)
