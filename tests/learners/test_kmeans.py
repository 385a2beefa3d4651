"""Riemannian K-means: the clusters it finds, its rules for degenerate data, its arguments."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

from rhmm import (
    SPD,
    ConvergenceWarning,
    DegenerateWarning,
    Euclidean,
    Hyperbolic,
    RiemannianKMeans,
)
from rhmm.paper import paper_model
from tests.brute_force import MANIFOLDS, in_a_row, squared_distance, with_gaps

everywhere = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)


def blobs(manifold, centres, sigma=0.5, size=40):
    """Points around each of the centres, and which centre they belong to."""
    X = [manifold.sample(centre, sigma, size, rng=i) for i, centre in enumerate(centres)]
    return np.concatenate(X), np.repeat(np.arange(len(centres)), size)


def one_cloud(manifold, size=150):
    """Points without clusters, on which K-means takes many steps."""
    return manifold.sample(in_a_row(manifold, [0.5])[0], 1.0, size, rng=7)


# What it finds


@pytest.mark.parametrize("sigma", [2.6, 3.0, 3.5])
def test_one_cluster_is_the_centre_of_mass_however_wide_it_is(sigma):
    disk = Hyperbolic(2)
    X = disk.sample([0.0, 0.0], sigma, 1000, rng=0)
    clusters = RiemannianKMeans(disk, 1, random_state=0).fit(X)
    assert clusters.converged_
    assert disk.dist(clusters.cluster_centers_[0], disk.mean(X)) < 1e-4


@everywhere
def test_separated_clusters_are_found(manifold):
    X, truth = blobs(manifold, in_a_row(manifold, [-6.0, 0.0, 6.0]))
    clusters = RiemannianKMeans(manifold, 3, random_state=0).fit(X)
    names = clusters.labels_[[0, 40, 80]]
    assert sorted(names) == [0, 1, 2]
    np.testing.assert_array_equal(clusters.labels_, names[truth])


@everywhere
def test_seeds_spread_out_so_that_one_start_finds_tight_clusters(manifold):
    X, _ = blobs(manifold, in_a_row(manifold, [-6.0, -3.0, 0.0, 3.0, 6.0]), sigma=0.01, size=10)
    for seed in range(20):
        clusters = RiemannianKMeans(manifold, 5, n_init=1, random_state=seed).fit(X)
        assert sorted(clusters.labels_[::10]) == [0, 1, 2, 3, 4]


@everywhere
def test_centres_are_centres_of_mass_and_labels_the_nearest_of_them(manifold):
    X = one_cloud(manifold)
    clusters = RiemannianKMeans(manifold, 3, random_state=0).fit(X)
    d2 = np.array(
        [[squared_distance(manifold, x, c) for c in clusters.cluster_centers_] for x in X]
    )
    np.testing.assert_array_equal(clusters.labels_, d2.argmin(axis=1))
    np.testing.assert_allclose(clusters.inertia_, d2.min(axis=1).sum(), rtol=1e-9)
    for i, centre in enumerate(clusters.cluster_centers_):
        pulls = manifold.log(centre, X[clusters.labels_ == i])
        np.testing.assert_allclose(pulls.mean(axis=0), 0.0, atol=1e-7)


@everywhere
def test_the_inertia_never_rises_from_one_step_to_the_next(manifold):
    X = one_cloud(manifold)
    inertias = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for steps in range(1, 30):
            clusters = RiemannianKMeans(
                manifold, 4, n_init=1, max_iter=steps, tol=0.0, random_state=1
            ).fit(X)
            inertias.append(clusters.inertia_)
    assert len(set(inertias)) >= 4  # it did take steps
    assert (np.diff(inertias) <= 1e-9 * inertias[0]).all()


@pytest.mark.parametrize("steps", [1, 3, 8])
def test_it_takes_no_more_steps_than_it_may(steps):
    kmeans = RiemannianKMeans(Hyperbolic(2), 4, max_iter=steps, tol=0.0, random_state=1)
    with pytest.warns(ConvergenceWarning, match=f"K-means \\({steps} iterations\\) did not conv"):
        kmeans.fit(one_cloud(Hyperbolic(2), 2000))
    assert kmeans.n_iter_ == steps


def test_ten_starts_avoid_the_poor_clusters_that_one_start_in_five_ends_in():
    X, _ = paper_model().sample(2000, random_state=0)
    single = [
        RiemannianKMeans(Hyperbolic(2), 3, n_init=1, random_state=seed).fit(X).inertia_
        for seed in range(60)
    ]
    best = min(single)
    stuck = np.mean(np.array(single) > 1.1 * best)
    assert 0.1 < stuck < 0.4
    restarted = [
        RiemannianKMeans(Hyperbolic(2), 3, n_init=10, random_state=seed).fit(X).inertia_
        for seed in range(20)
    ]
    assert max(restarted) <= 1.001 * best


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_the_optimum_is_that_of_scikit_learn_on_flat_space(dim):
    manifold = Euclidean(dim)
    X, _ = blobs(manifold, in_a_row(manifold, [-8.0, 0.0, 8.0, 16.0]), sigma=1.0)
    ours = RiemannianKMeans(manifold, 4, random_state=0).fit(X)
    theirs = KMeans(4, n_init=10, random_state=0).fit(X)
    np.testing.assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-10)
    order = np.argsort(ours.cluster_centers_[:, 0]), np.argsort(theirs.cluster_centers_[:, 0])
    np.testing.assert_allclose(
        ours.cluster_centers_[order[0]], theirs.cluster_centers_[order[1]], rtol=1e-10, atol=1e-10
    )


def test_an_isometry_moves_the_centres_and_leaves_the_labels():
    a = np.array([[2.0, 1.0], [0.0, 0.5]])
    X = one_cloud(SPD(2))
    still = RiemannianKMeans(SPD(2), 3, random_state=0).fit(X)
    moved = RiemannianKMeans(SPD(2), 3, random_state=0).fit(a @ X @ a.T)
    np.testing.assert_array_equal(moved.labels_, still.labels_)
    np.testing.assert_allclose(moved.inertia_, still.inertia_, rtol=1e-9)
    expected = a @ still.cluster_centers_ @ a.T
    np.testing.assert_allclose(moved.cluster_centers_, expected, rtol=1e-6, atol=1e-6)


def test_the_same_seed_gives_the_same_clusters():
    X = one_cloud(Hyperbolic(2))
    runs = [RiemannianKMeans(Hyperbolic(2), 5, n_init=2, random_state=s).fit(X) for s in (3, 3, 4)]
    np.testing.assert_array_equal(runs[0].cluster_centers_, runs[1].cluster_centers_)
    assert (runs[0].cluster_centers_ != runs[2].cluster_centers_).any()


# Rules for data that cannot support what was asked


@everywhere
@pytest.mark.parametrize("distinct", [1, 2])
def test_fewer_distinct_points_than_clusters_leave_clusters_empty_and_warn(manifold, distinct):
    X = np.repeat(in_a_row(manifold, np.linspace(0.7, 2.0, distinct)), 5, axis=0)
    message = f"fewer distinct points than the 4 clusters asked for: {4 - distinct} cluster"
    with pytest.warns(DegenerateWarning, match=message):
        clusters = RiemannianKMeans(manifold, 4, random_state=0).fit(X)
    assert manifold.belongs(clusters.cluster_centers_).all()
    assert len(np.unique(clusters.labels_)) == distinct
    np.testing.assert_allclose(clusters.inertia_, 0.0, atol=1e-20)
    nearest = manifold.dist(clusters.cluster_centers_[:, None], X[None, ::5]).min(axis=1)
    np.testing.assert_allclose(nearest, 0.0, atol=1e-10)


def test_as_many_clusters_as_points_put_every_point_alone():
    X = one_cloud(Hyperbolic(3), 6)
    clusters = RiemannianKMeans(Hyperbolic(3), 6, random_state=0).fit(X)
    assert sorted(clusters.labels_) == list(range(6))
    assert clusters.inertia_ < 1e-20


@everywhere
def test_a_single_point_is_its_own_centre(manifold):
    X = in_a_row(manifold, [1.0])
    clusters = RiemannianKMeans(manifold, 1, random_state=0).fit(X)
    np.testing.assert_allclose(clusters.cluster_centers_, X, rtol=1e-12)
    assert clusters.labels_.tolist() == [0]


def test_the_model_of_data_of_a_small_scale_has_their_sigma():
    line, rng = Euclidean(1), np.random.default_rng(0)
    X = 1e-6 * (rng.standard_normal((400, 1)) + np.repeat([[0.0], [50.0]], 200, axis=0))
    model = RiemannianKMeans(line, 2, random_state=0).fit(X).to_hmm()
    np.testing.assert_allclose(model.sigmas_, 1e-6, rtol=0.1)


# Missing observations, new points, and arguments


@everywhere
def test_missing_points_are_labelled_minus_one_and_change_nothing_else(manifold):
    X = one_cloud(manifold)
    gaps = np.isnan(with_gaps(X, 0.3, np.random.default_rng(0)).reshape(len(X), -1)).any(axis=1)
    holed = X.copy()
    holed.reshape(len(X), -1)[gaps, -1] = np.nan  # one NaN is enough
    clusters = RiemannianKMeans(manifold, 3, random_state=0).fit(holed)
    alone = RiemannianKMeans(manifold, 3, random_state=0).fit(X[~gaps])
    assert (clusters.labels_[gaps] == -1).all()
    np.testing.assert_array_equal(clusters.labels_[~gaps], alone.labels_)
    np.testing.assert_array_equal(clusters.cluster_centers_, alone.cluster_centers_)
    np.testing.assert_array_equal(clusters.predict(holed), clusters.labels_)


def test_new_points_are_given_to_the_nearest_centre():
    disk = Hyperbolic(2)
    X, _ = blobs(disk, in_a_row(disk, [-4.0, 4.0]))
    clusters = RiemannianKMeans(disk, 2, random_state=0).fit(X)
    left, right = clusters.labels_[0], clusters.labels_[-1]
    assert clusters.predict([[-0.3, 0.1], [0.3, 0.1]]).tolist() == [left, right]
    assert clusters.predict(np.array([-0.3 + 0.1j, np.nan])).tolist() == [left, -1]


def test_points_of_the_disk_may_be_complex_numbers():
    X = one_cloud(Hyperbolic(2))
    pairs = RiemannianKMeans(Hyperbolic(2), 3, random_state=0).fit(X)
    numbers = RiemannianKMeans(Hyperbolic(2), 3, random_state=0).fit(X[:, 0] + 1j * X[:, 1])
    np.testing.assert_array_equal(pairs.cluster_centers_, numbers.cluster_centers_)


def test_too_few_points_are_refused():
    X = with_gaps(one_cloud(Hyperbolic(2), 4), 1.0, np.random.default_rng(0))
    with pytest.raises(ValueError, match="X must hold at least n_clusters=2 observations, not 1"):
        RiemannianKMeans(Hyperbolic(2), 2).fit(X)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("manifold", "disk"),
        ("n_clusters", 0),
        ("n_clusters", 2.5),
        ("n_init", 0),
        ("max_iter", 0),
        ("tol", -1.0),
        ("tol", np.nan),
        ("random_state", "seed"),
        ("random_state", -1),
    ],
)
def test_a_wrong_argument_is_named(argument, value):
    arguments = {"manifold": Hyperbolic(2), "n_clusters": 2, argument: value}
    with pytest.raises(ValueError, match=f"{argument} must be"):
        RiemannianKMeans(**arguments).fit(one_cloud(Hyperbolic(2)))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0.1, 0.2, 0.3]], r"X must be of shape \(..., 2\) on Hyperbolic\(2\), not \(1, 3\)"),
        ([0.1, 0.2], r"X must hold observations in shape \(T, 2\), not \(2,\)"),
        (np.empty((0, 2)), r"X must hold observations in shape \(T, 2\), not \(0, 2\)"),
        ([[np.nan, 0.0]], "X must hold at least one observation that is not NaN"),
        ([[0.1, 0.2], [0.6, 0.8]], r"X\[1\] is not a point of Hyperbolic\(2\): its norm is 1"),
    ],
)
def test_observations_that_are_not_points_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        RiemannianKMeans(Hyperbolic(2), 1).fit(X)


@pytest.mark.parametrize("min_sigma", [0.0, 1e-200, [1.0], "small"])
def test_a_wrong_floor_of_sigma_is_named(min_sigma):
    clusters = RiemannianKMeans(Hyperbolic(2), 2, random_state=0).fit(one_cloud(Hyperbolic(2)))
    with pytest.raises(ValueError, match="min_sigma must be"):
        clusters.to_parameters(min_sigma=min_sigma)


def test_predict_before_fit_is_refused_with_a_sentence():
    with pytest.raises(NotFittedError, match="call fit"):
        RiemannianKMeans(Hyperbolic(2), 1).predict([[0.0, 0.0]])


def test_the_model_of_the_clusters_counts_transitions_between_them():
    X, _ = paper_model().sample(500, random_state=0)
    clusters = RiemannianKMeans(Hyperbolic(2), 3, random_state=0).fit(X)
    model = clusters.to_hmm()
    counts = np.full((3, 3), 1 / 3)
    np.add.at(counts, (clusters.labels_[:-1], clusters.labels_[1:]), 1.0)
    np.testing.assert_allclose(model.transmat_, counts / counts.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(model.means_, clusters.cluster_centers_)
    parameters = clusters.to_parameters(lengths=[200, 300])
    assert np.abs(parameters.transmat - model.transmat_).max() > 0  # 199 and 200 are no pair
