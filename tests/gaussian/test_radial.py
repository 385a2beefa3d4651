"""log Z, δ, Var d² and σ(δ) on every manifold."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from rhmm import SPD, Euclidean, Hyperbolic
from rhmm.gaussian.spd import departure_series
from tests.gaussian.exact import Law, hyperbolic_law, spd_law

REFERENCE = json.loads((Path(__file__).parents[1] / "reference.json").read_text())

MANIFOLDS = [
    Euclidean(1),
    Euclidean(5),
    Hyperbolic(1),
    Hyperbolic(2),
    Hyperbolic(3),
    Hyperbolic(10),
    SPD(1),
    SPD(2),
    SPD(3),
    SPD(8),
]
every_manifold = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)


def law_of(manifold, sigma) -> Law:
    return Law(manifold.log_z(sigma), manifold.delta(sigma), manifold.var_d2(sigma))


def assert_same_law(law: Law, exact: Law, rel: float):
    assert law.log_z == pytest.approx(exact.log_z, rel=rel, abs=rel)  # relative to Z, too
    assert law.delta == pytest.approx(exact.delta, rel=rel)
    assert law.var_d2 == pytest.approx(exact.var_d2, rel=rel)


# Independent truth


def reference_values() -> list:
    rows = []
    for kind, make, letter in (("hyperbolic", Hyperbolic, "H"), ("spd", SPD, "P")):
        for space, entries in REFERENCE[kind]["values"].items():
            manifold = make(int(space.removeprefix(letter)))
            for sigma, entry in entries.items():
                law = Law(*(float(entry[key]) for key in ("logZ", "delta", "var_d2")))
                rows.append(pytest.param(manifold, float(sigma), law, id=f"{space}, {sigma}"))
    return rows


@pytest.mark.parametrize(("manifold", "sigma", "reference"), reference_values())
def test_the_law_agrees_with_the_reference(manifold, sigma, reference):
    law = law_of(manifold, sigma)
    assert law.log_z == pytest.approx(reference.log_z, rel=1e-12)
    assert law.delta == pytest.approx(reference.delta, rel=1e-12)
    assert law.var_d2 == pytest.approx(reference.var_d2, rel=1e-9)
    assert manifold.sigma(reference.delta) == pytest.approx(sigma, rel=1e-12)


@pytest.mark.parametrize("dim", range(1, 11))
@pytest.mark.parametrize("sigma", [0.01, 0.05, 0.3, 1.0, 2.0, 4.0])
def test_the_law_on_hyperbolic_space_agrees_with_error_functions(dim, sigma):
    assert_same_law(law_of(Hyperbolic(dim), sigma), hyperbolic_law(dim, sigma), 1e-11)


@pytest.mark.parametrize("dim", [2, 10])
@pytest.mark.parametrize("sigma", [1e-3, 10.0])
def test_the_law_on_hyperbolic_space_holds_beyond_its_promise(dim, sigma):
    assert_same_law(law_of(Hyperbolic(dim), sigma), hyperbolic_law(dim, sigma), 1e-11)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 7, 9, 10, 12])
@pytest.mark.parametrize("sigma", [0.05, 0.4, 1.0, 3.0])
def test_the_law_on_matrices_agrees_with_the_pfaffian(size, sigma):
    assert_same_law(law_of(SPD(size), sigma), spd_law(size, sigma), 1e-11)


@pytest.mark.parametrize("size", [2, 3, 8, 12])
@pytest.mark.parametrize("sigma", [1e-3, 3.0001, 5.0, 10.0])
def test_the_law_on_matrices_holds_beyond_its_promise(size, sigma):
    assert_same_law(law_of(SPD(size), sigma), spd_law(size, sigma), 1e-11)


@pytest.mark.parametrize("sigma", [0.05, 0.7, 1.0, 2.5, 5.0])
def test_2x2_matrices_are_a_line_times_the_disk(sigma):
    # P₂ = R × (the disk with distances times √2), whose areas are twice the disk's.
    line, disk = law_of(Euclidean(1), sigma), law_of(Hyperbolic(2), sigma / np.sqrt(2))
    product = Law(
        line.log_z + disk.log_z + np.log(2),
        line.delta + 2 * disk.delta,
        line.var_d2 + 4 * disk.var_d2,
    )
    assert_same_law(law_of(SPD(2), sigma), product, 1e-12)


@pytest.mark.parametrize("manifold", [Euclidean(1), Hyperbolic(1), SPD(1)], ids=repr)
@pytest.mark.parametrize("sigma", [1e-3, 0.5, 3.0, 10.0])
def test_every_line_has_the_normal_law(manifold, sigma):
    normal = Law(0.5 * np.log(2 * np.pi * sigma**2), sigma**2, 2 * sigma**4)
    assert_same_law(law_of(manifold, sigma), normal, 1e-13)


@every_manifold
def test_a_small_sigma_does_not_see_the_curvature(manifold):
    sigma, n = 1e-6, manifold.dim
    flat = Law(0.5 * n * np.log(2 * np.pi * sigma**2), n * sigma**2, 2 * n * sigma**4)
    assert_same_law(law_of(manifold, sigma), flat, 1e-10)


# Consistency


@every_manifold
def test_sigma_inverts_delta(manifold):
    sigmas = np.geomspace(1e-3, 10.0, 60)
    assert_allclose(manifold.sigma(manifold.delta(sigmas)), sigmas, rtol=1e-12)


@every_manifold
@pytest.mark.parametrize("sigma", [1e-8, 1e-5, 40.0, 1e3])
def test_sigma_inverts_delta_far_outside_of_every_table(manifold, sigma):
    assert manifold.sigma(manifold.delta(sigma)) == pytest.approx(sigma, rel=1e-12)


@every_manifold
@given(sigma=st.floats(1e-3, 10.0), factor=st.floats(1.0 + 1e-6, 10.0))
def test_delta_grows_with_sigma(manifold, sigma, factor):
    assert manifold.delta(factor * sigma) > manifold.delta(sigma)


@every_manifold
@given(delta=st.floats(1e-6, 1e3), factor=st.floats(1.0 + 1e-6, 10.0))
def test_sigma_grows_with_delta(manifold, delta, factor):
    assert manifold.sigma(factor * delta) > manifold.sigma(delta)


@every_manifold
@given(sigma=st.floats(0.01, 5.0))
def test_delta_and_the_variance_are_the_derivatives_of_log_z(manifold, sigma):
    eta, h = -0.5 / sigma**2, 1e-4
    low, high = (1.0 / np.sqrt(-2.0 * eta * (1.0 + side * h)) for side in (-1, 1))
    span = 2.0 * h * eta
    slope = (manifold.log_z(high) - manifold.log_z(low)) / span
    assert slope == pytest.approx(manifold.delta(sigma), rel=1e-6)
    bend = (manifold.delta(high) - manifold.delta(low)) / span
    assert bend == pytest.approx(manifold.var_d2(sigma), rel=1e-6)


@every_manifold
def test_curvature_only_spreads(manifold):
    sigmas = np.geomspace(1e-3, 5.0, 30)
    flat = Euclidean(manifold.dim)
    assert (manifold.delta(sigmas) >= flat.delta(sigmas) * (1 - 1e-12)).all()
    assert (manifold.log_z(sigmas) >= flat.log_z(sigmas) - 1e-9).all()


@every_manifold
def test_arrays_of_any_shape_are_their_numbers(manifold):
    sigmas = np.geomspace(0.1, 5.0, 6).reshape(2, 3)
    for function in (manifold.log_z, manifold.delta, manifold.var_d2, manifold.sigma):
        table = function(sigmas)
        assert table.shape == (2, 3)
        assert_allclose(table[1, 2], function(sigmas[1, 2]), rtol=1e-13)
        assert np.ndim(function(0.5)) == 0
        assert function(sigmas[:0]).shape == (0, 3)
    assert_array_equal(manifold.delta([1.0, 2.0]), manifold.delta(np.array([1.0, 2.0])))


def test_threads_that_use_a_new_manifold_at_the_same_time_agree():
    sizes = (3, 8)
    expected = [law_of(SPD(m), 0.1) for m in sizes]
    departure_series.cache_clear()
    with ThreadPoolExecutor(len(sizes)) as pool:
        found = list(pool.map(lambda m: law_of(SPD(m), 0.1), sizes))
    assert found == expected
    assert mpmath.mp.dps == 15
