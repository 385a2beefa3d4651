"""Euclidean space: the classical case, in which everything agrees with an ordinary Gaussian HMM."""

from typing import NamedTuple

import numpy as np

from rhmm._jit import copy_into, implements
from rhmm.gaussian.flat import FlatGaussian
from rhmm.manifolds import verbs
from rhmm.manifolds.manifold import Manifold
from rhmm.manifolds.registry import register_manifold
from rhmm.validation import LARGEST_MODERATE
from rhmm.vector_math import squared

LARGEST_COORDINATE = 1e30
"""In size. Farther points are refused: powers of their distances leave double precision."""

_LARGEST = LARGEST_COORDINATE * (1.0 + 1e-12)  # averages of points at the bound may round up


class FlatGeometry(NamedTuple):
    dim: int


@register_manifold
class Euclidean(Manifold):
    """R^d with the distance ‖x − y‖; coordinates are at most 1e30 in size."""

    is_flat = True
    largest_sigma = LARGEST_MODERATE

    def __init__(self, dim: int):
        super().__init__(FlatGeometry, dim=dim)
        self.dim = self.geometry.dim
        self.point_shape = (self.dim,)
        self.gaussian = FlatGaussian(self.dim)

    def belongs(self, x):
        return (np.abs(self.as_array("x", x)) <= _LARGEST).all(axis=-1)

    def why_not(self, point) -> str:
        return f"its coordinates must be finite and at most {LARGEST_COORDINATE:g} in size"

    def project(self, x):
        """Bring coordinates above 1e30 in size down to it; other finite vectors are points."""
        x = self.as_array("x", x)
        if not np.isfinite(x).all():
            raise ValueError("x must be finite to be projected")
        return np.where(
            self.belongs(x)[..., None], x, np.clip(x, -LARGEST_COORDINATE, LARGEST_COORDINATE)
        )

    def norm(self, x, v):
        x, v = self.points("x", x), self._tangents(v)
        lengths = np.linalg.norm(v, axis=-1)
        return np.broadcast_to(lengths, self._common_lead(x, "v", v))[()]

    def first_guess(self, points, weights):
        return weights @ points / weights.sum()

    def normal_coordinates(self, centre, points):
        return points - centre, np.zeros(len(points))

    def _from_normal(self, centre, coordinates):
        return centre + coordinates

    def draw(self, rng, centre, sigma, size):
        return centre + sigma * rng.standard_normal((size, self.dim))


@implements(verbs.dist2, FlatGeometry)
def _dist2(geometry, x, y):
    total = 0.0
    for k in range(geometry.dim):
        total += squared(x[k] - y[k])
    return total


@implements(verbs.log_into, FlatGeometry)
def _log_into(geometry, x, y, out):
    for k in range(geometry.dim):
        out[k] = y[k] - x[k]


@implements(verbs.exp_into, FlatGeometry)
def _exp_into(geometry, x, v, out):
    for k in range(geometry.dim):
        out[k] = x[k] + v[k]


@implements(verbs.squared_distances, FlatGeometry)
def _squared_distances(geometry, points, centres, d2):
    """Without a copy of the points: half the time of the default."""
    for i in range(len(centres)):
        for t in range(len(points)):
            total = 0.0
            for k in range(geometry.dim):
                total += squared(points[t, k] - centres[i, k])
            d2[i, t] = total


@implements(verbs.normal_coordinates, FlatGeometry)
def _normal_coordinates(geometry, layout, first, last, centre, coordinates, log_volume):
    for t in range(last - first):
        log_volume[t] = 0.0
        for k in range(geometry.dim):
            coordinates[t, k] = layout[first + t, k] - centre[k]


@implements(verbs.frame_turn, FlatGeometry)
def _frame_turn(geometry, start, end, turn):
    copy_into(turn, np.eye(geometry.dim))


@implements(verbs.weighted_step, FlatGeometry)
def _weighted_step(geometry, layout, first, last, weights, tau, centre):
    """Without calls for each point: a streaming learner takes a sixth less time."""
    total, step = 0.0, layout[-1]
    step[:] = 0.0
    for t in range(last - first):
        total += weights[t] * verbs.dist2(geometry, layout[first + t], centre)
        for k in range(geometry.dim):
            step[k] += weights[t] * (layout[first + t, k] - centre[k])
    for k in range(geometry.dim):
        centre[k] += tau * step[k]
    return total


@implements(verbs.geodesic_into, FlatGeometry)
def _geodesic_into(geometry, x, z, tau, out):
    for k in range(geometry.dim):
        out[k] = (1.0 - tau) * x[k] + tau * z[k]


@implements(verbs.recentre, FlatGeometry)
def _recentre(geometry, points, weights, centres, d2, most_steps):
    """One step ends at the centre of mass, where space is flat."""
    for i in range(len(centres)):
        total = weights[i].sum()
        for k in range(geometry.dim):
            shift = 0.0  # relative to the old centre: no digits are lost far from the origin
            for t in range(len(points)):
                shift += weights[i, t] * (points[t, k] - centres[i, k])
            centres[i, k] += shift / total
    verbs.squared_distances(geometry, points, centres, d2)
    return True
