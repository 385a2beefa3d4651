"""A manifold as an outsider writes it: what is required, and nothing else.

Vectors of d positive numbers with d(x, y) = ‖log x − log y‖. The tests of the cache copy and edit
this file.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm import Manifold, register_manifold
from rhmm._jit import implements
from rhmm.gaussian.flat import FlatGaussian
from rhmm.manifolds import verbs

UNIT = 1.0
"""The length of a change by a factor e."""


class PositiveGeometry(NamedTuple):
    dim: int


@register_manifold
class Positive(Manifold):
    """Vectors of d positive numbers; tangent vectors are relative changes."""

    def __init__(self, dim: int):
        super().__init__(PositiveGeometry, dim=dim)
        self.dim = self.geometry.dim
        self.point_shape = (self.dim,)
        self.gaussian = FlatGaussian(self.dim)

    def belongs(self, x):
        x = self.as_array("x", x)
        return ((x > 0.0) & (x < np.inf)).all(axis=-1)

    def why_not(self, point):
        return "its numbers must be positive"

    def draw(self, rng, centre, sigma, size):
        return centre * np.exp(sigma / UNIT * rng.standard_normal((size, self.dim)))


@implements(verbs.dist2, PositiveGeometry)
def _dist2(geometry, x, y):
    total = 0.0
    for k in range(geometry.dim):
        total += (UNIT * math.log(x[k] / y[k])) ** 2
    return total


@implements(verbs.log_into, PositiveGeometry)
def _log_into(geometry, x, y, out):
    for k in range(geometry.dim):
        out[k] = math.log(y[k] / x[k])


@implements(verbs.exp_into, PositiveGeometry)
def _exp_into(geometry, x, v, out):
    for k in range(geometry.dim):
        out[k] = x[k] * math.exp(v[k])
