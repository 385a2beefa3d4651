"""Euclidean space: every verb is the one of school."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose

from rhmm import Euclidean, RiemannianHMM

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


def test_only_vectors_within_the_bound_belong():
    points = [[1.0, 2.0], [1e30, -1e30], [np.nan, 0.0], [0.0, np.inf], [0.0, -1.1e30]]
    assert Euclidean(2).belongs(points).tolist() == [True, True, False, False, False]
    np.testing.assert_array_equal(Euclidean(2).project([1e40, -2.0]), [1e30, -2.0])


def test_points_beyond_the_bound_are_named_with_it():
    with pytest.raises(ValueError, match=r"^y is not a point .* at most 1e\+30 in size"):
        Euclidean(1).dist([0.0], [1e31])
    with pytest.raises(ValueError, match=r"^X\[1\] is not a point .* at most 1e\+30 in size"):
        RiemannianHMM(Euclidean(1), 1).fit([[0.0], [1e100]])


@pytest.mark.filterwarnings("ignore::rhmm.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("dim", [1, 3, 50])
def test_points_at_the_bound_are_learned_from(dim):
    space, X = Euclidean(dim), 1e30 * np.random.default_rng(0).uniform(-1.0, 1.0, size=(200, dim))
    X[0], X[1] = 1e30, -1e30
    assert np.isfinite(space.dist(X[0], -X[0]))
    assert space.belongs(space.mean(X))
    model = RiemannianHMM(space, 2, random_state=0, n_iter=200).fit(X)
    for array in model.parameters_:
        assert np.isfinite(array).all()
    assert np.isfinite(model.score(X))
    delta = space.delta(model.sigmas_)
    np.testing.assert_allclose(space.sigma(delta), model.sigmas_)
