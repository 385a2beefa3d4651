"""The smoother against enumeration of all paths, and at numerical extremes."""

import numpy as np
import pytest
from hypothesis import given
from scipy.special import expit, logsumexp

from rhmm import inference
from tests import brute_force
from tests.inference.chains import CLOSE, chains, random_chain


@given(chains())
def test_the_smoother_is_the_share_of_paths_given_everything(chain):
    expected = brute_force.each_sequence(brute_force.smoother, *chain)
    gamma = inference.smoothing(*chain).gamma
    np.testing.assert_allclose(gamma, np.concatenate(expected), **CLOSE)


def test_missing_observations_leave_the_prior():
    start, transition = np.array([0.2, 0.8]), np.array([[0.9, 0.1], [0.4, 0.6]])
    smoothed = inference.smoothing(start, transition, np.full((4, 2), np.nan))
    expected = [start @ np.linalg.matrix_power(transition, t) for t in range(4)]
    np.testing.assert_allclose(smoothed.gamma, expected, rtol=1e-14)
    np.testing.assert_allclose(smoothed.log_likelihood, 0.0, atol=1e-14)


def test_two_absorbing_states_swing_back_after_an_underflow():
    evidence = np.concatenate([np.full(300, -50.0), np.full(400, 60.0)])  # of state 1 over state 0
    log_density = np.column_stack([np.zeros(700), evidence])
    chain = [0.75, 0.25], np.eye(2), log_density
    log_odds = np.log(0.25 / 0.75) + np.cumsum(evidence)
    filtered, smoothed = inference.filtering(*chain), inference.smoothing(*chain)
    np.testing.assert_allclose(filtered.alpha[:, 1], expit(log_odds), atol=1e-300)
    np.testing.assert_allclose(smoothed.gamma, np.tile([0.0, 1.0], (700, 1)), atol=1e-300)
    np.testing.assert_allclose(smoothed.log_likelihood, np.log(0.25) + evidence.sum())
    np.testing.assert_allclose(smoothed.zeta_sum, [[0, 0], [0, 699]], atol=1e-300)
    assert inference.viterbi(*chain).path.all()
    for lag in (0, 100, 350):
        gamma = inference.fixed_lag_smoothing(*chain, lag)[:, 1]
        known = np.minimum(np.arange(700) + lag, 699)
        np.testing.assert_allclose(gamma, expit(log_odds[known]), atol=1e-300)


def test_absorbing_states_in_balance_share_the_posterior():
    evidence = np.concatenate([np.full(200, -1e5), np.full(200, 1e5)])
    log_density = np.column_stack([np.zeros(400), evidence])
    smoothed = inference.smoothing([0.3, 0.7], np.eye(2), log_density)
    np.testing.assert_allclose(smoothed.gamma, np.tile([0.3, 0.7], (400, 1)))


def test_a_left_to_right_chain_weighs_every_moment_of_the_change():
    size, stay = 500, 0.99
    rng = np.random.default_rng(0)
    log_density = rng.normal(scale=300.0, size=(size, 2))
    before = np.concatenate([[0.0], np.cumsum(log_density[:, 0])])  # the change comes at k = 0..T
    after = np.concatenate([[0.0], np.cumsum(log_density[::-1, 1])])[::-1]
    k = np.arange(size + 1)
    prior = np.where(k == 0, -np.inf, (k - 1) * np.log(stay) + np.log(1 - stay) * (k < size))
    weights = prior + before + after
    expected = np.exp(weights - logsumexp(weights))
    chain = [1.0, 0.0], [[stay, 1 - stay], [0.0, 1.0]], log_density
    smoothed = inference.smoothing(*chain)
    np.testing.assert_allclose(smoothed.gamma[:, 0], 1 - np.cumsum(expected)[:-1], atol=1e-9)
    np.testing.assert_allclose(smoothed.log_likelihood, logsumexp(weights), rtol=1e-12)
    decoded = inference.viterbi(*chain)
    assert (decoded.path == 0).sum() == weights.argmax()
    np.testing.assert_allclose(decoded.log_probability, weights.max(), rtol=1e-12)


@pytest.mark.parametrize("penalty", [200.0, 300.0, 400.0, 450.0, 460.0, 470.0, 700.0, 800.0, 1e5])
def test_the_only_possible_path_is_weighed_however_hopeless_it_looks(penalty):
    log_density = np.tile([-penalty, 0.0], (20, 1))
    smoothed = inference.smoothing([1.0, 0.0], [[1.0, 0.0], [0.5, 0.5]], log_density)
    np.testing.assert_allclose(smoothed.log_likelihood, -20 * penalty, rtol=1e-13)
    np.testing.assert_array_equal(smoothed.gamma, np.tile([1.0, 0.0], (20, 1)))


def test_switching_against_tiny_transition_probabilities_costs_their_logarithm():
    tiny = 1e-190
    log_density = np.tile([[0.0, -1000.0], [-1000.0, 0.0]], (10, 1))
    smoothed = inference.smoothing([0.5, 0.5], [[1.0, tiny], [tiny, 1.0]], log_density)
    expected = np.log(0.5) + 19 * np.log(tiny)
    np.testing.assert_allclose(smoothed.log_likelihood, expected, rtol=1e-13)


def test_no_digits_are_lost_next_to_the_smallest_numbers():
    """exp(−735) is a number of double precision, but with four digits only."""
    log_density = np.array([[-400.0, -735.0, 0.0], [-335.0, 0.0, 0.0]])
    chain = [0.5, 0.5, 0.0], np.eye(3), log_density
    expected = [[0.5, 0.5, 0.0]] * 2
    np.testing.assert_allclose(inference.smoothing(*chain).gamma, expected, rtol=1e-10)
    np.testing.assert_allclose(inference.log_likelihood(*chain), -735.0, rtol=1e-13)


def test_tiny_transition_probabilities_are_not_lost_on_the_way_to_an_absorbing_state():
    tiny = 1e-300
    transition = [[1.0, 0.0, 0.0], [0.0, 1.0, tiny], [0.0, 0.0, 1.0]]
    log_density = np.full((7, 3), -400.0)  # in the end it was state 2 ...
    log_density[:, 2] = 0.0
    log_density[0] = [0.0, -345.0, -345.0]  # ... which only the unlikely state 1 leads to
    chain = [0.5, 0.5, 0.0], transition, log_density
    expected = brute_force.smoother(*chain)
    assert expected[-1, 2] > 0.99
    np.testing.assert_allclose(inference.smoothing(*chain).gamma, expected, atol=1e-10)
    np.testing.assert_allclose(inference.log_likelihood(*chain), brute_force.log_likelihood(*chain))


@pytest.mark.parametrize("size", [10**6, 10**7])
def test_long_chains_stay_exact(size):
    """Equal rows of A make the states independent: then every posterior is a plain formula."""
    law = np.array([0.3, 0.7])
    log_density = np.random.default_rng(0).normal(-1e3, 5.0, size=(size, 2))
    chain = law, np.tile(law, (2, 1)), log_density
    odds = log_density[:, 1] - log_density[:, 0] + np.log(0.7 / 0.3)
    smoothed = inference.smoothing(*chain)
    np.testing.assert_allclose(smoothed.gamma[:, 1], expit(odds), atol=1e-12)
    np.testing.assert_allclose(smoothed.gamma.sum(axis=1), 1.0, rtol=1e-12)
    total = (np.log(0.3) + log_density[:, 0] + np.logaddexp(0.0, odds)).sum()
    np.testing.assert_allclose(smoothed.log_likelihood, total, rtol=1e-12)
    np.testing.assert_allclose(smoothed.zeta_sum.sum(), size - 1, rtol=1e-9)
    filtered = inference.filtering(*chain)
    np.testing.assert_allclose(filtered.alpha[-1], smoothed.gamma[-1], rtol=1e-15)
    np.testing.assert_allclose(filtered.log_likelihood, total, rtol=1e-12)
    np.testing.assert_array_equal(inference.viterbi(*chain).path, odds > 0)


def test_rounding_does_not_pile_up_over_a_million_steps_of_a_sticky_chain():
    transition = np.array([[0.999, 0.001, 0.0], [0.0, 0.999, 0.001], [0.001, 0.0, 0.999]])
    log_density = np.random.default_rng(1).normal(scale=20.0, size=(10**6, 3))
    chain = [1.0, 0.0, 0.0], transition, log_density
    smoothed, alpha = inference.smoothing(*chain), inference.filtering(*chain).alpha
    assert np.isfinite(smoothed.log_likelihood)
    for law in (smoothed.gamma, alpha, inference.fixed_lag_smoothing(*chain, 5)):
        assert (law >= 0).all()
        np.testing.assert_allclose(law.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(smoothed.gamma[-1], alpha[-1], rtol=1e-15)
    leaving = smoothed.gamma[:-1].sum(axis=0)
    np.testing.assert_allclose(smoothed.zeta_sum.sum(axis=1), leaving, rtol=1e-9)
    assert (smoothed.zeta_sum[transition == 0] == 0).all()


def test_a_hundred_states_agree_with_a_recursion_on_logarithms():
    rng = np.random.default_rng(2)
    start, transition, log_density, _ = random_chain(rng, 100, [2000], scale=200.0, zeros=0.9)
    log_a = brute_force.log(transition)
    forward = [brute_force.log(start) + log_density[0]]
    heaviest = [forward[0]]
    for row in log_density[1:]:
        forward.append(logsumexp(forward[-1][:, None] + log_a, axis=0) + row)
        heaviest.append((heaviest[-1][:, None] + log_a).max(axis=0) + row)
    backward = [np.zeros(100)]
    for row in log_density[:0:-1]:
        backward.append(logsumexp(log_a + row + backward[-1], axis=1))
    log_alpha, log_beta = np.array(forward), np.array(backward[::-1])
    total = logsumexp(log_alpha[-1])
    smoothed = inference.smoothing(start, transition, log_density)
    np.testing.assert_allclose(smoothed.log_likelihood, total, rtol=1e-12)
    np.testing.assert_allclose(smoothed.gamma, np.exp(log_alpha + log_beta - total), atol=1e-8)
    np.testing.assert_allclose(
        inference.backward(start, transition, log_density), log_beta, rtol=1e-12
    )
    decoded = inference.viterbi(start, transition, log_density)
    np.testing.assert_allclose(decoded.log_probability, heaviest[-1].max(), rtol=1e-12)
