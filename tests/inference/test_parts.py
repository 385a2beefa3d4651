"""Parts of sequences against whole ones: what lies outside of a part makes no difference."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rhmm import inference
from rhmm.inference.parts import forget_future, forget_past
from tests import brute_force

START = np.array([0.2, 0.5, 0.3])
TRANSITION = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.25, 0.25, 0.5]])


def densities(size: int, seed: int = 0, spread: float = 1.5) -> np.ndarray:
    """Random log-densities (size, 3), a few of them missing."""
    rng = np.random.default_rng(seed)
    log_density = rng.normal(0.0, spread, (size, 3))
    log_density[rng.random(size) < 0.1] = np.nan
    return log_density


@pytest.mark.parametrize("seed", range(3))
def test_the_predicted_law_is_that_of_the_whole_sequence(seed):
    whole = densities(500, seed)
    found = forget_past(TRANSITION, whole[100:])
    alpha = inference.filtering(START, TRANSITION, whole).alpha
    assert 0 < found.time < 200
    assert_allclose(found.law, alpha[100 + found.time - 1] @ TRANSITION, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_likelihood_of_what_follows_is_that_of_the_whole_sequence(seed):
    whole = densities(500, seed)
    whole[300 : 300 + 5] = 0.0  # not missing, where the brute force below begins
    found = forget_future(TRANSITION, whole[:400])
    log_beta = inference.backward(START, TRANSITION, whole)
    density = np.nan_to_num(whole[found.time])
    expected = log_beta[found.time] + density
    assert 200 < found.time < 400
    assert_allclose(found.law, expected - expected.max(), rtol=0.0, atol=1e-12)


def test_tiny_parts_agree_with_all_paths_where_the_state_is_certain():
    """The first observation tells the state, and so does the last: nothing beyond them matters."""
    log_density = np.array([[0.0, -200.0, -200.0], [-1.0, 0.0, -2.0], [-200.0, 0.0, -200.0]])
    past, future = forget_past(TRANSITION, log_density), forget_future(TRANSITION, log_density)
    assert (past.time, future.time) == (1, 1)
    for before in range(3):
        start = TRANSITION[before]
        smoothed = brute_force.smoother(start, TRANSITION, log_density[:1])
        assert_allclose(past.law, smoothed[0] @ TRANSITION, rtol=1e-12)
    expected = log_density[1] + np.log(TRANSITION[:, 1])
    assert_allclose(future.law, expected - expected.max(), rtol=0.0, atol=1e-12)


def test_a_chain_that_never_mixes_is_never_forgotten():
    apart = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    assert forget_past(apart, densities(300)) is None
    assert forget_future(apart, densities(300)) is None


def test_states_before_the_part_that_are_impossible_do_not_count():
    """Only state 0 and 1 lead to where the first observation can be."""
    transition = np.array([[0.5, 0.5, 0.0], [0.4, 0.6, 0.0], [0.0, 0.0, 1.0]])
    log_density = densities(300)
    log_density[0] = [0.0, 0.0, -np.inf]
    log_density = np.nan_to_num(log_density, nan=0.0, neginf=-np.inf)
    found = forget_past(transition, log_density)
    expected = inference.filtering([1.0, 0.0, 0.0], transition, log_density[: found.time]).alpha[-1]
    assert_allclose(found.law, expected @ transition, rtol=1e-12, atol=1e-300)
