"""Verbs that only kernels speak agree with the methods that people call."""

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose

from rhmm.manifolds import verbs
from tests.manifolds.cases import CASES

# On matrices both are made of the distance and the geodesic, and compiling them takes long.
cheap_kinds = pytest.mark.parametrize("case", CASES[:5], ids=repr)


@njit
def pull(geometry, centres, i, points, t, d2, tau):
    layout = verbs.prepared(geometry, centres)
    verbs.pull(geometry, layout, i, verbs.prepared(geometry, points), t, d2, tau)
    verbs.place_back(geometry, layout, centres)


@njit
def distances_from(geometry, points, t, centres):
    out = np.empty(verbs.whole_lanes(len(centres)))
    layout = verbs.prepared(geometry, centres)
    verbs.distances_from(geometry, verbs.prepared(geometry, points), t, layout, out)
    return out[: len(centres)]


@cheap_kinds
@pytest.mark.parametrize("tau", [0.0, 1e-9, 1e-4, 9e-3, 0.1, 0.5, 1.0])
def test_pull_walks_along_the_geodesic(case, tau):
    centres, points = case.some_points(3), case.some_points(5, seed=1)
    before = centres.copy()
    d2 = float(case.manifold.dist(before[1], points[4]) ** 2)
    pull(case.manifold.geometry, centres, 1, points, 4, d2, tau)
    expected = case.manifold.exp(before[1], tau * case.manifold.log(before[1], points[4]))
    assert_allclose(centres[1], expected, atol=1e-14)
    assert_allclose(centres[[0, 2]], before[[0, 2]], atol=0.0)


@cheap_kinds
def test_pull_towards_where_it_is_stays_there(case):
    centres = case.some_points(1)
    points = centres.copy()
    pull(case.manifold.geometry, centres, 0, points, 0, 0.0, 0.5)
    assert_allclose(centres, points, atol=1e-15)


@cheap_kinds
@pytest.mark.parametrize("count", [1, 3, 4, 9])
def test_distances_from_one_point_to_all_centres(case, count):
    centres, points = case.some_points(count), case.some_points(5, seed=1)
    d2 = distances_from(case.manifold.geometry, points, 4, centres)
    assert_allclose(d2, case.manifold.dist(points[4], centres) ** 2, rtol=1e-13)
