"""Heavy tails: densities are normalised, draws follow them, and ν is found."""

import numpy as np
import pytest
from scipy.stats import multivariate_t

from rhmm import SPD, Euclidean, Hyperbolic, RiemannianHMM, select_n_components
from rhmm.emissions import STUDENTS, Prior, RiemannianGaussians, WrappedGaussians, WrappedStudents
from rhmm.emissions.covariances import kind_of, matrices
from tests.emissions.models import random_covariances, spread_of, wrapped_model
from tests.emissions.test_wrapped import CENTRES, assert_mean_ratio_is_one, curved, log_density

every_student = pytest.mark.parametrize("emission", STUDENTS)


def law_on(manifold, emission, degrees, scale=0.3, **options) -> WrappedStudents:
    rng, dim = np.random.default_rng(0), manifold.dim
    means = np.array(CENTRES.get(manifold, [np.zeros(dim)]))
    shapes = random_covariances(emission, 1, dim, rng, scale)
    return WrappedStudents(manifold, means, emission, shapes, degrees=degrees, **options)


@every_student
def test_the_density_on_the_disk_integrates_to_one(emission):
    law = law_on(Hyperbolic(2), emission, degrees=6.0)
    nodes, weights = np.polynomial.legendre.leggauss(400)
    s, weights = 0.5 * (nodes + 1.0), 0.5 * weights
    r, weights = 30.0 * s**3, 90.0 * s**2 * weights  # beyond lie 2e-10 of all
    angles = np.arange(1024) * 2 * np.pi / 1024
    radii = np.tanh(r / 2)[:, None]
    points = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=-1)
    p = np.exp(log_density(law, points.reshape(-1, 2))).reshape(len(r), 1024)
    total = (weights * np.sinh(r)) @ p.sum(axis=1) * 2 * np.pi / 1024
    assert total == pytest.approx(1.0, abs=1e-6)


@curved
@every_student
def test_draws_follow_the_density(manifold, emission):
    law = law_on(manifold, emission, degrees=3.0)
    full = matrices(kind_of(emission), law.covariances, 1, manifold.dim)
    width = 0.9 * np.sqrt(np.linalg.eigvalsh(full).min())
    narrow = RiemannianGaussians(manifold, law.means, np.array([width]))
    points = law.draw(0, 40_000, np.random.default_rng(1))
    assert_mean_ratio_is_one(narrow, law, points, error=0.06)


@every_student
@pytest.mark.parametrize("degrees", [0.7, 3.0, 200.0])
def test_on_flat_space_it_is_scipy_s_law(emission, degrees):
    law = law_on(Euclidean(3), emission, degrees)
    points = np.random.default_rng(1).normal(size=(20, 3))
    full = matrices(kind_of(emission), law.covariances, 1, 3)[0]
    expected = multivariate_t(law.means[0], full, df=degrees).logpdf(points)
    np.testing.assert_allclose(log_density(law, points), expected, rtol=1e-11)


@curved
@every_student
def test_with_ever_more_degrees_it_becomes_the_wrapped_gaussian(manifold, emission):
    limit = law_on(manifold, emission, np.inf)
    gaussian = WrappedGaussians(manifold, limit.means, kind_of(emission), limit.covariances)
    points = gaussian.draw(0, 50, np.random.default_rng(1))
    expected = log_density(gaussian, points)
    np.testing.assert_array_equal(log_density(limit, points), expected)
    near = log_density(law_on(manifold, emission, 1e9), points)
    np.testing.assert_allclose(near, expected, atol=1e-6)
    np.testing.assert_array_equal(limit.draw(0, 50, np.random.default_rng(1)), points)


@curved
@every_student
@pytest.mark.parametrize("prior", [Prior(0.0, 1.0), Prior(5.0, 0.1)])
def test_the_m_step_never_lowers_the_expected_log_likelihood(manifold, emission, prior):
    points = law_on(manifold, emission, 3.0).draw(0, 60, np.random.default_rng(0))
    centre = np.array(CENTRES[manifold][0])
    means = manifold.from_normal_coordinates(centre, np.full((1, manifold.dim), 0.3))
    weights = np.random.default_rng(1).random((1, 60))
    shapes = random_covariances(emission, 1, manifold.dim, np.random.default_rng(2))
    law = WrappedStudents(
        manifold, means, emission, shapes, prior, degrees=5.0, learns_degrees=True
    )
    view, path = law.view(points), []
    for _ in range(8):
        path.append(weights[0] @ law.log_densities(view)[:, 0] + law.log_prior())
        law, view = law.maximised(points, weights, np.array([True]), view, 1e-6)
    assert np.diff(path).min() >= -1e-9 * abs(path[-1])
    assert path[-1] > path[0] + 1.0


def test_no_parameters_nearby_are_likelier_than_the_fitted_ones():
    X = law_on(Euclidean(2), "student-full", 4.0).draw(0, 200, np.random.default_rng(0))
    model = RiemannianHMM(
        Euclidean(2), 1, emission="student-full", shrinkage=0.0, n_iter=2000, tol=1e-10
    ).fit(X)
    best, shape, rng = model.score(X), model.covariances_[0], np.random.default_rng(1)
    for _ in range(100):
        turn = np.eye(2) + 0.02 * rng.normal(size=(2, 2))
        mean = model.means_[0] + 0.01 * rng.normal(size=2)
        degrees = model.degrees_ * np.exp(0.1 * rng.normal())
        other = multivariate_t(mean, turn @ shape @ turn.T, df=degrees)
        assert other.logpdf(X).sum() < best


@pytest.mark.parametrize("manifold", [Euclidean(2), Hyperbolic(2), SPD(2)], ids=repr)
def test_degrees_of_freedom_are_found(manifold):
    truth = wrapped_model(manifold, "student")
    X, _ = truth.sample(4_000, random_state=0)
    model = RiemannianHMM(manifold, 2, emission="student", random_state=0).fit(X)
    assert model.degrees_ == pytest.approx(truth.degrees_, rel=0.25)
    given = RiemannianHMM(manifold, 2, emission="student", degrees=2.5, random_state=0).fit(X)
    assert given.degrees_ == 2.5
    assert given.score(X) < model.score(X) - 5.0


def test_outliers_do_not_count_as_states():
    like = wrapped_model(Hyperbolic(2), "student", distances=(0.0, 1.5, 3.0), scale=0.2)
    truth = RiemannianHMM.from_parameters(
        like.manifold, like.startprob_, like.transmat_, like.means_,
        **spread_of(like) | {"degrees": 2.0},
    )  # fmt: skip
    X, _ = truth.sample(1_500, random_state=0)
    best = {
        emission: select_n_components(
            Hyperbolic(2), X, range(1, 6), emission=emission, random_state=0
        ).best.n_components
        for emission in ("isotropic", "student")
    }
    assert best["student"] == 3
    assert best["isotropic"] > 3


def test_a_given_model_says_where_heavy_tails_begin():
    X, _ = wrapped_model(Hyperbolic(2), "student-tied").sample(300, random_state=0)
    gaussian = RiemannianHMM(Hyperbolic(2), 2, emission="tied", random_state=0).fit(X)
    start = RiemannianHMM(Hyperbolic(2), 2, emission="student-tied", init=gaussian, n_iter=0).fit(X)
    np.testing.assert_array_equal(start.covariances_, gaussian.covariances_)
    fitted = RiemannianHMM(Hyperbolic(2), 2, emission="student-tied", init=start).fit(X)
    again = RiemannianHMM(Hyperbolic(2), 2, emission="student-tied", init=fitted, n_iter=0).fit(X)
    assert again.degrees_ == fitted.degrees_ != start.degrees_
    assert again.score(X) == fitted.score(X)
