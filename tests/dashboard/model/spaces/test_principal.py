"""The map against matrix functions of SciPy and the principal components of scikit-learn."""

import numpy as np
import pytest
from scipy.linalg import logm, sqrtm
from sklearn.decomposition import PCA

from dashboard.model.spaces.principal import principal_plane
from rhmm import SPD, Euclidean, Hyperbolic, LogEuclideanSPD
from tests.reading.files import disk_points, matrices

CASES = {
    "SPD(3)": (SPD(3), matrices(60, 3)),
    "SPD(8)": (SPD(8), matrices(60, 8)),
    "LogEuclideanSPD(3)": (LogEuclideanSPD(3), matrices(60, 3)),
    "Hyperbolic(2)": (Hyperbolic(2), disk_points(60)),
    "Hyperbolic(3)": (Hyperbolic(3), disk_points(60, 3)),
    "Euclidean(4)": (Euclidean(4), np.random.default_rng(0).standard_normal((60, 4))),
}


def by_matrix_functions(points: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """log(C^{-1/2} P C^{-1/2}) with all entries, which keeps lengths too; shape (T, m²)."""
    shrink = np.linalg.inv(sqrtm(centre).real)
    return np.array([logm(shrink @ point @ shrink).real.ravel() for point in points])


@pytest.mark.parametrize("name", ["SPD(3)", "SPD(8)"])
def test_a_map_of_matrices_is_the_pca_of_their_logarithms(name):
    manifold, points = CASES[name]
    expected = PCA().fit(by_matrix_functions(points, manifold.mean(points)))

    plane = principal_plane(manifold, points)

    assert plane.share == pytest.approx(expected.explained_variance_ratio_[:2].sum(), rel=1e-6)
    places = expected.transform(by_matrix_functions(points, plane.centre))[:, :2]
    signs = np.sign((places * plane.places(points)).sum(axis=0))
    np.testing.assert_allclose(plane.places(points), places * signs, atol=1e-5)


def test_a_map_of_flat_space_is_its_pca():
    manifold, points = CASES["Euclidean(4)"]
    expected = PCA().fit(points)

    plane = principal_plane(manifold, points)

    assert plane.share == pytest.approx(expected.explained_variance_ratio_[:2].sum())
    np.testing.assert_allclose(
        np.abs(plane.places(points)), np.abs(expected.transform(points)[:, :2]), atol=1e-9
    )


def test_no_distance_on_the_map_is_longer_than_the_true_one():
    manifold, points = CASES["SPD(8)"]
    plane = principal_plane(manifold, points)
    places = plane.places(points)

    on_map = np.linalg.norm(places[:30] - places[30:], axis=1)

    assert (on_map <= manifold.dist(points[:30], points[30:]) + 1e-9).all()


def test_points_of_a_line_have_no_second_direction():
    points = np.arange(5.0)[:, None]

    plane = principal_plane(Euclidean(1), points)

    assert plane.share == 1.0
    np.testing.assert_allclose(np.abs(plane.places(points)[:, 0]), [2, 1, 0, 1, 2])
    assert not plane.places(points)[:, 1].any()


def test_equal_points_lie_in_the_middle():
    points = np.tile(np.eye(3), (4, 1, 1))

    plane = principal_plane(SPD(3), points)

    assert plane.share == 1.0
    np.testing.assert_allclose(plane.places(points), 0.0, atol=1e-12)
