"""Re-centring as a stream goes: causal, in constant memory, in the long run as with all data."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from rhmm import SPD, Hyperbolic, RiemannianHMM, StreamingRecentring, recentred
from tests.brute_force import in_a_row

LENGTHS = [400, 1, 250, 349]
every_space = pytest.mark.parametrize("manifold", [Hyperbolic(2), SPD(2)], ids=repr)


def recordings(manifold, size=1_000, seed=0) -> np.ndarray:
    centre = in_a_row(manifold, [1.5])
    model = RiemannianHMM.from_parameters(manifold, [1.0], [[1.0]], centre, [0.5])
    return model.sample(size, random_state=seed)[0]


@every_space
def test_any_chunking_gives_the_same_to_the_bit(manifold):
    X = recordings(manifold)
    X[[0, 7, 400, 700]] = np.nan
    whole, parts = (StreamingRecentring(manifold, carried=20) for _ in range(2))
    expected = whole.partial_fit_transform(X, lengths=LENGTHS)
    pieces = [
        parts.partial_fit_transform(X[:150]),
        parts.partial_fit_transform(X[150:401], lengths=[250, 1]),
        parts.partial_fit_transform(X[401:650]),
        parts.partial_fit_transform(X[650:], lengths=[1, 349]),
    ]
    assert np.concatenate(pieces).tobytes() == expected.tobytes()
    assert parts.centre_.tobytes() == whole.centre_.tobytes()
    assert np.isnan(expected[[0, 7, 400, 700]]).all()
    assert np.isnan(expected).any(axis=tuple(range(1, X.ndim))).sum() == 4


@every_space
def test_at_the_end_of_a_long_recording_the_centre_is_nearly_that_of_all_data(manifold):
    """Both are estimates of the same centre: sampled points are off by σ √(dim/T) = .016."""
    X = recordings(manifold, 2_000)
    running = StreamingRecentring(manifold).fit(X)
    offline, known = recentred(manifold, X)
    assert manifold.dist(running.centre_, known.centres[0]) < 0.01
    assert np.max(manifold.dist(running.transform(X), offline)) < 0.02
    np.testing.assert_allclose(running.inverse_transform(running.transform(X)), X, atol=1e-9)


def test_on_matrices_that_commute_the_centre_is_exact():
    """Their space is flat: the running centre is the mean of the logarithms."""
    logs = np.random.default_rng(0).normal(size=(50, 2))
    X = np.exp(logs)[:, :, None] * np.eye(2)
    running = StreamingRecentring(SPD(2)).fit(X)
    np.testing.assert_allclose(np.diagonal(running.centre_), np.exp(logs.mean(axis=0)), rtol=1e-9)
    assert running.weight_ == 50.0


def test_nothing_looks_ahead():
    X = recordings(Hyperbolic(2), 60)
    moved = StreamingRecentring(Hyperbolic(2)).partial_fit_transform(X)
    other = np.concatenate([X[:30], -X[30:]])
    again = StreamingRecentring(Hyperbolic(2)).partial_fit_transform(other)
    assert again[:30].tobytes() == moved[:30].tobytes()
    running = StreamingRecentring(Hyperbolic(2)).fit(X[:30])
    np.testing.assert_allclose(running.transform(X[29:30]), moved[29:30], atol=1e-12)


def test_a_recording_begins_with_what_is_carried_of_the_centre_before():
    X = recordings(Hyperbolic(2), 40)
    anew = StreamingRecentring(Hyperbolic(2), carried=0).fit(X, lengths=[30, 10])
    alone = StreamingRecentring(Hyperbolic(2)).fit(X[30:])
    np.testing.assert_allclose(anew.centre_, alone.centre_, atol=1e-12)
    all_of_it = StreamingRecentring(Hyperbolic(2), carried=30).fit(X, lengths=[30, 10])
    np.testing.assert_array_equal(
        all_of_it.centre_, StreamingRecentring(Hyperbolic(2)).fit(X).centre_
    )
    five = StreamingRecentring(Hyperbolic(2), carried=5).fit(X[:30], lengths=[30])
    before = five.centre_.copy()
    five.partial_fit(X[30:31])
    expected = Hyperbolic(2).geodesic(before, X[30], 1 / 6)
    np.testing.assert_allclose(five.centre_, expected, atol=1e-12)


def test_it_follows_scikit_learn_and_names_wrong_arguments():
    running = clone(StreamingRecentring(Hyperbolic(2), carried=3.0))
    with pytest.raises(NotFittedError, match="call fit or partial_fit first"):
        running.transform(np.zeros((1, 2)))
    running.fit(np.full((3, 2), 0.1)).fit(np.zeros((2, 2)))
    np.testing.assert_array_equal(running.centre_, np.zeros(2))
    with pytest.raises(ValueError, match=r"^carried must be a finite number"):
        StreamingRecentring(Hyperbolic(2), carried=-1).fit(np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"^lengths must"):
        running.partial_fit(np.zeros((2, 2)), lengths=[3])
    with pytest.raises(ValueError, match=r"^X"):
        running.partial_fit(np.ones((2, 2)))
