"""Fixed-lag smoothing against enumeration of all paths."""

import numpy as np
import pytest
from hypothesis import given, settings

from rhmm import inference
from tests import brute_force
from tests.inference.chains import CLOSE, EVEN, ROWS, chains


@settings(max_examples=50)
@given(chains())
def test_fixed_lag_smoothing_knows_as_many_later_observations_as_it_says(chain):
    for lag in range(max(chain[-1]) + 2):
        expected = brute_force.each_sequence(brute_force.fixed_lag, *chain, lag)
        gamma = inference.fixed_lag_smoothing(*chain[:3], lag, chain[3])
        np.testing.assert_allclose(gamma, np.concatenate(expected), **CLOSE)


@pytest.mark.parametrize("lag", [-1, 1.5, True])
def test_a_wrong_lag_is_named(lag):
    with pytest.raises(ValueError, match="lag must be"):
        inference.fixed_lag_smoothing([0.5, 0.5], EVEN, ROWS, lag)
