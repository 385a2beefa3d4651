"""k-means++ seeds and Lloyd's algorithm, step by step."""

import numpy as np
import pytest

from rhmm import Euclidean, Hyperbolic
from rhmm.clustering import _Lloyd, _seed_points, best_clusters, nearest, plus_plus_seeds
from tests.brute_force import MANIFOLDS, in_a_row, squared_distance

everywhere = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)


def cloud(manifold, size=60):
    return manifold.sample(in_a_row(manifold, [0.5])[0], 1.0, size, rng=7)


def test_nearest_gives_the_first_of_equally_near_centres():
    labels, smallest = nearest(np.array([[4.0, 1.0, 2.0], [1.0, 1.0, 3.0], [9.0, 0.5, 2.0]]))
    assert labels.tolist() == [1, 2, 0]
    assert smallest.tolist() == [1.0, 0.5, 2.0]


# Seeds


def placed(manifold, points, uniforms) -> tuple[np.ndarray, np.ndarray]:
    """The seeds that these random numbers give, and d² of all points to them."""
    seeds = np.empty((len(uniforms), *manifold.point_shape))
    d2 = np.empty((len(uniforms), len(points)))
    _seed_points(manifold.geometry, points, np.array(uniforms), seeds, d2)
    return seeds, d2


@everywhere
def test_seeds_are_points_and_their_squared_distances_are_filled_in(manifold):
    points = cloud(manifold)
    seeds, d2 = placed(manifold, points, np.random.default_rng(0).random((4, 3)))
    for seed, row in zip(seeds, d2, strict=True):
        assert any(np.array_equal(seed, point) for point in points)
        expected = [squared_distance(manifold, seed, point) for point in points]
        np.testing.assert_allclose(row, expected, rtol=1e-7, atol=1e-12)


def test_each_next_seed_is_drawn_in_proportion_to_the_squared_distance():
    """One random number for each seed, on a line, by hand."""
    points = np.array([[0.0], [1.0], [3.0]])
    for u, v in np.ndindex(30, 30):
        u, v = (u + 0.5) / 30, (v + 0.5) / 30
        begin = int(3 * u)
        share = np.cumsum((points[:, 0] - points[begin, 0]) ** 2)
        seeds, _ = placed(Euclidean(1), points, [[u], [v]])
        assert seeds[0] == points[begin]
        assert seeds[1] == points[np.searchsorted(share, v * share[-1])]


def test_of_several_points_that_compete_the_best_is_the_next_seed():
    """After 0, of the points 3 and 10 the second leaves less: 1 + 9 against 1 + 49."""
    points = np.array([[0.0], [1.0], [3.0], [10.0]])
    for competing in ([0.05, 0.9], [0.9, 0.05]):
        seeds, _ = placed(Euclidean(1), points, [[0.0, 0.0], competing])
        assert seeds[:, 0].tolist() == [0.0, 10.0]


def test_several_trials_leave_the_points_nearer_to_their_seeds():
    points = cloud(Euclidean(2))

    def left(trials, seed):
        rng = np.random.default_rng(seed)
        seeds = plus_plus_seeds(Euclidean(2), points, 4, rng, trials)
        return Euclidean(2).squared_distances(points, seeds).min(axis=0).sum()

    totals = [np.mean([left(trials, seed) for seed in range(20)]) for trials in (1, 4)]
    assert totals[1] < 0.9 * totals[0]


def test_seeds_follow_their_law():
    """k-means++ on three points: chances of ordered pairs of seeds, against the formula."""
    points = np.array([[0.0], [1.0], [3.0]])
    rng = np.random.default_rng(0)
    drawn = [tuple(plus_plus_seeds(Euclidean(1), points, 2, rng)[:, 0]) for _ in range(6000)]
    d2 = (points - points.T) ** 2
    for i, j in np.ndindex(3, 3):
        chance = d2[i, j] / d2[i].sum() / 3
        error = 4 * np.sqrt(6000 * chance * (1 - chance))
        assert abs(drawn.count((points[i, 0], points[j, 0])) - 6000 * chance) <= error


# Lloyd's algorithm


def test_an_empty_cluster_takes_the_point_furthest_from_its_own_centre():
    points = np.array([[0.0], [1.0], [10.0], [14.0]])
    run = _Lloyd(Euclidean(1), points, np.array([[0.5], [11.0], [100.0]]))
    assert run.labels.tolist() == [0, 0, 1, 1]
    run.advance(1, tol=0.0)
    assert run.labels.tolist() == [0, 0, 1, 2]
    np.testing.assert_array_equal(run.centres, [[0.5], [10.0], [14.0]])


def test_no_cluster_stays_empty_while_there_are_distinct_points():
    points = np.array([[0.0], [1.0], [10.0], [14.0]])
    run = _Lloyd(Euclidean(1), points, np.array([[0.0], [100.0], [200.0], [300.0]]))
    run.advance(100, tol=0.0)
    assert sorted(run.labels) == [0, 1, 2, 3]
    assert run.inertia == 0.0


@everywhere
def test_a_run_that_was_paused_goes_on_as_if_it_had_not_been(manifold):
    points = cloud(manifold)
    whole, paused = (_Lloyd(manifold, points, points[:3].copy()) for _ in range(2))
    whole.advance(20, tol=0.0)
    for steps in (1, 4, 20):
        paused.advance(steps, tol=0.0)
    assert paused.iterations == whole.iterations
    assert np.array_equal(paused.centres, whole.centres)
    assert paused.inertia == whole.inertia


def test_the_best_of_several_starts_is_kept():
    disk, points = Hyperbolic(2), cloud(Hyperbolic(2), 200)
    options = {"max_iter": 300, "tol": 1e-6}
    rng = np.random.default_rng(1)
    singles = [best_clusters(disk, points, 5, rng, n_init=1, **options) for _ in range(8)]
    best = best_clusters(disk, points, 5, np.random.default_rng(1), n_init=8, **options)
    inertias = [single.inertia for single in singles]
    assert min(inertias) < max(inertias)
    assert best.inertia in inertias
    assert best.inertia < np.median(inertias)
    np.testing.assert_allclose(best.inertia, best.d2.sum())
    assert best.converged
