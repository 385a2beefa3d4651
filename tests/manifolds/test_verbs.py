"""Verbs agree with each other, and their defaults with what manifolds put in their place."""

import numpy as np
import pytest
from numba.core.errors import TypingError
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from rhmm import SPD, Euclidean, Hyperbolic
from rhmm._jit import implements
from rhmm.manifolds import verbs
from rhmm.manifolds.euclidean import FlatGeometry
from tests.manifolds.bare import BareHyperbolic, BareSPD
from tests.manifolds.cases import CASES, ball_chart, spd_chart
from tests.manifolds.in_kernels import (
    approach,
    distances_from,
    distances_to,
    holds,
    weighted_step,
    weighted_steps,
)
from tests.manifolds.test_spd import stretched

# The steps of the cone take long to compile by themselves; the tests of the online learners hold
# them to `explain`, which is made of logarithms and exponentials.
CHEAP = [case for case in CASES if not isinstance(case.manifold, SPD)]
every_manifold = pytest.mark.parametrize("case", CASES, ids=repr)
every_cheap_manifold = pytest.mark.parametrize("case", CHEAP, ids=repr)

BARE = [
    (BareHyperbolic(1), Hyperbolic(1), ball_chart),
    (BareHyperbolic(2), Hyperbolic(2), ball_chart),
    (BareHyperbolic(4), Hyperbolic(4), ball_chart),
    (BareSPD(1), SPD(1), lambda u: spd_chart(u, 1)),
    (BareSPD(2), SPD(2), lambda u: spd_chart(u, 2)),
    (BareSPD(3), SPD(3), lambda u: spd_chart(u, 3)),
]
every_bare_manifold = pytest.mark.parametrize(
    ("bare", "full", "chart"), BARE, ids=[repr(bare) for bare, _, _ in BARE]
)


def cloud(full, chart, count: int, spread: float, seed: int = 0) -> np.ndarray:
    """Random points, with coordinates of the given spread."""
    coordinates = np.random.default_rng(seed).normal(0.0, spread, (count, full.dim))
    return np.stack([chart(row) for row in coordinates])


# Steps and distances of a stretch of points


def assert_step_follows_the_logarithms(manifold, centre, points, tau):
    """A step towards points[2:7], against logarithms and exponentials."""
    weights = np.random.default_rng(0).dirichlet(np.ones(5))
    towards = np.tensordot(weights, manifold.log(centre, points[2:7]), axes=1)
    expected = manifold.exp(centre, tau * towards)
    expected_d2 = weights @ manifold.dist(centre, points[2:7]) ** 2
    d2 = weighted_step(manifold.geometry, points, 2, 7, weights, tau, centre)
    assert_allclose(centre, expected, rtol=1e-13, atol=1e-13)
    assert_allclose(d2, expected_d2, rtol=1e-12)


@every_cheap_manifold
@pytest.mark.parametrize("tau", [0.0, 1e-9, 1e-4, 9e-3, 0.1, 0.5])
def test_a_weighted_step_follows_the_mean_of_the_logarithms(case, tau):
    centre, points = case.some_points(1)[0], case.some_points(9, seed=1)
    assert_step_follows_the_logarithms(case.manifold, centre, points, tau)


@every_bare_manifold
@pytest.mark.parametrize("tau", [1e-4, 0.5])
def test_the_default_step_follows_the_mean_of_the_logarithms(bare, full, chart, tau):
    points = cloud(full, chart, 10, 0.7)
    assert_step_follows_the_logarithms(bare, points[-1].copy(), points, tau)


@every_cheap_manifold
def test_a_step_towards_the_centre_itself_stays_there(case):
    points = np.repeat(case.some_points(1), 3, axis=0)
    centre = points[0].copy()
    d2 = weighted_step(case.manifold.geometry, points, 0, 3, np.ones(3), 0.5, centre)
    assert_allclose(centre, points[0], rtol=0.0, atol=1e-14)
    assert_allclose(d2, 0.0, atol=1e-24)


@every_cheap_manifold
@pytest.mark.parametrize("count", [1, 3, 300])
def test_a_step_may_take_all_points_at_once(case, count):
    centre, points = case.some_points(1)[0], case.some_points(count, seed=1)
    expected = case.manifold.dist(centre, points) ** 2
    d2 = weighted_step(case.manifold.geometry, points, 0, count, np.ones(count), 0.0, centre)
    assert_allclose(d2, expected.sum(), rtol=1e-12)


@every_cheap_manifold
@pytest.mark.parametrize(("first", "last"), [(0, 1), (0, 9), (3, 7), (8, 9)])
def test_distances_of_a_stretch_of_points(case, first, last):
    centre, points = case.some_points(1)[0], case.some_points(9, seed=1)
    d2 = distances_to(case.manifold.geometry, points, first, last, centre)
    assert_allclose(d2, case.manifold.dist(points[first:last], centre) ** 2, rtol=1e-13)


@every_cheap_manifold
@pytest.mark.parametrize("count", [1, 2, 40])
@pytest.mark.parametrize(("first", "last"), [(0, 1), (0, 9), (3, 7)])
def test_distances_of_several_centres_come_one_after_another(case, first, last, count):
    centres, points = case.some_points(count), case.some_points(9, seed=1)
    d2 = distances_from(case.manifold.geometry, points, first, last, centres)
    expected = case.manifold.dist(centres[:, None], points[None, first:last]) ** 2
    assert_allclose(d2.reshape(expected.shape), expected, rtol=1e-12, atol=1e-24)


@every_cheap_manifold
@pytest.mark.parametrize("count", [1, 2, 40])
def test_steps_of_several_centres_are_those_of_each(case, count):
    points, geometry = case.some_points(9, seed=1), case.manifold.geometry
    alone, together = case.some_points(count), case.some_points(count)
    weights = np.random.default_rng(0).dirichlet(np.ones(5), count)
    taus, totals = np.linspace(0.1, 0.5, count), np.empty(count)
    d2 = [
        weighted_step(geometry, points, 2, 7, *of_one)
        for of_one in zip(weights, taus, alone, strict=True)
    ]
    weighted_steps(geometry, points, 2, 7, weights, taus, together, totals)
    assert_allclose(together, alone, rtol=1e-13, atol=1e-13)
    assert_allclose(totals, d2, rtol=1e-12)


@every_cheap_manifold
def test_a_centre_whose_tau_is_zero_stays(case):
    points, centres = case.some_points(9, seed=1), case.some_points(3)
    taus, weights = np.array([0.5, 0.0, 0.5]), np.full((3, 9), 0.1)
    before = centres.copy()
    weighted_steps(case.manifold.geometry, points, 0, 9, weights, taus, centres, np.empty(3))
    moved = (centres != before).reshape(3, -1).any(axis=1)
    assert_array_equal(moved, [True, False, True])


@every_cheap_manifold
def test_a_step_from_known_distances_is_one_of_the_search(case):
    points, centre, weights = case.some_points(9, seed=1), case.some_points(1), np.ones((1, 9))
    expected, expected_d2, _ = case.manifold.recentre(points, weights, centre, 1)
    d2 = case.manifold.squared_distances(points, centre)
    approach(case.manifold.geometry, points, weights[0], centre[0], d2[0])
    assert_allclose(centre, expected, rtol=1e-13, atol=1e-15)
    assert_allclose(d2, expected_d2, rtol=1e-12)


@every_bare_manifold
def test_default_distances_are_those_of_the_overrides(bare, full, chart):
    x, y = cloud(full, chart, 40, 1.0), cloud(full, chart, 40, 1.0, seed=1)
    assert_allclose(bare.dist(x, y), full.dist(x, y), rtol=1e-12)
    assert_allclose(bare.squared_distances(x, y[:3]), full.squared_distances(x, y[:3]), rtol=1e-12)
    d2 = distances_to(bare.geometry, x, 5, 25, y[0])
    assert_allclose(d2, full.dist(x[5:25], y[0]) ** 2, rtol=1e-12)


@every_bare_manifold
def test_default_geodesics_are_those_of_the_overrides(bare, full, chart):
    x, z = cloud(full, chart, 20, 0.7), cloud(full, chart, 20, 0.7, seed=1)
    tau = np.linspace(-0.3, 1.3, 20)
    assert np.max(full.dist(bare.geodesic(x, z, tau), full.geodesic(x, z, tau))) < 1e-12


@every_bare_manifold
def test_the_default_norm_is_the_length_of_the_vector(bare, full, chart):
    x, y = cloud(full, chart, 20, 0.7), cloud(full, chart, 20, 0.7, seed=1)
    v = 0.3 * full.log(x, y)
    assert_allclose(bare.norm(x, v), full.norm(x, v), rtol=1e-12)


@every_bare_manifold
def test_by_default_points_are_projected_to_themselves_and_others_refused(bare, full, chart):
    points = cloud(full, chart, 5, 0.7)
    assert bare.project(points) is points
    points[3] = -100.0
    with pytest.raises(ValueError, match=r"x\[3\] is not a point of"):
        bare.project(points)


# The default search for a centre of mass


@every_bare_manifold
@pytest.mark.parametrize("spread", [1e-6, 0.1, 1.0, 3.0])
def test_the_default_search_finds_the_mean_of_the_overrides(bare, full, chart, spread):
    points = cloud(full, chart, 60, spread)
    weights = np.random.default_rng(1).uniform(0.0, 1.0, 60)
    mean = bare.mean(points, weights)  # a search that did not converge would warn
    assert full.dist(mean, full.mean(points, weights)) < 1e-8


@every_bare_manifold
def test_a_point_far_away_does_not_mislead_the_default_search(bare, full, chart):
    points = cloud(full, chart, 20, 0.3)
    points[0] = chart(np.eye(full.dim)[0] * 12.0)
    assert full.dist(bare.mean(points), full.mean(points)) < 1e-8


@pytest.mark.parametrize("size", [2, 3])
def test_the_default_search_converges_where_unit_steps_diverge(size):
    points = stretched(np.random.default_rng(0), size, 100, 4.0)
    assert SPD(size).dist(BareSPD(size).mean(points), SPD(size).mean(points)) < 1e-8


@every_bare_manifold
def test_the_default_search_starts_anywhere(bare, full, chart):
    points, weights = cloud(full, chart, 30, 0.5), np.ones((3, 30))
    starts = cloud(full, chart, 3, 2.0, seed=5)
    centres, d2, converged = bare.recentre(points, weights, starts)
    assert converged
    assert np.max(full.dist(centres, full.mean(points))) < 1e-8
    assert_allclose(d2, full.squared_distances(points, centres), rtol=1e-12)


@every_bare_manifold
def test_the_default_search_says_when_it_ran_out_of_steps(bare, full, chart):
    points = cloud(full, chart, 30, 1.0)
    weights, start = np.ones((1, 30)), cloud(full, chart, 1, 2.0, seed=5)
    centres, d2, converged = bare.recentre(points, weights, start, 1)
    assert not converged
    assert full.dist(centres[0], start[0]) > 0.1
    assert_allclose(d2, full.squared_distances(points, centres), rtol=1e-12)


def ball_squares(x: np.ndarray, points: np.ndarray) -> np.ndarray:
    gaps = (1.0 - x @ x) * (1.0 - (points**2).sum(axis=1))
    return np.arccosh(1.0 + 2.0 * ((points - x) ** 2).sum(axis=1) / gaps) ** 2


def cone_squares(x: np.ndarray, points: np.ndarray) -> np.ndarray:
    values = np.linalg.eigvals(np.linalg.solve(x, points))
    return (np.log(values.real) ** 2).sum(axis=-1)


@pytest.mark.parametrize(
    ("bare", "chart", "squares"),
    [
        (BareHyperbolic(2), ball_chart, ball_squares),
        (BareSPD(2), lambda u: spd_chart(u, 2), cone_squares),
    ],
    ids=["ball", "cone"],
)
@pytest.mark.parametrize("spread", [0.5, 1.5])
def test_no_minimum_that_brute_force_finds_is_lower(bare, chart, squares, spread):
    points = cloud(bare, chart, 12, spread)
    weights = np.random.default_rng(2).uniform(0.1, 1.0, 12)
    found = minimize(
        lambda u: weights @ squares(chart(u), points),
        np.zeros(bare.dim),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 5000, "maxfev": 5000},
    )
    mean = bare.mean(points, weights)
    assert weights @ squares(mean, points) <= found.fun * (1.0 + 1e-12)
    assert bare.dist(mean, chart(found.x)) < 1e-6


# What `implements` asks for


class Nowhere(FlatGeometry):
    """A geometry of which nothing is known."""


def test_a_required_verb_that_is_missing_is_named():
    with pytest.raises(TypingError, match=r"dist2 is not implemented for the geometry .*Nowhere"):
        verbs.all_paired_distances(Nowhere(2), np.ones((1, 2)), np.ones((1, 2)), np.empty(1))


def test_an_implementation_with_other_arguments_is_refused():
    with pytest.raises(TypeError, match=r"dist2 takes \(geometry, x, y\), not \(a, b, c\)"):

        @implements(verbs.dist2, Nowhere)
        def wrong(a, b, c):
            return 0.0


def test_verbs_are_for_kernels_alone():
    with pytest.raises(NotImplementedError, match="compiled kernels only"):
        verbs.dist2(Euclidean(1).geometry, np.zeros(1), np.zeros(1))


# Points that double precision can hold


@every_manifold
def test_kernels_hold_the_points_that_belong(case):
    manifold = case.manifold
    points = case.some_points(20, spread=3.0)
    outside = points.copy()
    outside[:10] = np.nan
    outside[10:] = np.inf
    for x in (*points, *outside):
        assert holds(manifold.geometry, x) == manifold.belongs(x)


@pytest.mark.parametrize(
    ("manifold", "x"),
    [
        (Hyperbolic(2), [0.6, 0.8]),
        (Hyperbolic(2), [1.0 - 2.0**-53, 0.0]),
        (SPD(2), [[1.0, 1.0], [1.0, 1.0 + 1e-15]]),
        (SPD(2), [[1.0, 0.5], [0.4, 1.0]]),
    ],
)
def test_kernels_do_not_hold_points_next_to_the_boundary(manifold, x):
    assert not manifold.belongs(np.array(x))
    assert not holds(manifold.geometry, np.array(x))


def test_a_centre_that_would_leave_the_manifold_stays_where_it_was():
    """Far apart in many ways, such matrices have a centre with entries beyond double precision."""
    points = np.array([np.diag([1e-300, 1e-300]), np.diag([1e300, 1e300])])
    centre = np.eye(2)
    centres, d2, _ = SPD(2).recentre(points, np.array([[0.5, 0.5]]), centre[None], 1)
    assert SPD(2).belongs(centres[0])
    assert np.isfinite(d2).all()
    exact = 2 * (300 * np.log(10.0)) ** 2
    assert_allclose(d2, [[exact, exact]], rtol=1e-9)


# Hyperbolic points at the rim


def test_a_step_from_a_point_at_the_rim_to_itself_goes_nowhere():
    rim = np.array([1.0 - 1e-14, 0.0])
    moved = rim.copy()
    points = np.repeat(rim[None], 7, axis=0)
    total = weighted_step(Hyperbolic(2).geometry, points, 0, 7, np.full(7, 1 / 7), 0.5, moved)
    assert total == pytest.approx(0.0, abs=1e-200)
    assert_allclose(moved, rim, rtol=0, atol=1e-15)


# Steps towards a centre of mass from sums


def weighted(case, seed=0):
    points = case.some_points(60, seed=seed)
    weights = np.random.default_rng(seed).uniform(0.1, 1.0, (2, 60))
    return points, weights, case.some_points(2, seed=seed + 1, spread=0.3)


@every_manifold
def test_sums_over_parts_add_up_to_those_over_all(case):
    points, weights, centres = weighted(case)
    manifold = case.manifold
    whole = manifold.centre_sums(points, weights, centres)
    cuts = (slice(0, 7), slice(7, 41), slice(41, 60))
    parts = [
        manifold.centre_sums(points[cut], np.ascontiguousarray(weights[:, cut]), centres)
        for cut in cuts
    ]
    assert_allclose(sum(parts), whole, rtol=1e-12, atol=1e-12)
    d2 = np.stack([manifold.dist(centre, points) ** 2 for centre in centres])
    assert_allclose(whole[:, 0], (weights * d2).sum(axis=1), rtol=1e-12)


@every_manifold
def test_steps_lead_to_the_centre_of_mass(case):
    points, weights, centres = weighted(case)
    manifold = case.manifold
    expected = np.stack([manifold.mean(points, row) for row in weights])
    for _ in range(60):
        sums = manifold.centre_sums(points, weights, centres)
        centres, predicted = manifold.centre_steps(sums, weights.sum(axis=1), centres, 1.0)
    assert manifold.dist(centres, expected).max() < 1e-8
    assert_allclose(predicted, sums[:, 0], rtol=1e-12)


@every_manifold
def test_a_short_step_lowers_the_sum_of_squares_as_predicted(case):
    points, weights, centres = weighted(case)
    manifold = case.manifold
    sums = manifold.centre_sums(points, weights, centres)
    moved, predicted = manifold.centre_steps(sums, weights.sum(axis=1), centres, 1e-4)
    after = manifold.centre_sums(points, weights, moved)[:, 0]
    assert (after < sums[:, 0]).all()
    assert_allclose(sums[:, 0] - after, sums[:, 0] - predicted, rtol=1e-3)
