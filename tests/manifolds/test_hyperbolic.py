"""The Poincaré ball: reference values, the boundary, nearly equal points, wide clouds."""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from rhmm import SPD, Hyperbolic
from rhmm.manifolds.hyperbolic import SMALLEST_GAP
from tests.manifolds.cases import ball_chart, lorentz_isometry
from tests.manifolds.exact import ball_distance

REFERENCE = json.loads((Path(__file__).parents[1] / "reference.json").read_text())["geometry"]
DISK = REFERENCE["H2_poincare"]
EPS = np.finfo(float).eps

every_dimension = pytest.mark.parametrize("dim", [1, 2, 3, 10])


def numbers(strings) -> np.ndarray:
    return np.array(strings, dtype=float)


# Reference values


@pytest.mark.parametrize("entry", DISK["distance"])
def test_distances_agree_with_the_reference(entry):
    distance = Hyperbolic(2).dist(numbers(entry["y"]), numbers(entry["z"]))
    assert distance == pytest.approx(float(entry["d"]), rel=1e-12)


@pytest.mark.parametrize("entry", DISK["geodesic"])
def test_geodesics_agree_with_the_reference(entry):
    point = Hyperbolic(2).geodesic(numbers(entry["x"]), numbers(entry["z"]), float(entry["tau"]))
    assert_allclose(point, numbers(entry["point"]), atol=1e-12)


@pytest.mark.parametrize("entry", DISK["frechet_mean"])
def test_means_agree_with_the_reference(entry):
    points, weights = numbers(entry["points"]), numbers(entry["weights"])
    mean = Hyperbolic(2).mean(points, weights)
    assert_allclose(mean, numbers(entry["mean"]), atol=1e-12)
    variance = weights @ Hyperbolic(2).dist(points, mean) ** 2 / weights.sum()
    assert variance == pytest.approx(float(entry["variance"]), rel=1e-12)


# The disk inside the 2×2 matrices


def phi(z: np.ndarray) -> np.ndarray:
    """The disk as matrices of determinant 1; it multiplies distances by √2."""
    x, y = z[..., 0], z[..., 1]
    norm2 = x**2 + y**2
    rows = [np.stack([1 + norm2 + 2 * x, 2 * y], -1), np.stack([2 * y, 1 + norm2 - 2 * x], -1)]
    return np.stack(rows, -2) / (1 - norm2)[..., None, None]


def disk_points(count: int):
    coordinate = st.floats(-2.0, 2.0)
    point = st.tuples(coordinate, coordinate).map(lambda u: ball_chart(np.array(u)))
    return st.lists(point, min_size=count, max_size=count).map(np.stack)


@pytest.mark.parametrize("entry", REFERENCE["isometry"]["examples"])
def test_reference_distances_of_the_disk_and_of_its_matrices_agree(entry):
    z, w = numbers(entry["z"]), numbers(entry["w"])
    assert Hyperbolic(2).dist(z, w) == pytest.approx(float(entry["d_disk"]), rel=1e-12)
    assert SPD(2).dist(phi(z), phi(w)) == pytest.approx(float(entry["d_AI"]), rel=1e-9)


@given(points=disk_points(2))
def test_matrices_of_determinant_1_are_the_disk_times_root_2(points):
    z, w = points
    assert SPD(2).dist(phi(z), phi(w)) == pytest.approx(
        np.sqrt(2) * Hyperbolic(2).dist(z, w), rel=1e-10, abs=1e-12
    )


@given(points=disk_points(2), tau=st.floats(0.0, 1.0))
def test_the_map_to_matrices_carries_geodesics_over(points, tau):
    z, w = points
    inside = phi(Hyperbolic(2).geodesic(z, w, tau))
    assert SPD(2).dist(inside, SPD(2).geodesic(phi(z), phi(w), tau)) < 1e-10


@given(points=disk_points(5))
def test_the_map_to_matrices_carries_means_over(points):
    inside = phi(Hyperbolic(2).mean(points))
    assert SPD(2).dist(inside, SPD(2).mean(phi(points))) < 1e-8


# Complex numbers on the disk


def test_the_disk_takes_complex_numbers():
    disk = Hyperbolic(2)
    z, w = np.array([0.3 + 0.2j, -0.5j, 0.9 + 0j]), 0.1 - 0.6j
    as_pairs = np.stack([z.real, z.imag], axis=-1)
    pair = np.array([w.real, w.imag])
    assert_array_equal(disk.dist(z, w), disk.dist(as_pairs, pair))
    assert_array_equal(disk.dist(list(z), pair), disk.dist(as_pairs, pair))
    assert_array_equal(disk.geodesic(w, z, 0.3), disk.geodesic(pair, as_pairs, 0.3))
    assert_array_equal(disk.log(w, z), disk.log(pair, as_pairs))
    assert_array_equal(disk.exp(w, 0.1j), disk.exp(pair, [0.0, 0.1]))
    assert disk.norm(w, 0.1j) == disk.norm(pair, [0.0, 0.1])
    assert_array_equal(disk.mean(z), disk.mean(as_pairs))
    assert_array_equal(disk.belongs(np.array([0.5j, 1j])), [True, False])
    assert_array_equal(disk.sample(w, 0.5, 3, rng=0), disk.sample(pair, 0.5, 3, rng=0))


# H¹ is a line


@given(st.floats(-10.0, 10.0), st.floats(-10.0, 10.0), st.floats(0.0, 1.0))
def test_the_hyperbolic_line_is_a_line(a, b, tau):
    line = Hyperbolic(1)
    x, y = np.tanh([a / 2]), np.tanh([b / 2])
    assert line.dist(x, y) == pytest.approx(abs(a - b), abs=1e-10)
    middle = np.tanh([((1 - tau) * a + tau * b) / 2])
    assert line.dist(line.geodesic(x, y, tau), middle) < 1e-10


# Near the boundary


def near_the_boundary(rng: np.random.Generator, dim: int, count: int) -> np.ndarray:
    directions = rng.normal(size=(count, dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions * (1.0 - 10.0 ** rng.uniform(-12.0, -1.0, (count, 1)))


def true_gap(x: np.ndarray) -> float:
    """1 − |x|² from the distance to the origin, 2 artanh |x|."""
    return 1.0 / np.cosh(ball_distance(x, np.zeros(len(x))) / 2) ** 2


@every_dimension
def test_distances_keep_their_digits_near_the_boundary(dim):
    rng = np.random.default_rng(dim)
    x, y = near_the_boundary(rng, dim, 60), near_the_boundary(rng, dim, 60)
    x[:20] *= (1.0 - 1e-12) / np.linalg.norm(x[:20], axis=1, keepdims=True)
    y[10:30] *= (1.0 - 1e-12) / np.linalg.norm(y[10:30], axis=1, keepdims=True)
    exact = np.array([ball_distance(*pair) for pair in zip(x, y, strict=True)])
    assert_allclose(Hyperbolic(dim).dist(x, y), exact, rtol=1e-14)
    assert_allclose(Hyperbolic(dim).norm(x, Hyperbolic(dim).log(x, y)), exact, rtol=1e-13)
    to_one = [ball_distance(point, y[0]) for point in x]
    assert_allclose(Hyperbolic(dim).dist(x, y[0]), to_one, rtol=1e-14)


@every_dimension
@pytest.mark.parametrize("radius", [0.0, 0.9, 1.0 - 1e-3, 1.0 - 1e-6])
@pytest.mark.parametrize("separation", [1e-13, 1e-11, 1e-8])
def test_distances_of_nearly_equal_points_keep_their_digits(dim, radius, separation):
    rng = np.random.default_rng(dim)
    x = np.zeros(dim)
    x[0] = radius
    y = x + separation * rng.normal(size=(5, dim))
    exact = [ball_distance(x, point) for point in y]
    assert_allclose(Hyperbolic(dim).dist(x, y), exact, rtol=1e-14)
    assert_allclose(Hyperbolic(dim).norm(x, Hyperbolic(dim).log(x, y)), exact, rtol=1e-13)


@every_dimension
def test_geodesics_near_the_boundary_are_as_good_as_the_numbers_there(dim):
    rng = np.random.default_rng(dim)
    starts, ends = near_the_boundary(rng, dim, 40), near_the_boundary(rng, dim, 40)
    for x, z in zip(starts, ends, strict=True):
        distance = ball_distance(x, z)
        for tau in (0.0, 0.2, 0.5, 0.8, 1.0):
            y = Hyperbolic(dim).geodesic(x, z, tau)
            # Neighbouring floats at y are about EPS/gap apart.
            rounding = 8 * EPS * (distance + 1 / true_gap(y))
            assert ball_distance(x, y) == pytest.approx(tau * distance, abs=rounding)
            assert ball_distance(y, z) == pytest.approx((1 - tau) * distance, abs=rounding)


@every_dimension
@pytest.mark.parametrize("tau", [1e-6, 1e-4, 1e-3, 3e-3, 1e-2])
def test_short_steps_are_as_long_as_they_should_be(dim, tau):
    rng = np.random.default_rng(dim)
    x, z = (ball_chart(rng.normal(size=dim)) for _ in range(2))
    y = Hyperbolic(dim).geodesic(x, z, tau)
    assert ball_distance(x, y) == pytest.approx(tau * ball_distance(x, z), rel=1e-9)


@every_dimension
def test_exp_undoes_log_near_the_boundary_as_far_as_directions_are_known(dim):
    rng = np.random.default_rng(dim)
    starts, ends = near_the_boundary(rng, dim, 100), near_the_boundary(rng, dim, 100)
    for x, y in zip(starts, ends, strict=True):
        distance = ball_distance(x, y)
        if distance < 25.0:
            back = Hyperbolic(dim).exp(x, Hyperbolic(dim).log(x, y))
            # An angle of EPS at x is an arc of EPS sinh(d) at y.
            assert ball_distance(back, y) < 16 * EPS * (np.sinh(distance) + 1 / true_gap(y))


def test_a_step_across_the_whole_ball_comes_to_an_end():
    # In a process of its own: what is at stake is a loop that never returns.
    program = """
import numpy as np
from rhmm import Hyperbolic

for dim in (1, 2):
    ball, x = Hyperbolic(dim), np.zeros(dim)
    for gap in (1e-12, 1e-9, 1e-6):
        x[0] = -1.0 + gap
        for steps in (lambda: ball.exp(x, ball.log(x, -x)), lambda: ball.geodesic(x, x / 2, 40.0)):
            try:
                assert ball.belongs(steps())
            except ValueError as refusal:
                assert "double precision cannot hold" in str(refusal)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("length", [40.0, 100.0, 1000.0])
def test_steps_beyond_the_last_usable_point_are_always_refused(dim, length):
    ball = Hyperbolic(dim)
    rng = np.random.default_rng(0)
    for _ in range(100):
        x, u = 0.7 * ball_chart(rng.normal(size=dim)), rng.normal(size=dim)
        v = u / ball.norm(x, u)
        with pytest.raises(ValueError, match="v leads to points"):
            ball.exp(x, length * v)
        with pytest.raises(ValueError, match="tau leads to points"):
            ball.geodesic(x, ball.exp(x, v), length)


@every_dimension
def test_the_last_usable_points_are_points_that_project_leaves_alone(dim):
    ball = Hyperbolic(dim)
    direction = np.full(dim, dim**-0.5)
    norms = 1.0 - np.arange(1.0, 40.0) * EPS / 2
    points = norms[:, None] * direction
    usable = ball.belongs(points)
    assert not usable[0]
    assert usable[-1]
    assert_array_equal(ball.project(points[usable]), points[usable])
    assert ball.belongs(ball.project(points)).all()
    exact = np.array([ball_distance(x, np.zeros(dim)) for x in points[usable]])
    assert_allclose(ball.dist(points[usable], np.zeros(dim)), exact, rtol=1e-13)
    assert exact.max() < np.log(4.0 / SMALLEST_GAP) + 1e-6


def test_project_pulls_points_along_their_radius():
    outside = np.array([[3.0, 4.0], [1.0, 0.0], [-1e100, 1e100], [0.6, 0.8]])
    inside = Hyperbolic(2).project(outside)
    assert_allclose(inside, [[0.6, 0.8], [1.0, 0.0], [-(0.5**0.5), 0.5**0.5], [0.6, 0.8]])
    assert Hyperbolic(2).belongs(inside).all()


# Means of wide clouds


def unit_steps(manifold, points, start, count: int) -> list[float]:
    """The textbook iteration c ← exp_c(mean of log_c y); the lengths of its steps."""
    lengths = []
    for _ in range(count):
        step = manifold.log(start, points).mean(axis=0)
        lengths.append(float(manifold.norm(start, step)))
        start = manifold.exp(start, step)
    return lengths


@pytest.mark.parametrize("dim", [2, 3])
def test_the_mean_is_found_where_unit_steps_diverge(dim):
    ball = Hyperbolic(dim)
    centre = np.full(dim, 0.3)
    points = ball.sample(centre, 2.0, 400, rng=0)
    mean = ball.mean(points)
    assert ball.norm(mean, ball.log(mean, points).mean(axis=0)) < 1e-12
    assert ball.dist(mean, centre) < 0.5
    assert min(unit_steps(ball, points, mean * 0.99, 200)[50:]) > 1.0


def test_the_mean_is_found_at_once_where_unit_steps_crawl():
    points = Hyperbolic(2).sample([0.3, 0.3], 1.5, 400, rng=0)
    mean = Hyperbolic(2).mean(points)
    assert Hyperbolic(2).norm(mean, Hyperbolic(2).log(mean, points).mean(axis=0)) < 1e-12
    assert min(unit_steps(Hyperbolic(2), points, points[0], 40)) > 1e-6


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("sigma", [0.2, 1.0, 2.0])
def test_the_search_for_a_mean_converges_quadratically(dim, sigma):
    ball = Hyperbolic(dim)
    points = ball.sample(np.full(dim, 0.3), sigma, 400, rng=0)
    mean, weights, origin = ball.mean(points), np.ones((1, 400)), np.zeros((1, dim))
    errors = []
    for steps in range(1, 7):
        centres, _, converged = ball.recentre(points, weights, origin, most_steps=steps)
        errors.append(ball.dist(centres[0], mean))
    assert converged
    for error, next_error in pairwise(errors):
        assert next_error < 2 * error**2 + 1e-11


@every_dimension
def test_means_of_points_all_over_the_ball_and_its_boundary_converge(dim):
    ball = Hyperbolic(dim)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        points = near_the_boundary(rng, dim, 6)
        weights = 10.0 ** rng.uniform(-6, 0, 6)
        mean = ball.mean(points, weights)
        force = np.tensordot(weights / weights.sum(), ball.log(mean, points), axes=1)
        assert ball.norm(mean, force) < 1e-11 + 100 * EPS / true_gap(mean)


def test_the_mean_of_opposite_ends_is_the_middle():
    end = np.array([1.0 - 1e-12, 0.0])
    assert_allclose(Hyperbolic(2).mean([end, -end]), [0.0, 0.0], atol=1e-14)


def test_a_far_isometry_moves_the_mean_along():
    rng = np.random.default_rng(0)
    ball = Hyperbolic(3)
    points = ball.sample(np.zeros(3), 1.0, 100, rng=1)
    isometry = lorentz_isometry(rng, 3)
    assert ball.dist(isometry(ball.mean(points)), ball.mean(isometry(points))) < 1e-11


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_points_of_many_states_are_those_drawn_for_one_state_after_another(dim):
    ball, sigmas = Hyperbolic(dim), np.array([0.2, 1.0, 3.0])
    centres = ball.sample(ball.origin, 1.0, 3, rng=0)
    states = np.random.default_rng(1).integers(0, 3, 200)
    points, expected = np.empty((200, dim)), np.empty((200, dim))

    ball.draw_states(np.random.default_rng(2), centres, sigmas, states, points)

    rng = np.random.default_rng(2)
    for i in range(3):
        mine = states == i
        expected[mine] = ball.draw(rng, centres[i], sigmas[i], int(mine.sum()))
    assert_array_equal(points, expected)
