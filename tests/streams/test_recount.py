"""States are born and die, and all others keep what they have learned."""

import math

import numpy as np
import pytest

from rhmm import Hyperbolic
from rhmm.search import Sample, climbed
from rhmm.streams.recount import Recount, first_count, price_of_parameter, recount
from rhmm.streams.start import streaming_state
from tests.learners.chains import chain_on

DISK = Hyperbolic(2)


@pytest.fixture(scope="module")
def sample() -> Sample:
    X, _ = chain_on(DISK).sample(1_200, random_state=0)
    return Sample(DISK, X, np.array([len(X)]), 1e-6)


def state_of(sample: Sample, means: np.ndarray):
    """What has been learned with these means, from three times as many observations."""
    n = len(means)
    fit = climbed(sample, np.full((n, n), 1 / n), means, np.full(n, 0.3), 0.3, 20)
    state = streaming_state(DISK, fit, 8, 3_600)
    state.visits[:] = 3.0 * fit.visits
    return state


def recounted(sample, state, names, **options) -> Recount | None:
    given = {"most": 12, "price": 3.5, "is_whole": False, **options}
    return recount(sample, state, np.array(names), np.random.default_rng(0), **given)


def test_a_parameter_costs_what_bic_asks_for_on_the_whole_stream():
    assert price_of_parameter(1_000, 1) == pytest.approx(0.5 * math.log(1_000))
    assert price_of_parameter(10_000, 2) == pytest.approx(0.25 * math.log(10_000))
    assert price_of_parameter(10**6, 512) == price_of_parameter(10**9, 2**18) > 1.0


def test_the_first_count_is_that_of_bic(sample):
    fit = first_count(sample, 12, np.random.default_rng(0))
    assert len(fit.delta) == 3
    assert len(first_count(sample, 2, np.random.default_rng(0)).delta) == 2


def test_the_right_number_is_left_alone(sample):
    assert recounted(sample, state_of(sample, chain_on(DISK).means_), [0, 1, 2]) is None


def test_a_birth_changes_only_the_state_that_is_split(sample):
    truth = chain_on(DISK).means_
    state = state_of(sample, truth[[0, 1]])
    alone = int(np.argmin(state.delta))  # the other one explains two clusters
    found = recounted(sample, state, [4, 7])
    assert found is not None
    assert found.names.tolist() == [4, 7, 0]
    assert np.array_equal(found.state.means[alone], state.means[alone])
    assert found.state.delta[alone] == pytest.approx(state.delta[alone])
    assert found.state.visits[alone] == state.visits[alone]
    assert found.state.transmat[alone, alone] == pytest.approx(
        state.transmat[alone, alone], rel=1e-4
    )
    np.testing.assert_allclose(found.state.transmat.sum(axis=1), 1.0)
    assert found.gain > 0.0
    apart = DISK.squared_distances(found.state.means, truth)
    assert apart.min(axis=1).max() < 0.1


def test_two_states_that_share_a_cluster_become_one_with_what_both_have_learned(sample):
    truth = chain_on(DISK).means_
    state = state_of(sample, truth[[0, 1, 2, 2]])
    found = recounted(sample, state, [3, 2, 1, 0])
    assert found is not None
    assert found.names.tolist() in ([3, 2, 1], [3, 2, 0])
    np.testing.assert_array_equal(found.state.means[:2], state.means[:2])
    assert found.state.visits[2] == pytest.approx(state.visits[2:].sum())
    assert DISK.dist(found.state.means[2], state.means[2]) < 1e-6
    np.testing.assert_allclose(found.state.transmat.sum(axis=1), 1.0)
    np.testing.assert_allclose(
        found.state.transmat[:2, 2], state.transmat[:2, 2:].sum(axis=1), rtol=1e-4
    )


def test_a_record_that_is_whole_is_fitted_anew(sample):
    state = state_of(sample, chain_on(DISK).means_[[0, 1]])
    found = recounted(sample, state, [0, 1], is_whole=True)
    assert found is not None
    assert found.at_once
    assert not np.isin(found.state.visits, state.visits).any()
