"""Both recursions in one loop, with few states in variables and many in arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhmm import inference
from rhmm.inference.both_ways import smooth
from rhmm.inference.few_states import FEW
from rhmm.inference.forward_backward import smoothing_scaled
from tests import brute_force
from tests.inference.chains import CLOSE, random_chain


def scaled(log_density):
    """Densities (N, T), divided by the largest of each time, and the logarithms of these."""
    shift = log_density.max(axis=1)
    return np.ascontiguousarray(np.exp(log_density - shift[:, None]).T), shift


def posteriors(start, transition, log_density, lengths, first=0, last=None):
    """γ (T, N), Σζ and the log-likelihood of some of the sequences; γ of the others is NaN."""
    density, shift = scaled(log_density)
    gamma, work = np.full(density.shape, np.nan), np.full((len(density) + 1, len(shift)), np.nan)
    zeta_sum, ends = np.zeros_like(transition), np.cumsum(lengths)
    last = len(ends) if last is None else last
    total = smooth(start, transition, density, shift, ends, first, last, gamma, work, zeta_sum)
    return gamma.T, zeta_sum, total


@given(
    st.integers(1, FEW + 2),
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.sampled_from([1.0, 30.0]),
    st.integers(0, 2**32 - 1),
)
def test_posteriors_are_the_shares_of_paths(n, lengths, scale, seed):
    chain = random_chain(np.random.default_rng(seed), n, lengths, scale)
    gamma, zeta_sum, total = posteriors(*chain)
    np.testing.assert_allclose(
        gamma, np.concatenate(brute_force.each_sequence(brute_force.smoother, *chain)), **CLOSE
    )
    pairs = np.concatenate(brute_force.each_sequence(brute_force.pairs, *chain))
    np.testing.assert_allclose(zeta_sum, pairs.sum(axis=0), **CLOSE)
    likelihoods = brute_force.each_sequence(brute_force.log_likelihood, *chain)
    np.testing.assert_allclose(total, sum(likelihoods), **CLOSE)


@pytest.mark.parametrize("n", range(1, FEW + 3))
@pytest.mark.parametrize("scale", [3.0, 60.0])
def test_what_falls_far_is_scaled_up_on_both_ways(n, scale):
    """The pairwise posteriors come from the reversed chain, which needs no scaling."""
    start, transition, log_density, lengths = random_chain(
        np.random.default_rng(n), n, [700, 1, 500], scale
    )
    gamma, zeta_sum, total = posteriors(start, transition, log_density, lengths)
    zeta = inference.pair_posteriors(start, transition, log_density, lengths)
    np.testing.assert_allclose(zeta_sum, zeta.sum(axis=0), rtol=1e-9)
    followed = zeta.sum(axis=(1, 2)) > 0
    np.testing.assert_allclose(gamma[followed], zeta[followed].sum(axis=2), atol=1e-12)
    expected = inference.log_likelihood(start, transition, log_density, lengths)
    assert total == pytest.approx(expected, rel=1e-12)


def test_some_of_the_sequences_leave_the_others_alone():
    chain = random_chain(np.random.default_rng(0), 3, [5, 7, 4], 2.0)
    gamma, zeta_sum, total = posteriors(*chain)
    parts = [posteriors(*chain, first, first + 1) for first in range(3)]
    for part, rows in zip(parts, (slice(0, 5), slice(5, 12), slice(12, 16)), strict=True):
        np.testing.assert_array_equal(part[0][rows], gamma[rows])
        assert np.isnan(np.delete(part[0], rows, axis=0)).all()
    np.testing.assert_allclose(sum(part[1] for part in parts), zeta_sum, rtol=1e-14)
    assert sum(part[2] for part in parts) == pytest.approx(total, rel=1e-14)


def test_an_underflow_asks_for_logarithms():
    """The only state in which the chain can begin is nearly impossible."""
    start, transition = np.array([1.0, 0.0]), np.array([[0.9, 0.1], [0.1, 0.9]])
    log_density = np.array([[-650.0, 0.0], [0.0, -1.0]])
    density, shift = scaled(log_density)
    assert smoothing_scaled(start, transition, density, shift, np.array([2])) is None
    smoothed = inference.smoothing(start, transition, log_density)
    np.testing.assert_array_equal(smoothed.gamma[0], start)
    expected = -650.0 + np.log(0.9 + 0.1 * np.exp(-1.0))
    assert smoothed.log_likelihood == pytest.approx(expected, rel=1e-14)
