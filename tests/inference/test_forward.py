"""The forward recursion against enumeration of all paths, and where probabilities underflow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhmm import inference
from tests import brute_force
from tests.inference.chains import CLOSE, chains


@given(chains())
def test_the_log_likelihood_is_the_sum_over_all_paths(chain):
    expected = sum(brute_force.each_sequence(brute_force.log_likelihood, *chain))
    np.testing.assert_allclose(inference.log_likelihood(*chain), expected, **CLOSE)
    np.testing.assert_allclose(inference.filtering(*chain).log_likelihood, expected, **CLOSE)
    np.testing.assert_allclose(inference.smoothing(*chain).log_likelihood, expected, **CLOSE)


@given(chains())
def test_the_filter_is_the_share_of_paths_given_the_past(chain):
    expected = brute_force.each_sequence(brute_force.fixed_lag, *chain, 0)
    alpha = inference.filtering(*chain).alpha
    np.testing.assert_allclose(alpha, np.concatenate(expected), **CLOSE)


@given(chains(), st.integers(0, 2**32 - 1))
def test_impossible_observations_are_refused_and_possible_ones_are_not(chain, seed):
    start, transition, log_density, lengths = chain
    log_density[np.random.default_rng(seed).random(log_density.shape) < 0.2] = -np.inf
    log_density[np.isnan(log_density).any(axis=1)] = np.nan  # missing altogether, or not at all
    chain = start, transition, log_density, lengths
    expected = sum(brute_force.each_sequence(brute_force.log_likelihood, *chain))
    for recursion in (inference.filtering, inference.smoothing, inference.viterbi):
        if np.isfinite(expected):
            recursion(*chain)
        else:
            with pytest.raises(ValueError, match=r"log_density|the observations are impossible"):
                recursion(*chain)
    if np.isfinite(expected):
        np.testing.assert_allclose(inference.log_likelihood(*chain), expected, **CLOSE)
        gamma = np.concatenate(brute_force.each_sequence(brute_force.smoother, *chain))
        np.testing.assert_allclose(inference.smoothing(*chain).gamma, gamma, **CLOSE)


def test_the_only_allowed_start_is_believed_even_where_its_density_is_hopeless():
    log_density = np.array([[-1e5, 0.0], [0.0, -3.0], [-2.0, 0.0]])
    chain = [1.0, 0.0], [[0.5, 0.5], [0.3, 0.7]], log_density
    assert inference.filtering(*chain).alpha[0].tolist() == [1.0, 0.0]
    expected = brute_force.log_likelihood(*chain)
    np.testing.assert_allclose(inference.log_likelihood(*chain), expected, rtol=1e-15)
    np.testing.assert_allclose(inference.smoothing(*chain).gamma, brute_force.smoother(*chain))
