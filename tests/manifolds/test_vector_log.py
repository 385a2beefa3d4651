"""The logarithm that compilers vectorise is a logarithm."""

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rhmm.vector_math import log1p


@given(st.floats(-1.0 + 1e-15, 1e300) | st.floats(-0.5, 1.0) | st.floats(-1e-5, 1e-5))
@example(-1.0 + 1e-15)
@example(1e300)
@example(2**0.5 - 1.0)
@example(0.5**0.5 - 1.0)
@example(1e-300)
def test_log1p_is_right_to_the_last_digits(x):
    with mpmath.workdps(40):
        exact = float(mpmath.log1p(mpmath.mpf(x)))
    assert log1p(x) == pytest.approx(exact, rel=2 * np.finfo(float).eps, abs=5e-324)


def test_log1p_of_zero_is_zero():
    assert log1p(0.0) == 0.0
