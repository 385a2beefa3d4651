"""Re-centring: isometries that bring the centre of mass of each recording to the origin."""

import numpy as np
import pytest
from pyriemann.geometry.mean import mean_riemann
from pyriemann.transfer import TLCenter, encode_domains

from rhmm import SPD, Hyperbolic, recentred
from tests.manifolds.cases import every_kind

LENGTHS = [20, 1, 9]


@pytest.fixture(name="X")
def recordings(case):
    """Recordings that lie far from each other."""
    moves = [case.isometry(np.random.default_rng(seed)) for seed in range(3)]
    pieces = np.split(case.some_points(30), np.cumsum(LENGTHS)[:-1])
    return np.concatenate([move(piece) for move, piece in zip(moves, pieces, strict=True)])


@every_kind
def test_every_centre_of_mass_is_the_origin(case, X):
    moved, _ = recentred(case.manifold, X, lengths=LENGTHS)
    for piece in np.split(moved, np.cumsum(LENGTHS)[:-1]):
        assert case.manifold.dist(case.manifold.mean(piece), case.manifold.origin) < 1e-8


@every_kind
def test_distances_within_a_recording_stay(case, X):
    moved, _ = recentred(case.manifold, X, lengths=LENGTHS)
    expected = case.manifold.dist(X[:19], X[1:20])
    np.testing.assert_allclose(case.manifold.dist(moved[:19], moved[1:20]), expected, atol=1e-9)


@every_kind
def test_undo_brings_the_recordings_back_and_missing_ones_stay_missing(case, X):
    X[[3, 20]] = np.nan  # all of the second recording
    moved, recentring = recentred(case.manifold, X, lengths=LENGTHS)
    back = recentring.undo(moved, lengths=LENGTHS)
    np.testing.assert_allclose(back, X, atol=1e-9)
    np.testing.assert_array_equal(recentring.centres[1], case.manifold.origin)
    np.testing.assert_array_equal(recentring.apply(X, lengths=LENGTHS), moved)


def test_covariances_are_whitened_as_pyriemann_does():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(40, 3, 5)) * rng.uniform(0.5, 2.0, (40, 1, 1))
    X = factors @ np.swapaxes(factors, 1, 2)
    domains = ["first"] * 25 + ["second"] * 15
    _, y = encode_domains(X, np.zeros(40), domains)
    theirs = TLCenter("first").fit_transform(X, y)
    ours, recentring = recentred(SPD(3), X, lengths=[25, 15])
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(recentring.centres[0], mean_riemann(X[:25]), rtol=1e-5)


def test_other_recordings_than_it_knows_are_refused():
    X = np.zeros((4, 2))
    _, recentring = recentred(Hyperbolic(2), X, lengths=[2, 2])
    with pytest.raises(ValueError, match="lengths must be those of 2 recordings, not of 1"):
        recentring.apply(X)
