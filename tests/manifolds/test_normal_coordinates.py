"""Normal coordinates name points, and know how Exp enlarges volume, on every manifold."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rhmm import Euclidean, Hyperbolic, Manifold
from tests.manifolds import in_kernels
from tests.manifolds.cases import every_kind, every_manifold

DISK = Hyperbolic(2)


@every_manifold
def test_normal_coordinates_name_points_and_their_length_is_the_distance(case):
    centre, *points = case.some_points(12)
    points = np.stack(points)
    coordinates, _ = case.manifold.normal_coordinates(centre, points)
    assert coordinates.shape == (11, case.manifold.dim)
    lengths = np.linalg.norm(coordinates, axis=1)
    assert_allclose(lengths, case.manifold.dist(centre, points), rtol=1e-10)
    named = case.manifold.from_normal_coordinates(centre, coordinates)
    assert np.max(case.manifold.dist(named, points)) < 1e-7


@every_manifold
def test_log_volume_is_that_of_the_differential_of_exp(case):
    """Small steps in coordinates at the centre, seen from the points where they lead."""
    manifold, step = case.manifold, 1e-5
    centre, *points = case.some_points(4)
    coordinates, log_volume = manifold.normal_coordinates(centre, np.stack(points))
    for u, point, expected in zip(coordinates, points, log_volume, strict=True):
        steps = np.concatenate([step * np.eye(manifold.dim), -step * np.eye(manifold.dim)])
        ends = manifold.from_normal_coordinates(centre, u + steps)
        seen, _ = manifold.normal_coordinates(point, ends)
        ahead, back = np.split(seen, 2)
        found = np.linalg.slogdet((ahead - back) / (2 * step))[1]
        assert found == pytest.approx(expected, abs=1e-6)
    assert manifold.is_flat == (not log_volume.any()) or manifold.dim == 1


@every_manifold
def test_frames_are_carried_along_the_geodesic_from_the_origin(case):
    """The translation to c keeps distances, and takes each point of its geodesic along it."""
    manifold = case.manifold
    centre, x, y = case.some_points(3)
    there = manifold.from_normal_coordinates(
        centre, manifold.normal_coordinates(manifold.origin, np.stack([x, y]))[0]
    )
    assert manifold.dist(*there) == pytest.approx(manifold.dist(x, y), rel=1e-9)
    ahead = manifold.geodesic(manifold.origin, centre, 2.0)
    at_centre, _ = manifold.normal_coordinates(centre, ahead[None])
    at_origin, _ = manifold.normal_coordinates(manifold.origin, centre[None])
    assert_allclose(at_centre, at_origin, atol=1e-9)


def test_a_manifold_without_normal_coordinates_says_so():
    class Other(Euclidean):
        normal_coordinates = Manifold.normal_coordinates
        _from_normal = Manifold._from_normal

    with pytest.raises(ValueError, match="has no normal coordinates"):
        Other(2).normal_coordinates(np.zeros(2), np.zeros((1, 2)))
    with pytest.raises(ValueError, match="has no normal coordinates"):
        Other(2).from_normal_coordinates(np.zeros(2), np.zeros((1, 2)))


@every_kind
def test_kernels_have_the_same_coordinates(case):
    centre, *points = case.some_points(12)
    points, manifold = np.stack(points), case.manifold
    coordinates, log_volume = np.empty((6, manifold.dim)), np.empty(6)
    in_kernels.normal_coordinates(manifold.geometry, points, 3, 9, centre, coordinates, log_volume)
    expected, expected_volume = manifold.normal_coordinates(centre, points[3:9])
    assert_allclose(coordinates, expected, rtol=1e-12, atol=1e-13)
    assert_allclose(log_volume, expected_volume, rtol=1e-12, atol=1e-13)


@every_manifold
def test_a_turn_of_frames_is_the_same_wherever_an_isometry_brings_both_points(case):
    """Carried vectors lead to points whose distances an isometry keeps."""
    manifold, move = case.manifold, case.isometry(np.random.default_rng(3))
    start, end, point = case.some_points(3)

    def carried(start, end, point):
        u, _ = manifold.normal_coordinates(start, point[None])
        return manifold.from_normal_coordinates(end, u @ manifold.frame_turn(start, end).T)[0]

    turn = manifold.frame_turn(start, end)
    assert_allclose(turn @ turn.T, np.eye(manifold.dim), atol=1e-9)
    there = carried(*move(np.stack([start, end, point])))
    assert manifold.dist(there, move(carried(start, end, point)[None])[0]) < 1e-7


def test_on_the_disk_frames_turn_by_the_area_of_the_triangle_with_the_origin():
    start, end = np.array([0.6, 0.0]), np.array([0.0, 0.6])
    turn = DISK.frame_turn(start, end)
    sides = [DISK.dist(start, end), DISK.dist([0, 0], start), DISK.dist([0, 0], end)]
    angles = [_angle(sides[i:] + sides[:i]) for i in range(3)]
    area = np.pi - sum(angles)
    assert np.arctan2(turn[0, 1], turn[0, 0]) == pytest.approx(area, abs=1e-12)


def _angle(sides):
    """Opposite to the first of three sides, by the hyperbolic law of cosines."""
    a, b, c = np.cosh(sides)
    return np.arccos((b * c - a) / np.sqrt((b**2 - 1) * (c**2 - 1)))


@every_manifold
def test_frames_turn_as_the_reflection_halfway_does(case):
    """It is an isometry of a symmetric space; it carries vectors along, and turns them round."""
    manifold = case.manifold
    start, end = case.some_points(2, seed=5)
    for there in (end, start, manifold.geodesic(start, end, 1e-5)):
        ends = manifold.from_normal_coordinates(start, np.eye(manifold.dim))
        reflected = manifold.geodesic(ends, manifold.geodesic(start, there, 0.5), 2.0)
        carried = -manifold.normal_coordinates(there, reflected)[0]
        assert_allclose(manifold.frame_turn(start, there), carried.T, atol=1e-10)
