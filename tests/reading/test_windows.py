import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.covariance import ledoit_wolf, oas

from rhmm.reading.windows import Window, most_frequent, window_covariances

SIGNAL = np.random.default_rng(0).standard_normal((300, 5)) @ np.diag([1, 2, 3, 0.1, 10]) + 7
FIRSTS = Window(40, 13).firsts(0, len(SIGNAL))


def pieces():
    return [SIGNAL[first : first + 40] for first in FIRSTS]


@pytest.mark.parametrize(("shrinkage", "peer"), [("oas", oas), ("ledoit-wolf", ledoit_wolf)])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_shrinkage_is_that_of_scikit_learn(shrinkage, peer, scale):
    window = Window(40, 13, shrinkage, floor=1e-12)

    found = window_covariances(scale * SIGNAL, FIRSTS, window)

    for covariance, piece in zip(found, pieces(), strict=True):
        np.testing.assert_allclose(covariance, scale**2 * peer(piece)[0], rtol=1e-10)


def test_without_shrinkage_it_is_the_empirical_covariance():
    found = window_covariances(SIGNAL, FIRSTS, Window(40, 13, "none", floor=1e-12))

    for covariance, piece in zip(found, pieces(), strict=True):
        np.testing.assert_allclose(covariance, np.cov(piece.T, bias=True), rtol=1e-10, atol=1e-14)


def test_the_floor_raises_small_eigenvalues_and_leaves_others():
    signal = np.column_stack([SIGNAL[:, 0], SIGNAL[:, 0], SIGNAL[:, 1]])  # of rank two

    found = window_covariances(signal, FIRSTS, Window(40, 13, "none", floor=0.01))

    plain = np.array([np.cov(signal[f : f + 40].T, bias=True) for f in FIRSTS])
    values, expected = np.linalg.eigvalsh(found), np.linalg.eigvalsh(plain)
    mean = expected.mean(axis=1)
    np.testing.assert_allclose(values[:, 0], 0.01 * mean, rtol=1e-9)
    np.testing.assert_allclose(values[:, 1:], expected[:, 1:], rtol=1e-9)


def test_a_constant_window_and_one_with_nan_are_missing():
    signal = SIGNAL.copy()
    signal[:40] = 5.0
    signal[100] = np.nan

    found = window_covariances(signal, Window(40).firsts(0, 300), Window(40))

    missing = np.isnan(found).any(axis=(1, 2))
    np.testing.assert_array_equal(missing, [True, False, True, False, False, False, False])


@given(
    st.lists(st.integers(-1, 3), min_size=6, max_size=40),
    st.integers(1, 6),
    st.integers(1, 6),
)
def test_the_most_frequent_label_is_that_of_counting(labels, length, step):
    firsts = Window(length, step).firsts(0, len(labels))

    found = most_frequent(np.array(labels), firsts, length, 4)

    for first, label in zip(firsts, found, strict=True):
        known = [one for one in labels[first : first + length] if one >= 0]
        assert label == (max(range(4), key=known.count) if known else -1)


@pytest.mark.parametrize(
    ("window", "words"),
    [
        (Window(1), "length must be at least 2"),
        (Window(10, 0), "step must be at least 1"),
        (Window(10, shrinkage="best"), "shrinkage must be one of 'oas', 'ledoit-wolf', 'none'"),
        (Window(10, floor=2.0), "floor must be at most 1"),
        (Window(10, floor=0.0), "floor must be a finite number of at least 1e-12"),
    ],
)
def test_a_wrong_window_is_refused(window, words):
    with pytest.raises(ValueError, match=words):
        window.checked()
