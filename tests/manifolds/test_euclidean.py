"""Euclidean space: every verb is the one of school."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose

from rhmm import Euclidean

vectors = hnp.arrays(float, 3, elements=st.floats(-1e6, 1e6))


@given(x=vectors, y=vectors, tau=st.floats(-2.0, 2.0))
def test_verbs_are_vector_algebra(x, y, tau):
    space = Euclidean(3)
    assert space.dist(x, y) == pytest.approx(np.linalg.norm(x - y), rel=1e-14)
    assert_allclose(space.log(x, y), y - x)
    assert_allclose(space.exp(x, y), x + y)
    assert_allclose(space.geodesic(x, y, tau), x + tau * (y - x), atol=1e-8)
    assert space.norm(x, y) == pytest.approx(np.linalg.norm(y), rel=1e-14)


@given(points=hnp.arrays(float, (6, 3), elements=st.floats(-1e3, 1e3)))
def test_the_mean_is_the_weighted_average(points):
    weights = np.arange(1.0, 7.0)
    expected = np.average(points, axis=0, weights=weights)
    assert_allclose(Euclidean(3).mean(points, weights), expected, atol=1e-11)


def test_the_mean_far_from_the_origin_keeps_its_digits():
    points = 1e8 + np.array([[0.0], [0.25], [0.5]])
    assert Euclidean(1).mean(points)[0] == 1e8 + 0.25


def test_nearly_equal_points_keep_their_digits():
    assert Euclidean(2).dist([1.0, 1.0], [1.0 + 2**-50, 1.0]) == 2**-50


def test_only_finite_vectors_belong():
    points = [[1.0, 2.0], [np.nan, 0.0], [0.0, np.inf]]
    assert Euclidean(2).belongs(points).tolist() == [True, False, False]
