"""Symmetric positive definite matrices with the log-Euclidean metric of Arsigny et al.

The matrix logarithm makes them a flat space: every verb is that of Euclidean space on logarithms,
read as m² numbers.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import copy_into, implements, kernel
from rhmm.gaussian.flat import FlatGaussian
from rhmm.manifolds import verbs
from rhmm.manifolds.euclidean import FlatGeometry
from rhmm.manifolds.registry import register_manifold
from rhmm.manifolds.spd_matrices import SPDMatrices, exp_matrices, is_held, log_matrices
from rhmm.manifolds.spd_normal import as_matrices, as_vectors


class LogGeometry(NamedTuple):
    size: int


@register_manifold
class LogEuclideanSPD(SPDMatrices):
    """The m×m symmetric positive definite matrices with d(x, y) = ‖log x − log y‖_F.

    Tangent vectors are differences of logarithms: ``log(x, y)`` is log y − log x, and its length is
    the Frobenius norm.
    """

    is_flat = True

    def __init__(self, size: int):
        super().__init__(LogGeometry, size)
        self.gaussian = FlatGaussian(self.dim)

    def normal_coordinates(self, centre, points):
        logs = log_matrices(np.require(points, float, ["C", "W"])) - log_matrices(centre[None])
        return as_vectors(logs), np.zeros(len(points))

    def _from_normal(self, centre, coordinates):
        return exp_matrices(log_matrices(centre[None]) + as_matrices(coordinates, self.size))

    def draw(self, rng, centre, sigma, size):
        noise = rng.standard_normal((size, *self.point_shape))
        steps = 0.5 * sigma * (noise + np.swapaxes(noise, 1, 2))
        return exp_matrices(log_matrices(centre[None]) + steps)


@kernel
def _flat_space(geometry):
    return FlatGeometry(geometry.size * geometry.size)


@kernel
def _log_vectors(points):
    """The logarithms of `points`, shape (T, m, m), as T rows of m² numbers."""
    return log_matrices(points).reshape((len(points), points.shape[1] * points.shape[2]))


@kernel
def _log_vector(x):
    return _log_vectors(x.reshape((1, *x.shape)))[0]


@kernel
def _exp_vector(vector, out):
    """The point whose logarithm is `vector`."""
    copy_into(out, exp_matrices(vector.reshape((1, *out.shape)))[0])


@implements(verbs.dist2, LogGeometry)
def _dist2(geometry, x, y):
    return verbs.dist2(_flat_space(geometry), _log_vector(x), _log_vector(y))


@implements(verbs.holds, LogGeometry)
def _holds(geometry, x):
    return is_held(x)


@implements(verbs.log_into, LogGeometry)
def _log_into(geometry, x, y, out):
    copy_into(out, (_log_vector(y) - _log_vector(x)).reshape(out.shape))


@implements(verbs.exp_into, LogGeometry)
def _exp_into(geometry, x, v, out):
    _exp_vector(_log_vector(x) + np.ascontiguousarray(v).reshape(v.size), out)


@implements(verbs.prepared, LogGeometry)
def _prepared(geometry, points):
    return verbs.prepared(_flat_space(geometry), _log_vectors(points))


@implements(verbs.distances_to, LogGeometry)
def _distances_to(geometry, layout, first, last, centre, d2):
    verbs.distances_to(_flat_space(geometry), layout, first, last, _log_vector(centre), d2)


@implements(verbs.normal_coordinates, LogGeometry)
def _normal_coordinates(geometry, layout, first, last, centre, coordinates, log_volume):
    m, origin = geometry.size, _log_vector(centre)
    for t in range(last - first):
        place, log_volume[t] = 0, 0.0
        for i in range(m):
            for j in range(i, m):
                entry = layout[first + t, i * m + j] - origin[i * m + j]
                coordinates[t, place] = entry if i == j else math.sqrt(2.0) * entry
                place += 1


@implements(verbs.frame_turn, LogGeometry)
def _frame_turn(geometry, start, end, turn):
    copy_into(turn, np.eye(len(turn)))


@implements(verbs.weighted_step, LogGeometry)
def _weighted_step(geometry, layout, first, last, weights, tau, centre):
    logs, moved = _log_vector(centre), np.empty(centre.shape)
    total = verbs.weighted_step(_flat_space(geometry), layout, first, last, weights, tau, logs)
    _exp_vector(logs, moved)
    if is_held(moved):
        copy_into(centre, moved)
    return total


@implements(verbs.recentre, LogGeometry)
def _recentre(geometry, points, weights, centres, d2, most_steps):
    moved = _log_vectors(centres)
    logs = _log_vectors(points)
    converged = verbs.recentre(_flat_space(geometry), logs, weights, moved, d2, most_steps)
    copy_into(centres, exp_matrices(moved.reshape(centres.shape)))
    return converged
