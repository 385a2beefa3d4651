"""Cholesky factors and distances that keep the digits of ill-conditioned matrices."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from rhmm import SPD
from rhmm.manifolds.careful import careful_dist2, cholesky, quick_cholesky
from tests.manifolds.exact import DIGITS, spd_distance


def hilbert(size: int) -> np.ndarray:
    """Famously ill-conditioned: 10⁴ for 4×4, 10⁷ for 6×6, 10¹² for 9×9."""
    order = np.arange(1.0, size + 1)
    return 1.0 / (order[:, None] + order - 1.0)


def exact_factor(x: np.ndarray) -> np.ndarray:
    with mpmath.workdps(DIGITS):
        return np.array(mpmath.cholesky(mpmath.matrix(x.tolist())).tolist(), dtype=float)


@pytest.mark.parametrize("size", [1, 2, 4, 6, 9])
def test_every_entry_of_the_factor_is_right_to_the_last_digit(size):
    lower = np.empty((size, size))
    cholesky(hilbert(size), lower)
    assert_allclose(lower, exact_factor(hilbert(size)), rtol=4e-16)


def test_plain_double_precision_would_not_do():
    lower = np.zeros((9, 9))
    quick_cholesky(hilbert(9), lower)
    assert abs(lower[8, 8] / exact_factor(hilbert(9))[8, 8] - 1.0) > 1e-8


@pytest.mark.parametrize("factorise", [cholesky, quick_cholesky])
def test_the_margin_is_the_smallest_relative_pivot_whatever_the_scale(factorise):
    x = np.array([[4.0, 2.0], [2.0, 2.0]])
    for units in (np.ones(2), np.array([1e-5, 1e5])):
        margin = factorise(units[:, None] * x * units, np.zeros((2, 2)))
        assert margin == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize("factorise", [cholesky, quick_cholesky])
@pytest.mark.parametrize(
    "x", [[[1.0, 2.0], [2.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]]
)
def test_the_margin_of_a_matrix_that_is_not_definite_is_not_positive(factorise, x):
    assert factorise(np.array(x), np.zeros((2, 2))) <= 0.0


@pytest.mark.parametrize("size", [1, 2, 4, 6, 9])
def test_careful_distances_agree_with_50_digits(size):
    x, y = hilbert(size), np.eye(size) + 0.5
    exact = spd_distance(x, y) ** 2
    assert careful_dist2(x, y) == pytest.approx(exact, rel=1e-12)
    assert careful_dist2(y, x) == pytest.approx(exact, rel=1e-12)


def test_careful_distances_bear_the_widest_spread():
    x, y = np.diag([1e-100, 1e100, 1.0]), np.diag([1e100, 1e-100, 1.0])
    assert careful_dist2(x, y) == pytest.approx(2 * (200 * np.log(10.0)) ** 2, rel=1e-14)


@pytest.mark.parametrize("scale", [1e-290, 1e-100, 1e100, 1e290])
def test_careful_distances_bear_units_that_are_far_apart(scale):
    x, y = hilbert(3), np.eye(3) + 0.5
    exact = spd_distance(x, scale * y) ** 2
    assert careful_dist2(x, scale * y) == pytest.approx(exact, rel=1e-13)
    assert careful_dist2(scale * y, x) == pytest.approx(exact, rel=1e-13)
    assert careful_dist2(scale * x, scale * y) == pytest.approx(careful_dist2(x, y), rel=1e-10)


def test_careful_distances_of_neighbours_keep_their_digits_in_any_unit():
    x = np.eye(2) + 0.5
    y = x + 2.0**-40 * np.diag([1.0, -1.0])
    for scale in (2.0**-900, 2.0**900):
        assert careful_dist2(scale * x, scale * y) == pytest.approx(careful_dist2(x, y), rel=1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200, 1e300])
def test_careful_distances_bear_one_axis_in_another_unit(scale):
    x, y = np.array([[1.0, 0.5], [0.5, 1.5]]), np.array([[1.0, 0.06], [0.06, 1.0]])
    x[0, 0] *= scale
    x[0, 1] = x[1, 0] = 0.5 * min(np.sqrt(scale), 1.0)
    exact = spd_distance(x, y, digits=700) ** 2
    for d2 in (careful_dist2(x, y), careful_dist2(y, x), SPD(2).dist(x, y) ** 2):
        assert d2 == pytest.approx(exact, rel=1e-12)
    assert SPD(2).squared_distances(x[None], y[None]) == pytest.approx(exact, rel=1e-8)


def test_careful_distances_of_single_numbers_are_those_of_their_logarithms():
    exponents = np.arange(-299.0, 300.0, 13.0)
    for a in exponents:
        for b in exponents:
            d2 = careful_dist2(np.array([[10.0**a]]), np.array([[3.0 * 10.0**b]]))
            exact = (np.log(3.0) + (b - a) * np.log(10.0)) ** 2
            assert d2 == pytest.approx(exact, rel=1e-12)
