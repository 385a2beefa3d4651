"""The log-Euclidean metric: everything agrees with Euclidean space on the matrix logarithms."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pyriemann.geometry.distance import distance_logeuclid
from pyriemann.geometry.mean import mean_logeuclid

from rhmm import (
    Configuration,
    Euclidean,
    LogEuclideanSPD,
    RiemannianHMM,
    RiemannianKMeans,
    StreamingRiemannianHMM,
    WindowedRiemannianHMM,
    sweep,
)
from tests.manifolds.cases import of_eigenvalues, spd_chart
from tests.manifolds.test_spd import well_conditioned

TRANSMAT = np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.02, 0.08, 0.9]])
SIGMAS = [0.3, 0.2, 0.4]
CLOSE = {"rtol": 1e-10, "atol": 1e-10}

both_sizes = pytest.mark.parametrize("size", [2, 3])


def vectors(points: np.ndarray) -> np.ndarray:
    """Matrix logarithms as vectors of the same length: √2 times what is off the diagonal."""
    size = points.shape[-1]
    rows, columns = np.tril_indices(size)
    factors = np.where(rows == columns, 1.0, np.sqrt(2.0))
    return of_eigenvalues(np.log, points)[..., rows, columns] * factors


def model(size: int) -> RiemannianHMM:
    manifold = LogEuclideanSPD(size)
    coordinates = np.random.default_rng(size).normal(0.0, 0.7, (3, manifold.dim))
    means = np.stack([spd_chart(row, size) for row in coordinates])
    return RiemannianHMM.from_parameters(manifold, [0.5, 0.3, 0.2], TRANSMAT, means, SIGMAS)


def chain(size: int, count: int = 1500) -> np.ndarray:
    return model(size).sample(count, random_state=1)[0]


def flat(manifold: LogEuclideanSPD) -> Euclidean:
    return Euclidean(manifold.dim)


def assert_same_model(ours: RiemannianHMM, theirs: RiemannianHMM):
    assert_allclose(ours.startprob_, theirs.startprob_, **CLOSE)
    assert_allclose(ours.transmat_, theirs.transmat_, **CLOSE)
    assert_allclose(vectors(ours.means_), theirs.means_, **CLOSE)
    assert_allclose(ours.sigmas_, theirs.sigmas_, **CLOSE)


# Geometry


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_squared_distances_are_those_of_the_logarithms(size):
    manifold = LogEuclideanSPD(size)
    points = well_conditioned(np.random.default_rng(size), size, 80)
    x, y = np.split(points, 2)
    expected = flat(manifold).squared_distances(vectors(x), vectors(y))
    assert_allclose(manifold.squared_distances(x, y), expected, rtol=1e-10)
    assert_allclose(manifold.dist(x, y) ** 2, np.diagonal(expected), rtol=1e-10)


@both_sizes
def test_pyriemann_agrees(size):
    rng = np.random.default_rng(size)
    points, weights = well_conditioned(rng, size, 50), rng.uniform(0.1, 1.0, 50)
    manifold = LogEuclideanSPD(size)
    assert_allclose(
        manifold.dist(points, points[0]), distance_logeuclid(points, points[0]), **CLOSE
    )
    expected = mean_logeuclid(points, sample_weight=weights)
    assert_allclose(manifold.mean(points, weights), expected, rtol=1e-11)


@both_sizes
def test_tangent_vectors_are_differences_of_logarithms(size):
    x, y = well_conditioned(np.random.default_rng(size), size, 2)
    manifold = LogEuclideanSPD(size)
    v = manifold.log(x, y)
    assert_allclose(v, of_eigenvalues(np.log, y) - of_eigenvalues(np.log, x), **CLOSE)
    assert manifold.norm(x, v) == pytest.approx(np.linalg.norm(v), rel=1e-12)


@both_sizes
def test_gaussians_are_those_of_flat_space(size):
    manifold, sigma = LogEuclideanSPD(size), np.array([0.01, 0.5, 3.0])
    for function in ("log_z", "delta", "var_d2"):
        expected = getattr(flat(manifold), function)(sigma)
        assert_array_equal(getattr(manifold, function)(sigma), expected)


@both_sizes
def test_all_coordinates_of_a_sample_have_the_same_variance_and_are_independent(size):
    manifold, centre = LogEuclideanSPD(size), model(size).means_[0]
    steps = vectors(manifold.sample(centre, 0.7, 40_000, rng=0)) - vectors(centre)
    error = 4 * 0.49 * np.sqrt(2 / 40_000)
    assert_allclose(np.cov(steps.T), 0.49 * np.eye(manifold.dim), atol=error)
    assert_allclose(steps.mean(axis=0), 0.0, atol=4 * 0.7 / 200)


# Learning


def both_fitted(learner: type, X: np.ndarray):
    """The learner on matrices, and on the vectors of their logarithms."""
    manifold = LogEuclideanSPD(X.shape[-1])
    ours = learner(manifold, 3, random_state=0).fit(X)
    return ours, learner(flat(manifold), 3, random_state=0).fit(vectors(X))


@both_sizes
def test_kmeans_is_that_of_the_logarithms(size):
    ours, theirs = both_fitted(RiemannianKMeans, chain(size))
    assert_array_equal(ours.labels_, theirs.labels_)
    assert_allclose(vectors(ours.cluster_centers_), theirs.cluster_centers_, **CLOSE)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-10)


@both_sizes
def test_em_is_that_of_the_logarithms(size):
    X = chain(size)
    ours, theirs = both_fitted(RiemannianHMM, X)
    assert_same_model(ours, theirs)
    assert_allclose(ours.monitor_.log_likelihood, theirs.monitor_.log_likelihood, rtol=1e-10)
    assert ours.score(X) == pytest.approx(theirs.score(vectors(X)), rel=1e-10)
    assert_array_equal(ours.decode(X)[1], theirs.decode(vectors(X))[1])


LEARNERS = {
    "streaming": partial(StreamingRiemannianHMM),
    "streaming, fixed memory": partial(StreamingRiemannianHMM, memory="fixed"),
    "streaming, cold start": partial(StreamingRiemannianHMM, init="cold"),
    "windowed": partial(WindowedRiemannianHMM, window=60),
}


@both_sizes
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS.keys())
def test_online_learning_is_that_of_the_logarithms(size, learner):
    X = chain(size)
    X[100::37] = np.nan
    observed = ~np.isnan(X[:, 0, 0])
    logs = np.full((len(X), size * (size + 1) // 2), np.nan)
    logs[observed] = vectors(X[observed])
    manifold = LogEuclideanSPD(size)
    ours = learner(manifold, 3, random_state=0)
    theirs = learner(flat(manifold), 3, random_state=0)
    filtered, expected = ours.partial_fit_predict_proba(X), theirs.partial_fit_predict_proba(logs)
    # Equally good starts differ by rounding: each learner may have chosen another order of states.
    order = np.argsort(vectors(ours.to_hmm().means_)[:, 0])
    their_order = np.argsort(theirs.to_hmm().means_[:, 0])
    assert_allclose(filtered[:, order], expected[:, their_order], **CLOSE)
    assert_same_model(ours.to_hmm().permuted(order), theirs.to_hmm().permuted(their_order))


# Sweeps and files


def test_sweeps_learn_it():
    grid = [
        Configuration("em", length=400),
        Configuration("kmeans", length=400),
        Configuration("streaming", length=400, window=60),
        Configuration("windowed", length=400, window=60),
    ]
    with ThreadPoolExecutor(1) as executor:
        runs = sweep(model(2), grid, 1, executor)
    assert [run.configuration for run in runs] == grid
    for run in runs:
        assert run.accuracy > 0.7
        assert run.mean_error < 0.3


@pytest.mark.parametrize("name", ["model.json", "model.npz"])
def test_a_saved_model_comes_back(name, tmp_path):
    saved = model(3)
    saved.save(tmp_path / name)
    loaded = RiemannianHMM.load(tmp_path / name)
    assert loaded.manifold == LogEuclideanSPD(3)
    for ours, theirs in zip(loaded.parameters_, saved.parameters_, strict=True):
        assert_array_equal(ours, theirs)


def test_a_saved_learner_goes_on_where_it_stopped(tmp_path):
    X = chain(2, 800)
    learner = StreamingRiemannianHMM(LogEuclideanSPD(2), 3, random_state=0).partial_fit(X[:500])
    learner.save(tmp_path / "learner.npz")
    loaded = StreamingRiemannianHMM.load(tmp_path / "learner.npz")
    expected = learner.partial_fit_predict_proba(X[500:])
    assert_array_equal(loaded.partial_fit_predict_proba(X[500:]), expected)
