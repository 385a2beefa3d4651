"""Order statistics are those of sorted numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhmm._jit import kernel
from rhmm.ranks import median, nth_smallest

NUMBERS = st.lists(st.floats(allow_nan=False) | st.sampled_from([0.0, 1.0]), min_size=1)


@kernel
def median_of(values):
    return median(values)


@given(NUMBERS, st.data())
def test_the_nth_smallest_stands_there_after_sorting(numbers, data):
    n = data.draw(st.integers(0, len(numbers) - 1))
    values = np.array(numbers)
    assert nth_smallest(values, n) == sorted(numbers)[n]
    assert sorted(values) == sorted(numbers)


@given(st.lists(st.floats(-1e300, 1e300), min_size=1))
def test_the_median_is_that_of_numpy(numbers):
    values = np.array(numbers)
    assert median_of(values.copy()) == pytest.approx(float(np.median(values)))


@given(st.lists(st.floats() | st.just(np.nan), min_size=1))
def test_a_search_among_numbers_with_nan_comes_to_an_end(numbers):
    for n in range(len(numbers)):
        nth_smallest(np.array(numbers), n)
