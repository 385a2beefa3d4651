"""Wrapped Gaussians: their densities are normalised, and their draws follow them."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from rhmm import SPD, Euclidean, Hyperbolic, LogEuclideanSPD
from rhmm.emissions import Prior, RiemannianGaussians, WrappedGaussians
from rhmm.emissions.covariances import matrices
from tests.emissions.models import KINDS, random_covariances
from tests.manifolds.cases import every_kind as every_kind_of_manifold

every_kind = pytest.mark.parametrize("kind", KINDS)
CENTRES = {
    Hyperbolic(2): [[0.5, 0.2]],
    Hyperbolic(3): [[0.1, -0.3, 0.2]],
    SPD(2): [[[1.5, 0.4], [0.4, 0.7]]],
    SPD(3): [[[1.5, 0.4, 0.0], [0.4, 0.7, 0.1], [0.0, 0.1, 2.0]]],
}
curved = pytest.mark.parametrize("manifold", CENTRES, ids=repr)


def law_on(manifold, kind, scale=0.3, seed=0) -> WrappedGaussians:
    rng = np.random.default_rng(seed)
    means = np.array(CENTRES[manifold])
    return WrappedGaussians(
        manifold, means, kind, random_covariances(kind, 1, manifold.dim, rng, scale)
    )


def log_density(law, points):
    return law.log_densities(law.view(points))[:, 0]


def assert_mean_ratio_is_one(density, drawn_from, points, error):
    """∫ p = E_q[p/q], up to five standard errors, which are not larger than `error`."""
    ratio = np.exp(log_density(density, points) - log_density(drawn_from, points))
    standard = ratio.std() / np.sqrt(len(points))
    assert ratio.mean() == pytest.approx(1.0, abs=5 * standard)
    assert standard < error


@every_kind
@pytest.mark.parametrize("scale", [0.3, 0.8])
def test_the_density_on_the_disk_integrates_to_one(kind, scale):
    law = law_on(Hyperbolic(2), kind, scale)
    nodes, weights = np.polynomial.legendre.leggauss(300)
    r, weights = 7.0 * (nodes + 1.0), 7.0 * weights  # polar coordinates around the origin
    angles = np.arange(256) * 2 * np.pi / 256
    radii = np.tanh(r / 2)[:, None]
    points = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=-1)
    p = np.exp(log_density(law, points.reshape(-1, 2))).reshape(len(r), 256)
    total = (weights * np.sinh(r)) @ p.sum(axis=1) * 2 * np.pi / 256
    assert total == pytest.approx(1.0, abs=1e-6)


@curved
@every_kind
def test_weighed_by_exact_draws_of_the_paper_s_law_the_density_integrates_to_one(manifold, kind):
    law = law_on(manifold, kind)
    wide = RiemannianGaussians(manifold, law.means, 1.5 * law.sigmas)
    points = wide.draw(0, 40_000, np.random.default_rng(1))
    assert_mean_ratio_is_one(law, wide, points, error=0.03)


@curved
@every_kind
def test_draws_follow_the_density(manifold, kind):
    law = law_on(manifold, kind)
    thinnest = np.linalg.eigvalsh(matrices(kind, law.covariances, 1, manifold.dim)).min()
    narrow = RiemannianGaussians(manifold, law.means, np.array([0.9 * np.sqrt(thinnest)]))
    points = law.draw(0, 40_000, np.random.default_rng(1))
    assert_mean_ratio_is_one(narrow, law, points, error=0.06)


@curved
@every_kind
def test_sigma_is_that_of_a_riemannian_gaussian_with_the_same_mean_square_distance(manifold, kind):
    law = law_on(manifold, kind)
    points = law.draw(0, 40_000, np.random.default_rng(1))
    d2 = manifold.dist(points, law.means[0]) ** 2
    assert manifold.delta(law.sigmas[0]) == pytest.approx(d2.mean(), rel=0.03)


@every_kind
def test_on_flat_space_it_is_the_ordinary_gaussian(kind):
    rng = np.random.default_rng(0)
    means, value = rng.normal(size=(2, 3)), random_covariances(kind, 2, 3, rng)
    law = WrappedGaussians(Euclidean(3), means, kind, value)
    points = rng.normal(size=(20, 3))
    densities = law.log_densities(law.view(points))
    for i in range(2):
        full = value if kind == "tied" else value[i]
        full = np.diag(np.broadcast_to(full, 3)) if kind in ("isotropic", "diag") else full
        expected = multivariate_normal(means[i], full).logpdf(points)
        np.testing.assert_allclose(densities[:, i], expected, rtol=1e-11)


def test_isotropic_on_flat_matrices_is_the_paper_s_law():
    manifold, mean = LogEuclideanSPD(2), np.array([[[1.5, 0.4], [0.4, 0.7]]])
    law = WrappedGaussians(manifold, mean, "isotropic", np.array([0.25]))
    papers = RiemannianGaussians(manifold, mean, np.array([0.5]))
    points = papers.draw(0, 10, np.random.default_rng(0))
    np.testing.assert_allclose(log_density(law, points), log_density(papers, points), rtol=1e-10)


@curved
@every_kind
@pytest.mark.parametrize("prior", [Prior(0.0, 1.0), Prior(5.0, 0.1)])
def test_the_m_step_never_lowers_the_expected_log_likelihood(manifold, kind, prior):
    """Far from the maximum and near to it, where the centre of mass is not the likeliest mean."""
    points = law_on(manifold, kind, 0.7).draw(0, 60, np.random.default_rng(0))
    means = manifold.from_normal_coordinates(
        np.array(CENTRES[manifold][0]), np.full((1, manifold.dim), 0.3)
    )
    weights = np.random.default_rng(1).random((1, 60))
    value = random_covariances(kind, 1, manifold.dim, np.random.default_rng(2))
    law = WrappedGaussians(manifold, means, kind, value, prior)
    view, before, path = law.view(points), -np.inf, []
    for _ in range(6):
        expected = weights[0] @ law.log_densities(view)[:, 0] + law.log_prior()
        assert expected >= before - 1e-9 * abs(expected)
        path.append(expected)
        before = expected
        law, view = law.maximised(points, weights, np.array([True]), view, 1e-6)
    assert path[-1] > path[0] + 1.0
    fresh = law.view(points)
    np.testing.assert_allclose(view.coordinates, fresh.coordinates, atol=1e-12)
    np.testing.assert_allclose(view.log_volume, fresh.log_volume, atol=1e-12)


@every_kind_of_manifold
@pytest.mark.parametrize("kind", ["isotropic", "full"])
def test_an_isometry_moves_the_fitted_law_along(case, kind):
    points = case.some_points(200, seed=3)
    move = case.isometry(np.random.default_rng(4))
    laws = []
    for data in (points, move(points)):
        mean = case.manifold.mean(data)[None]
        start = random_covariances("isotropic", 1, 1, np.random.default_rng(0))
        value = start if kind == "isotropic" else start[:, None, None] * np.eye(case.manifold.dim)
        law = WrappedGaussians(case.manifold, mean, kind, value)
        law, view = law.maximised(data, np.ones((1, 200)), np.array([True]), law.view(data), 1e-9)
        laws.append(law.log_densities(view)[:, 0])
    np.testing.assert_allclose(laws[1], laws[0], rtol=1e-7, atol=1e-7)


def test_a_tied_shape_stays_when_states_are_renamed_and_others_go_along():
    means = np.array([[0.0, 0.0], [0.5, 0.0]])
    for kind in KINDS:
        value = random_covariances(kind, 2, 2, np.random.default_rng(0))
        law = WrappedGaussians(Hyperbolic(2), means, kind, value)
        renamed = law.permuted(np.array([1, 0]))
        points = law.draw(0, 5, np.random.default_rng(0))
        expected = law.log_densities(law.view(points))[:, ::-1]
        np.testing.assert_array_equal(renamed.log_densities(renamed.view(points)), expected)
