"""Starts of a search, judged by their likelihood."""

import numpy as np
import pytest

from rhmm import Hyperbolic
from rhmm.search import Sample, best_start, climbed, seeds
from tests.brute_force import MANIFOLDS
from tests.learners.chains import chain_on

everywhere = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)


def sample_on(manifold, size=300) -> Sample:
    X, _ = chain_on(manifold).sample(size, random_state=0)
    return Sample(manifold, X, np.array([size]), 1e-6)


@everywhere
def test_the_best_start_is_nearly_as_likely_as_the_truth(manifold):
    sample = sample_on(manifold)
    best, _ = best_start(sample, 3, np.random.default_rng(0), tried=8, kept=2, steps=10)
    assert best.log_likelihood > chain_on(manifold).score(sample.points) - 15.0


@pytest.mark.parametrize("kept", [1, 3, 8])
def test_the_start_is_the_likeliest_of_those_that_go_on(kept):
    """What is left in memory must be of that one, whichever was climbed last."""
    sample = sample_on(Hyperbolic(2))
    for seed in range(5):
        rng = np.random.default_rng(seed)
        best, _ = best_start(sample, 3, rng, tried=8, kept=kept, steps=2)
        again = climbed(sample, best.transmat, best.means, best.delta, best.prior, 0)
        assert again.log_likelihood == best.log_likelihood
        np.testing.assert_array_equal(again.gamma, best.gamma)


def test_more_starts_that_go_on_lead_no_lower():
    sample = sample_on(Hyperbolic(2))
    likelihoods = [
        best_start(sample, 3, np.random.default_rng(3), tried=8, kept=kept, steps=5)[
            0
        ].log_likelihood
        for kept in range(1, 8)
    ]
    assert likelihoods == sorted(likelihoods)


def test_the_same_seed_gives_the_same_starts():
    sample = sample_on(Hyperbolic(2))
    one, other = (
        best_start(sample, 3, np.random.default_rng(5), tried=4, kept=1, steps=3)[0]
        for _ in range(2)
    )
    assert one.means.tobytes() == other.means.tobytes()


def with_outliers(sample: Sample) -> Sample:
    """Three points at the rim of the disk, in different directions."""
    points, angle = sample.points.copy(), 2.0 * np.pi * np.arange(3) / 3.0
    points[50:250:70] = (1 - 1e-9) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return sample._replace(points=points)


def test_outliers_do_not_take_the_place_of_clusters():
    """Seeds drawn by d² would be the outliers, all three of them."""
    sample = sample_on(Hyperbolic(2))
    plain, _ = best_start(sample, 3, np.random.default_rng(0), tried=8, kept=1, steps=10)
    found, _ = best_start(
        with_outliers(sample), 3, np.random.default_rng(0), tried=8, kept=1, steps=10
    )
    between = Hyperbolic(2).squared_distances(plain.means, found.means)
    assert between.min(axis=1).max() < 0.05


def test_bare_seeds_are_no_outliers():
    sample = with_outliers(sample_on(Hyperbolic(2)))
    for seed in range(5):
        means = seeds(sample, 3, np.random.default_rng(seed)).means
        assert np.linalg.norm(means, axis=1).max() < 0.999
