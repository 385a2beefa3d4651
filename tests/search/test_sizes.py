"""From one number of states to the next, by splits and merges of a fit to a sample."""

import numpy as np
import pytest

from benchmarks import hard
from rhmm import Hyperbolic
from rhmm.search import Fit, Sample, climbed, evidence, n_parameters, path_of_sizes, resized

DISK = Hyperbolic(2)


@pytest.fixture(scope="module")
def sample() -> Sample:
    X, _ = hard.ring(4, 0.4).sample(1_000, random_state=0)
    return Sample(DISK, X, np.array([len(X)]), 1e-6)


def with_states(sample: Sample, means: np.ndarray) -> Fit:
    n = len(means)
    return climbed(sample, np.full((n, n), 1.0 / n), means, np.full(n, 0.5), 0.5, 30)


def bic_price(sample: Sample) -> float:
    return 0.5 * float(np.log(len(sample.points)))


def test_parameters_are_those_of_the_chain_and_of_the_states():
    assert n_parameters(1, 2) == 3
    assert n_parameters(3, 2) == 6 + 6 + 3


@pytest.mark.parametrize("begin", [1, 2, 6, 8])
def test_splits_and_merges_lead_to_the_number_behind_the_data(sample, begin):
    rng = np.random.default_rng(begin)
    fit = with_states(sample, sample.points[rng.choice(1_000, begin, replace=False)])
    found = resized(sample, fit, rng, 12, bic_price(sample))
    assert len(found.delta) == 4
    apart = DISK.squared_distances(found.means, hard.ring(4, 0.4).means_)
    assert apart.min(axis=1).max() < 0.05


def test_what_does_not_pay_is_left_alone(sample):
    rng = np.random.default_rng(0)
    fit = with_states(sample, hard.ring(4, 0.4).means_)
    assert resized(sample, fit, rng, 12, bic_price(sample)) is fit
    assert len(resized(sample, fit, rng, 12, 1e4).delta) == 1


def test_there_are_never_more_states_than_allowed(sample):
    rng = np.random.default_rng(0)
    fit = with_states(sample, sample.points[:1])
    assert len(resized(sample, fit, rng, 3, bic_price(sample)).delta) == 3


def test_the_likelihood_rises_along_the_path(sample):
    path = path_of_sizes(sample, 6, np.random.default_rng(0))
    likelihood = [path[n].log_likelihood for n in range(1, 7)]
    assert (np.diff(likelihood) > -1.0).all()
    assert [len(path[n].delta) for n in path] == [1, 2, 3, 4, 5, 6]


def test_the_path_ends_where_more_states_are_no_better(sample):
    path = path_of_sizes(sample, 12, np.random.default_rng(0), patience=2)
    assert list(path) == [1, 2, 3, 4, 5, 6]


def test_a_state_that_is_counted_twice_does_not_gain_by_the_beginnings_of_sequences(sample):
    short = sample._replace(ends=np.arange(10, 1_001, 10))
    fit = with_states(short, hard.ring(4, 0.4).means_)
    twice = np.array([0, 1, 2, 3, 1])
    transmat = fit.transmat[np.ix_(twice, twice)]
    transmat[:, [1, 4]] /= 2.0
    double = climbed(short, transmat, fit.means[twice], fit.delta[twice], fit.prior, 0)
    assert evidence(short, double) == pytest.approx(evidence(short, fit), abs=1e-3)
    assert abs(double.log_likelihood - fit.log_likelihood) > 1.0
