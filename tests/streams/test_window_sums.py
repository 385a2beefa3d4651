import numpy as np
import pytest

from rhmm.streams.window_sums import window_sums, window_sums_of_three


def drawn(seed, size, farthest):
    """A, α and densities of a window, of which some are as small as e^−farthest."""
    rng = np.random.default_rng(seed)
    transmat = rng.dirichlet(np.full(3, 0.3), size=3).clip(1e-12)
    alpha = rng.dirichlet(np.full(3, 0.3), size=size).clip(1e-12)
    exponents = rng.uniform(0.0, farthest, (3, size))
    return transmat, alpha, np.exp(exponents.min(axis=0) - exponents)


@pytest.mark.parametrize("farthest", [1.0, 30.0, 700.0])
@pytest.mark.parametrize("size", [2, 3, 9, 10, 200])
def test_three_states_have_the_sums_of_any_number_of_states(size, farthest):
    transmat, alpha, density = drawn(size, size, farthest)
    sums, of_three = ((np.empty(3), np.empty((3, 3)), np.empty((3, 3))) for _ in range(2))

    nowhere, room = np.zeros(size, bool), (np.empty(3), np.empty(3))
    window_sums(transmat, alpha, density, nowhere, *room, *sums)
    window_sums_of_three(transmat, alpha, density, *of_three)

    for expected, found in zip(sums, of_three, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-290)


def test_sums_are_those_of_probabilities():
    transmat, alpha, density = drawn(0, 50, 20.0)
    gamma, zeta, pair = np.empty(3), np.empty((3, 3)), np.empty((3, 3))

    window_sums_of_three(transmat, alpha, density, gamma, zeta, pair)

    assert zeta.sum() == pytest.approx(49.0)
    assert pair.sum() == pytest.approx(1.0)
    assert gamma.sum() == pytest.approx(49.0 + alpha[-1].sum())
