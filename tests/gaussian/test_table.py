"""The table that kernels read σ and log Z from, against the direct computation."""

import numpy as np
import pytest

from rhmm import SPD, Euclidean, Hyperbolic
from rhmm.gaussian.table import (
    LARGEST_SIGMA,
    SMALLEST_SIGMA,
    half_precision_and_log_z,
    radial_table,
)

MANIFOLDS = [
    Euclidean(1),
    Euclidean(3),
    Hyperbolic(2),
    Hyperbolic(3),
    Hyperbolic(6),
    SPD(2),
    SPD(3),
]


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_the_table_agrees_with_the_direct_computation(manifold):
    table = radial_table(manifold.gaussian)
    sigmas = np.exp(np.random.default_rng(0).uniform(np.log(1.01e-4), np.log(19.9), 400))
    deltas = manifold.delta(sigmas)
    found = np.array([half_precision_and_log_z(table, delta) for delta in deltas])
    np.testing.assert_allclose(found[:, 0], 0.5 / manifold.sigma(deltas) ** 2, rtol=1e-8)
    np.testing.assert_allclose(found[:, 0], 0.5 / sigmas**2, rtol=1e-8)
    np.testing.assert_allclose(found[:, 1], manifold.log_z(sigmas), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
@pytest.mark.parametrize("end", [SMALLEST_SIGMA, LARGEST_SIGMA])
def test_the_ends_of_the_table_are_exact(manifold, end):
    half_precision, log_z = half_precision_and_log_z(
        radial_table(manifold.gaussian), float(manifold.delta(end))
    )
    assert half_precision == pytest.approx(0.5 / end**2, rel=1e-8)
    assert log_z == pytest.approx(float(manifold.log_z(end)), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_beyond_the_table_it_goes_on_straight(manifold):
    table = radial_table(manifold.gaussian)
    for end, factor in ((SMALLEST_SIGMA, 0.01), (LARGEST_SIGMA, 100.0)):
        delta = float(manifold.delta(end))
        inside, near, far = (
            half_precision_and_log_z(table, delta * by) for by in (1.0, factor, factor**3)
        )
        assert near[0] * factor == pytest.approx(inside[0], rel=1e-9)
        assert far[0] * factor**3 == pytest.approx(inside[0], rel=1e-9)
        assert (near[1] > inside[1]) == (factor > 1)
        assert far[1] - inside[1] == pytest.approx(3 * (near[1] - inside[1]), rel=1e-9)


@pytest.mark.parametrize("sigma", [1e-9, 1e-5, 50.0, 1e7])
def test_on_euclidean_space_there_is_no_end(sigma):
    manifold = Euclidean(3)
    table = radial_table(manifold.gaussian)
    half_precision, log_z = half_precision_and_log_z(table, float(manifold.delta(sigma)))
    assert half_precision == pytest.approx(0.5 / sigma**2, rel=1e-8)
    assert log_z == pytest.approx(float(manifold.log_z(sigma)), rel=1e-8)


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_precision_falls_and_the_normaliser_grows_with_delta(manifold):
    table = radial_table(manifold.gaussian)
    deltas = np.geomspace(*manifold.delta(np.array([SMALLEST_SIGMA, LARGEST_SIGMA])), 20_000)
    found = np.array([half_precision_and_log_z(table, delta) for delta in deltas])
    assert (np.diff(found[:, 0]) < 0).all()
    assert (np.diff(found[:, 1]) > 0).all()


def test_manifolds_that_are_equal_share_one_table():
    assert radial_table(Hyperbolic(2).gaussian) is radial_table(Hyperbolic(2).gaussian)
