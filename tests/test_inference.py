import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logsumexp

from rhmm import inference
from tests import brute_force

CLOSE = {"rtol": 1e-10, "atol": 1e-10}


@st.composite
def chains(draw):
    """A random model with log densities of any scale, as arguments of every recursion."""
    n = draw(st.integers(1, 3))
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    scale = draw(st.sampled_from([1.0, 30.0, 400.0, 1e3, 1e5]))
    zeros, missing = draw(st.sampled_from([0.0, 0.5])), draw(st.sampled_from([0.0, 0.3]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_chain(rng, n, lengths, scale, zeros, missing)


def random_chain(rng, n, lengths, scale=1.0, zeros=0.0, missing=0.0):
    rows = rng.dirichlet(np.ones(n), size=n + 1)
    rows[rng.random(rows.shape) < zeros] = 0.0
    rows[rows.sum(axis=1) == 0.0, rng.integers(n)] = 1.0
    rows /= rows.sum(axis=1, keepdims=True)
    log_density = -scale * rng.exponential(size=(sum(lengths), n))
    log_density[rng.random(len(log_density)) < missing] = np.nan
    return rows[0], rows[1:], log_density, lengths


# Against enumeration of all paths


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


@given(chains())
def test_the_smoother_is_the_share_of_paths_given_everything(chain):
    expected = brute_force.each_sequence(brute_force.smoother, *chain)
    gamma = inference.smoothing(*chain).gamma
    np.testing.assert_allclose(gamma, np.concatenate(expected), **CLOSE)


@settings(max_examples=50)
@given(chains())
def test_fixed_lag_smoothing_knows_as_many_later_observations_as_it_says(chain):
    for lag in range(max(chain[-1]) + 2):
        expected = brute_force.each_sequence(brute_force.fixed_lag, *chain, lag)
        gamma = inference.fixed_lag_smoothing(*chain[:3], lag, chain[3])
        np.testing.assert_allclose(gamma, np.concatenate(expected), **CLOSE)


@given(chains())
def test_pair_posteriors_are_the_share_of_paths_through_both_states(chain):
    expected = np.concatenate(brute_force.each_sequence(brute_force.pairs, *chain))
    np.testing.assert_allclose(inference.pair_posteriors(*chain), expected, **CLOSE)
    np.testing.assert_allclose(inference.smoothing(*chain).zeta_sum, expected.sum(axis=0), **CLOSE)


@given(chains())
def test_log_beta_is_the_likelihood_of_the_future(chain):
    expected = brute_force.each_sequence(brute_force.log_beta, *chain)
    np.testing.assert_allclose(inference.backward(*chain), np.concatenate(expected), **CLOSE)


@given(chains())
def test_viterbi_finds_the_heaviest_path(chain):
    start, transition, log_density, lengths = chain
    best = sum(brute_force.each_sequence(brute_force.best_weight, *chain))
    log_probability, path = inference.viterbi(*chain)
    np.testing.assert_allclose(log_probability, best, **CLOSE)
    ends = np.cumsum(lengths)
    weight = sum(
        brute_force.weight_of(path[e - k : e], start, transition, log_density[e - k : e])
        for e, k in zip(ends, lengths, strict=True)
    )
    np.testing.assert_allclose(weight, best, **CLOSE)


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


# Numerical extremes, where the answer is known otherwise


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


def test_the_only_allowed_start_is_believed_even_where_its_density_is_hopeless():
    log_density = np.array([[-1e5, 0.0], [0.0, -3.0], [-2.0, 0.0]])
    chain = [1.0, 0.0], [[0.5, 0.5], [0.3, 0.7]], log_density
    assert inference.filtering(*chain).alpha[0].tolist() == [1.0, 0.0]
    expected = brute_force.log_likelihood(*chain)
    np.testing.assert_allclose(inference.log_likelihood(*chain), expected, rtol=1e-15)
    np.testing.assert_allclose(inference.smoothing(*chain).gamma, brute_force.smoother(*chain))


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
    np.testing.assert_array_equal(filtered.alpha[-1], smoothed.gamma[-1])
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
    np.testing.assert_array_equal(smoothed.gamma[-1], alpha[-1])
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


# Arguments


def test_the_arguments_are_left_as_they_were():
    chain = random_chain(np.random.default_rng(3), 3, [20], missing=0.2)
    copies = [np.copy(argument) for argument in chain]
    inference.smoothing(*chain)
    inference.viterbi(*chain)
    inference.backward(*chain)
    for argument, copy in zip(chain, copies, strict=True):
        np.testing.assert_array_equal(argument, copy)


def test_missing_observations_leave_the_prior():
    start, transition = np.array([0.2, 0.8]), np.array([[0.9, 0.1], [0.4, 0.6]])
    smoothed = inference.smoothing(start, transition, np.full((4, 2), np.nan))
    expected = [start @ np.linalg.matrix_power(transition, t) for t in range(4)]
    np.testing.assert_allclose(smoothed.gamma, expected, rtol=1e-14)
    np.testing.assert_allclose(smoothed.log_likelihood, 0.0, atol=1e-14)


EVEN = np.full((2, 2), 0.5)
ROWS = np.zeros((3, 2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 0.6], EVEN, ROWS), "start must sum to 1, not 1.1"),
        (([1.5, -0.5], EVEN, ROWS), "start must hold finite, non-negative probabilities"),
        (([np.nan, 1.0], EVEN, ROWS), "start must hold finite, non-negative probabilities"),
        (([], EVEN, ROWS), "start must be a non-empty array of 1 dimension"),
        (("ab", EVEN, ROWS), "start must be an array of probabilities"),
        (([0.5, 0.5], [[1.0, 0.0], [0.5, 0.4]], ROWS), "row 1 of transition must sum to 1"),
        (([0.5, 0.5], [[1.0]], ROWS), r"transition must have shape \(2, 2\) to match start"),
        (([0.5, 0.5], EVEN, np.zeros((3, 3))), r"log_density must have shape \(T, 2\)"),
        (([0.5, 0.5], EVEN, np.zeros(3)), r"log_density must have shape \(T, 2\)"),
        (([0.5, 0.5], EVEN, [["a", "b"]]), "log_density must be an array of numbers"),
        (([0.5, 0.5], EVEN, ROWS, [2, 2]), "lengths must add up to the 3 observations, not 4"),
        (([0.5, 0.5], EVEN, ROWS, [3, 0]), "lengths must be a list of positive whole numbers"),
        (([0.5, 0.5], EVEN, ROWS, [1.5, 1.5]), "lengths must be a list of positive whole numbers"),
        (([0.5, 0.5], EVEN, ROWS, 3), "lengths must be a list of positive whole numbers"),
        (([0.5, 0.5], EVEN, ROWS, "three"), "lengths must be whole numbers"),
    ],
)
@pytest.mark.parametrize(
    "recursion",
    [inference.smoothing, inference.viterbi, inference.backward],
    ids=lambda f: f.__name__,
)
def test_a_wrong_argument_is_named(recursion, arguments, message):
    with pytest.raises(ValueError, match=message):
        recursion(*arguments)


@pytest.mark.parametrize(
    "row", [[np.inf, 0.0], [0.0, np.nan], [np.nan, -np.inf]], ids=["infinite", "half", "no density"]
)
@pytest.mark.parametrize(
    "recursion",
    [inference.filtering, inference.smoothing, inference.viterbi, inference.backward],
    ids=lambda f: f.__name__,
)
def test_a_row_that_is_no_log_density_is_named(recursion, row):
    with pytest.raises(ValueError, match=r"log_density\[1\]"):
        recursion([0.5, 0.5], EVEN, [[0.0, 0.0], row])


@pytest.mark.parametrize("lag", [-1, 1.5, True])
def test_a_wrong_lag_is_named(lag):
    with pytest.raises(ValueError, match="lag must be"):
        inference.fixed_lag_smoothing([0.5, 0.5], EVEN, ROWS, lag)
