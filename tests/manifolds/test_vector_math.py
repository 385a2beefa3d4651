"""The logarithm and the exponential that compilers vectorise are what they say."""

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rhmm._jit import kernel
from rhmm.vector_math import (
    dot,
    drawn,
    exp,
    fma,
    log,
    log1p,
    log_one_more,
    log_sinhc,
    one_less_exp,
    total,
)

TWO_UNITS_IN_THE_LAST_PLACE = 2 * np.finfo(float).eps


@kernel
def rounded_once(x, y, z):
    return fma(x, y, z)


def test_fma_rounds_once():
    x = 1.0 + 2.0**-30
    assert rounded_once(x, x, -(1.0 + 2.0**-29)) == 2.0**-60  # x² has no such digit


@given(st.floats(1e-290, 8.0) | st.floats(1e-12, 1e-6), st.floats(1e-30, 1.0))
@example(0.5, 1.0)
@example(1e-290, 1.0)
@example(4.0, 1e-30)
def test_the_logarithm_of_a_ratio_is_right_to_the_last_digits(x, y):
    with mpmath.workdps(60):
        exact = float(mpmath.log1p(mpmath.mpf(x) / mpmath.mpf(y)))
    assert log_one_more(x, y) == pytest.approx(exact, rel=TWO_UNITS_IN_THE_LAST_PLACE, abs=0.0)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 40, 101])
def test_sums_in_lanes_are_sums(size):
    x, y = np.random.default_rng(size).standard_normal((2, size))
    assert dot(x, y, size) == pytest.approx(x @ y, abs=1e-13)
    assert total(x) == pytest.approx(x.sum(), abs=1e-13)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=150), st.integers(0, 64))
@example([0] * 70, 32)
def test_what_is_drawn_reaches_its_share_of_the_whole(weights, parts):
    found = drawn(np.array(weights, float), float(sum(weights)), parts / 64)
    reached = np.cumsum(weights)
    wanted = [t for t, w in enumerate(weights) if w > 0 and 64 * reached[t] >= parts * reached[-1]]
    assert found == (wanted[0] if wanted else len(weights) - 1)


@given(st.floats(-1.0 + 1e-15, 1e300) | st.floats(-0.5, 1.0) | st.floats(-1e-5, 1e-5))
@example(-1.0 + 1e-15)
@example(1e300)
@example(2**0.5 - 1.0)
@example(0.5**0.5 - 1.0)
@example(1e-300)
@example(0.0)
def test_log1p_is_right_to_the_last_digits(x):
    with mpmath.workdps(40):
        exact = float(mpmath.log1p(mpmath.mpf(x)))
    assert log1p(x) == pytest.approx(exact, rel=TWO_UNITS_IN_THE_LAST_PLACE, abs=0.0)


@given(st.floats(1e-300, 1e300) | st.floats(0.5, 2.0) | st.floats(1.0 - 1e-5, 1.0 + 1e-5))
@example(1.0)
@example(2**0.5)
@example(0.5**0.5)
def test_log_is_right_to_the_last_digits(x):
    with mpmath.workdps(40):
        exact = float(mpmath.log(mpmath.mpf(x)))
    assert log(x) == pytest.approx(exact, rel=TWO_UNITS_IN_THE_LAST_PLACE, abs=0.0)


@given(st.floats(0.0, 50.0) | st.floats(0.0, 0.3) | st.floats(0.0, 1e-5))
@example(0.25)
@example(np.nextafter(0.25, 1.0))
@example(1e-300)
def test_one_less_exp_keeps_the_digits_of_small_numbers(x):
    with mpmath.workdps(40):
        exact = float(-mpmath.expm1(-mpmath.mpf(x)))
    assert one_less_exp(x) == pytest.approx(exact, rel=4e-16, abs=0.0)


@given(st.floats(-700.0, 0.0) | st.floats(-1.0, 0.0) | st.floats(-1e-5, 0.0))
@example(0.0)
@example(-700.0)
@example(-0.5 * np.log(2.0))
def test_exp_is_right_to_the_last_digits(x):
    with mpmath.workdps(40):
        exact = float(mpmath.exp(mpmath.mpf(x)))
    assert exp(x) == pytest.approx(exact, rel=TWO_UNITS_IN_THE_LAST_PLACE, abs=0.0)


@pytest.mark.parametrize("x", [-701.0, -1e10, -np.inf])
def test_exp_has_a_floor_instead_of_zero(x):
    assert exp(x) == exp(-700.0) > 0.0


@given(st.floats(1e-8, 700.0) | st.floats(1e-8, 0.1))
@example(0.03)
@example(0.0299999)
@example(1e-5)
def test_log_sinhc_is_right_and_does_not_overflow(x):
    with mpmath.workdps(60):
        exact = float(mpmath.log(mpmath.sinh(mpmath.mpf(x)) / mpmath.mpf(x)))
    assert log_sinhc(x) == pytest.approx(exact, rel=1e-11, abs=1e-15)


def test_log_sinhc_is_zero_at_zero():
    assert log_sinhc(0.0) == 0.0
