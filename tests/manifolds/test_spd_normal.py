"""Normal coordinates of matrices, against plain linear algebra."""

import numpy as np
import pytest
from scipy.linalg import sqrtm

from rhmm import SPD
from rhmm.manifolds.spd_normal import as_matrices, as_vectors, polar
from tests.manifolds.cases import congruence, make_symmetric, of_eigenvalues, spd_chart


def matrices(count, size, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, size * (size + 1) // 2))
    return np.array([spd_chart(row, size) for row in rows]).reshape(-1, size, size)


def test_vectors_have_the_frobenius_norm_and_come_back():
    symmetric = make_symmetric(np.random.default_rng(0).normal(size=(5, 4, 4)))
    vectors = as_vectors(symmetric)
    assert vectors.shape == (5, 10)
    norms = np.linalg.norm(symmetric, axis=(1, 2))
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), norms, rtol=1e-14)
    np.testing.assert_allclose(as_matrices(vectors, 4), symmetric, rtol=1e-14)


def test_the_polar_factors_are_the_root_and_a_rotation():
    (centre,) = matrices(1, 4)
    root, rotation = polar(centre)
    np.testing.assert_allclose(root, sqrtm(centre), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(4), atol=1e-14)
    np.testing.assert_allclose(root @ rotation, np.linalg.cholesky(centre), atol=1e-13)


@pytest.mark.parametrize("size", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [0, 1, 37])
def test_coordinates_are_the_logarithm_of_the_whitened_matrix(size, count):
    centre, points = matrices(1, size, seed=1)[0], matrices(count, size)
    coordinates, log_volume = SPD(size).normal_coordinates(centre, points)
    assert coordinates.shape == (count, size * (size + 1) // 2)
    whitener = np.linalg.inv(sqrtm(centre))
    for point, found, volume in zip(points, coordinates, log_volume, strict=True):
        logarithm = of_eigenvalues(np.log, make_symmetric(whitener @ point @ whitener))
        np.testing.assert_allclose(found, as_vectors(logarithm[None])[0], atol=1e-9)
        gaps = np.subtract.outer(*2 * [np.linalg.eigvalsh(logarithm)])[np.tril_indices(size, -1)]
        expected = np.log(np.sinh(gaps / 2) / (gaps / 2)).sum()
        assert volume == pytest.approx(expected, abs=1e-9)


def test_the_volume_of_large_matrices_does_not_underflow():
    """Each of the 780 factors is far below 1 without its e^h."""
    logs = np.linspace(-12.0, 12.0, 40)
    _, log_volume = SPD(40).normal_coordinates(np.eye(40), np.diag(np.exp(logs))[None])
    halves = np.subtract.outer(logs, logs)[np.tril_indices(40, -1)] / 2
    assert log_volume[0] == pytest.approx(np.log(np.sinh(halves) / halves).sum(), rel=1e-12)


def test_units_that_differ_by_orders_of_magnitude_keep_the_distance():
    centre, *points = matrices(6, 3)
    units = np.diag([1e-5, 1.0, 1e6])
    manifold, points = SPD(3), np.stack(points)
    coordinates, _ = manifold.normal_coordinates(units @ centre @ units, units @ points @ units)
    expected = manifold.dist(centre, points)
    np.testing.assert_allclose(np.linalg.norm(coordinates, axis=1), expected, rtol=1e-9)


def test_a_congruence_turns_coordinates_and_keeps_the_volume():
    centre, *points = matrices(6, 3)
    manifold, points, move = SPD(3), np.stack(points), congruence(np.random.default_rng(2), 3)
    _, before = manifold.normal_coordinates(centre, points)
    _, after = manifold.normal_coordinates(move(centre), move(points))
    np.testing.assert_allclose(after, before, atol=1e-9)
