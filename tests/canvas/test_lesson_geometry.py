"""lesson/geometry.js against the engine, which computes with other formulas."""

import numpy as np
import pytest

from rhmm import SPD, Hyperbolic

DISK = Hyperbolic(2)
PLACES = [[0.0, 0.0], [0.29, 0.82], [-0.9, 0.3], [0.4, -0.2], [0.97, 0.1], [0.4, -0.2001]]
MODULE = "lesson/geometry.js"
CLOSE = 1e-9


def pairs():
    first, second = np.triu_indices(len(PLACES), 1)
    return np.array(PLACES)[first], np.array(PLACES)[second]


def matrices(js):
    """The matrices of all places, shape (M, 2, 2)."""
    rows = js.run(MODULE, "return a[0].map((p) => m.toMatrix(p))", PLACES)
    return np.array([[[p["a"], p["b"]], [p["b"], p["c"]]] for p in rows])


def test_distances_are_those_of_the_engine(js):
    x, z = pairs()
    ours = js.run(
        MODULE, "return a[0].map((x, i) => m.distance(x, a[1][i]))", x.tolist(), z.tolist()
    )

    np.testing.assert_allclose(ours, DISK.dist(x, z), atol=CLOSE)


@pytest.mark.parametrize("tau", [0.0, 0.013, 0.5, 0.9, 1.0])
def test_points_on_geodesics_are_those_of_the_engine(js, tau):
    x, z = pairs()
    ours = js.run(
        MODULE,
        "return a[0].map((x, i) => m.geodesicPoint(x, a[1][i], a[2]))",
        x.tolist(),
        z.tolist(),
        tau,
    )

    np.testing.assert_allclose(ours, DISK.geodesic(x, z, np.full(len(x), tau)), atol=CLOSE)


def test_a_geodesic_begins_and_ends_at_its_points(js):
    way = js.run(MODULE, "return m.geodesic(a[0], a[1], 10)", PLACES[1], PLACES[2])

    assert len(way) == 11
    np.testing.assert_allclose([way[0], way[-1]], PLACES[1:3], atol=CLOSE)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 6])
def test_the_centre_of_mass_is_that_of_the_engine(js, count):
    ours = js.run(MODULE, "return m.centreOfMass(a[0])", PLACES[:count])

    np.testing.assert_allclose(ours, DISK.mean(np.array(PLACES[:count])), atol=CLOSE)


def test_the_centre_of_mass_is_found_with_a_point_near_the_rim(js):
    points = [[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [0.9999, 0.0]]
    ours = js.run(MODULE, "return m.centreOfMass(a[0])", points)

    np.testing.assert_allclose(ours, DISK.mean(np.array(points)), atol=CLOSE)


def test_a_point_is_a_matrix_of_determinant_one_and_comes_back(js):
    there = matrices(js)

    np.testing.assert_allclose(np.linalg.det(there), 1.0, atol=CLOSE)
    assert (np.linalg.eigvalsh(there) > 0).all()
    back = js.run(MODULE, "return a[0].map((p) => m.fromMatrix(m.toMatrix(p)))", PLACES)
    np.testing.assert_allclose(back, PLACES, atol=CLOSE)


def test_matrices_are_farther_apart_than_their_points_by_the_root_of_two(js):
    x, z = pairs()
    first, second = np.triu_indices(len(PLACES), 1)
    there = matrices(js)
    affine = SPD(2).dist(there[first], there[second])

    np.testing.assert_allclose(affine, np.sqrt(2) * DISK.dist(x, z), atol=CLOSE)
    ours = js.run(
        MODULE,
        "return a[0].map((x, i) => m.matrixDistance(m.toMatrix(x), m.toMatrix(a[1][i])))",
        x.tolist(),
        z.tolist(),
    )
    np.testing.assert_allclose(ours, affine, atol=CLOSE)


@pytest.mark.parametrize("place", PLACES)
def test_the_ellipse_of_a_point_is_that_of_its_matrix(js, place):
    ellipse = js.run(MODULE, "return m.ellipseOf(a[0])", place)

    turn = np.array(
        [
            [np.cos(ellipse["angle"]), -np.sin(ellipse["angle"])],
            [np.sin(ellipse["angle"]), np.cos(ellipse["angle"])],
        ]
    )
    matrix = turn @ np.diag([ellipse["rx"] ** 2, ellipse["ry"] ** 2]) @ turn.T
    expected = matrices(js)[PLACES.index(place)]
    np.testing.assert_allclose(matrix, expected, rtol=CLOSE, atol=CLOSE)


def test_a_handle_stays_inside_the_disk(js):
    inside, outside = js.run(MODULE, "return [m.withinReach([0.3, 0.4]), m.withinReach([3, 4])]")

    assert inside == [0.3, 0.4]
    assert np.hypot(*outside) < 1
