"""The filter and the smoother of a group against plain sums over all earlier and later states."""

import numpy as np
import pytest

from rhmm.inference.few_states import FEW
from rhmm.streams.chunk import start_law
from rhmm.streams.group import FAINT, filter_group, smooth_group

LAG = 5


def group(n, seed=0, *, missing=(), starts=(), faintest=2.0):
    """A, densities (2ℓ, N) whose largest is 1, and which of the times are missing or begin a
    sequence."""
    rng = np.random.default_rng(seed)
    transmat = rng.dirichlet(np.ones(n), n)
    exponents = rng.uniform(0.0, faintest, (2 * LAG, n))
    density = np.exp(exponents.min(axis=1, keepdims=True) - exponents)
    times = np.arange(2 * LAG)
    return transmat, density, np.isin(times, missing), np.isin(times, starts)


def law_of(transmat):
    law = np.empty(len(transmat))
    start_law(transmat, law)
    return law


def filtered(transmat, density, missing, starts, sizes=(2 * LAG,)):
    """α (2ℓ, N), the rows of densities, p(y_t | all before) and what goes on, filtered in pieces of
    these sizes."""
    n, latest = len(transmat), law_of(transmat)
    rows = np.zeros((max(n, FEW), 2 * LAG))
    rows[:n] = np.where(missing, 1.0, density.T)
    alpha, scale, done = np.zeros((max(n, FEW), 2 * LAG)), [], 0
    for size in sizes:
        scales = np.empty(2 * LAG)
        filter_group(
            transmat, rows, starts, done, done, size, latest, alpha, scales, np.empty(n)
        )  # fmt: skip
        scale.extend(scales[:size])
        done += size
    return alpha[:n].T, rows, np.array(scale), latest


def smoothed(transmat, alpha, rows, missing, starts):
    """γ (N, ℓ) of the older half, and the sum of its ζ (N, N)."""
    n, room = len(transmat), len(rows)
    filled = np.zeros(rows.shape)
    filled[:n] = alpha.T
    gamma, pair = np.full((room, LAG), np.nan), np.full((room, room), np.nan)
    smooth_group(
        transmat, filled, rows, missing, starts, 0, gamma, pair, np.empty((2, n, LAG)),
        np.empty((2, n)),
    )  # fmt: skip
    return gamma[:n], pair[:n, :n]


STATES = range(1, FEW + 3)


@pytest.mark.parametrize("n", STATES)
def test_the_filter_is_what_past_and_present_say(n):
    transmat, density, missing, starts = group(n, missing=[3], starts=[6])
    alpha, _, scale, latest = filtered(transmat, density, missing, starts)
    law = law_of(transmat)
    for t in range(2 * LAG):
        predicted = law_of(transmat) if starts[t] else law @ transmat
        joint = predicted * (1.0 if missing[t] else density[t])
        assert scale[t] == pytest.approx(joint.sum(), rel=1e-13)
        law = joint / joint.sum()
        np.testing.assert_allclose(alpha[t] / alpha[t].sum(), law, rtol=1e-12)
    np.testing.assert_array_equal(latest, alpha[-1])


@pytest.mark.parametrize("n", STATES)
def test_pieces_change_no_digit_of_the_filter(n):
    stream = group(n, missing=[2], starts=[7])
    whole = filtered(*stream)
    for sizes in [(1,) * 2 * LAG, (3, 7), (9, 1)]:
        for once, again in zip(whole, filtered(*stream, sizes), strict=True):
            np.testing.assert_array_equal(once, again)


@pytest.mark.parametrize("n", STATES[1:])
def test_the_filter_is_scaled_up_before_it_is_lost(n):
    transmat, density, missing, starts = group(n)
    transmat = np.full((n, n), 1e-12)
    np.fill_diagonal(transmat, 1.0 - (n - 1) * 1e-12)
    density = np.full((2 * LAG, n), 1e-300)
    density[np.arange(2 * LAG), np.arange(2 * LAG) % n] = 1.0  # each state in turn
    alpha, _, scale, _ = filtered(transmat, density, missing, starts)
    assert (alpha.sum(axis=1) >= FAINT).all()
    np.testing.assert_allclose(scale[1:], 1e-12, rtol=1e-9)


@pytest.mark.parametrize("n", STATES)
def test_the_smoother_weighs_each_pair_by_all_that_follows(n):
    transmat, density, missing, starts = group(n, missing=[1, 8], starts=[3, 7])
    alpha, rows, _, _ = filtered(transmat, density, missing, starts)
    gamma, pair = smoothed(transmat, alpha, rows, missing, starts)
    kept = rows[:n].T
    beta, zeta_sum = np.ones(n), np.zeros((n, n))
    for t in range(2 * LAG - 2, -1, -1):
        ahead = transmat * (kept[t + 1] * beta)
        beta = np.ones(n) if starts[t + 1] else ahead.sum(axis=1)
        if t < LAG:
            weight = 0.0 if missing[t] else 1.0
            expected = alpha[t] * beta / (alpha[t] @ beta)
            np.testing.assert_allclose(gamma[:, t], weight * expected, rtol=1e-12)
            if not starts[t + 1]:
                zeta = alpha[t][:, None] * ahead
                zeta_sum += weight * zeta / zeta.sum()
    np.testing.assert_allclose(pair, zeta_sum, rtol=1e-12)


@pytest.mark.parametrize("n", STATES[1:])
def test_the_smoother_does_not_lose_what_is_faint(n):
    transmat, density, missing, starts = group(n, faintest=650.0)
    alpha, rows, _, _ = filtered(transmat, density, missing, starts)
    gamma, pair = smoothed(transmat, alpha, rows, missing, starts)
    np.testing.assert_allclose(gamma.sum(axis=0), 1.0, rtol=1e-12)
    assert pair.sum() == pytest.approx(LAG, rel=1e-12)
