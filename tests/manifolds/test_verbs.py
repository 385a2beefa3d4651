"""Verbs that only kernels speak agree with the methods that people call."""

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose

from rhmm.manifolds import verbs
from tests.manifolds.cases import CASES

# On matrices compiling them takes long; there the steps of the online learners are held to
# `explain`, which is made of logarithms and exponentials.
cheap_kinds = pytest.mark.parametrize("case", CASES[:5], ids=repr)


@njit
def lean(geometry, points, first, last, weights, tau, centre):
    work = np.empty((5, max(last - first, centre.size)))
    layout = verbs.prepared(geometry, points)
    return verbs.lean(geometry, layout, first, last, weights, tau, centre, work)


@njit
def distances_to(geometry, points, first, last, centre):
    d2 = np.empty(last - first)
    verbs.distances_to(geometry, verbs.prepared(geometry, points), first, last, centre, d2)
    return d2


@cheap_kinds
@pytest.mark.parametrize("tau", [0.0, 1e-9, 1e-4, 9e-3, 0.1, 0.5])
def test_to_lean_is_to_follow_the_mean_of_the_logarithms(case, tau):
    manifold, centre, points = case.manifold, case.some_points(1)[0], case.some_points(9, seed=1)
    weights = np.random.default_rng(0).dirichlet(np.ones(5))
    towards = np.tensordot(weights, manifold.log(centre, points[2:7]), axes=1)
    expected = manifold.exp(centre, tau * towards)
    expected_d2 = weights @ manifold.dist(centre, points[2:7]) ** 2
    d2 = lean(manifold.geometry, points, 2, 7, weights, tau, centre)
    assert_allclose(centre, expected, atol=1e-13)
    assert_allclose(d2, expected_d2, rtol=1e-12)


@cheap_kinds
def test_to_lean_towards_where_one_is_is_to_stay(case):
    points = np.repeat(case.some_points(1), 3, axis=0)
    centre = points[0].copy()
    d2 = lean(case.manifold.geometry, points, 0, 3, np.ones(3), 0.5, centre)
    assert_allclose(centre, points[0], atol=1e-14)
    assert_allclose(d2, 0.0, atol=1e-24)


@cheap_kinds
@pytest.mark.parametrize(("first", "last"), [(0, 1), (0, 9), (3, 7), (8, 9)])
def test_distances_of_a_stretch_of_points(case, first, last):
    centre, points = case.some_points(1)[0], case.some_points(9, seed=1)
    d2 = distances_to(case.manifold.geometry, points, first, last, centre)
    assert_allclose(d2, case.manifold.dist(points[first:last], centre) ** 2, rtol=1e-13)
