"""charts/disk.js against the engine, which computes with other formulas."""

import numpy as np
import pytest

from rhmm import Hyperbolic

DISK = Hyperbolic(2)
PLACES = [[0.0, 0.0], [0.29, 0.82], [-0.9, 0.3], [0.99, 0.0]]
VIEWPORT = """
const { Viewport } = await import(new URL("../viewport.js", address));
const canvas = Object.assign(document.createElement("canvas"), { width: 400, height: 400 });
const viewport = new Viewport(canvas);
const disk = new m.Disk(viewport, { reach: 0.99 });
"""


def distances(one, other):
    return DISK.dist(np.array(one, float), np.array(other, float))


@pytest.mark.parametrize("centre", PLACES)
def test_the_view_is_moved_by_an_isometry(js, centre):
    moved = js.run(
        "charts/disk.js", "return a[0].map(([x, y]) => m.recentred(x, y, ...a[1]))", PLACES, centre
    )

    middle = moved[PLACES.index(centre)]
    assert middle == pytest.approx([0, 0], abs=1e-12)
    for i, j in np.ndindex(4, 4):
        expected = distances([PLACES[i]], [PLACES[j]])[0]
        assert distances([moved[i]], [moved[j]])[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("radius", [0.2, 1.0, 2.5])
@pytest.mark.parametrize("centre", PLACES)
def test_all_of_a_circle_is_as_far_from_its_mean_as_its_radius_says(js, centre, radius):
    circle = js.run(
        "charts/disk.js", "return m.geodesicCircle(a[0][0], a[0][1], a[1])", centre, radius
    )

    angles = np.linspace(0, 6, 7)
    rim = np.column_stack(
        [
            circle["x"] + circle["r"] * np.cos(angles),
            circle["y"] + circle["r"] * np.sin(angles),
        ]
    )
    centres = np.broadcast_to(centre, rim.shape)
    np.testing.assert_allclose(DISK.dist(centres, rim), radius, rtol=1e-7)


def test_a_circle_around_a_point_beyond_the_rim_has_no_size(js):
    assert js.run("charts/disk.js", "return m.geodesicCircle(0.6, 0.8000001, 1).r") == 0


@pytest.mark.parametrize(
    "place",
    [
        {},
        {"x": 0.29, "y": 0.82},
        {"zoom": 3, "panX": 0.3, "panY": -0.2},
        {"x": -0.5, "y": 0.1, "zoom": 2, "panX": 0.1, "panY": 0.1},
    ],
)
def test_a_point_comes_back_from_the_screen(js, place):
    back = js.run(
        "charts/disk.js",
        VIEWPORT
        + """
        Object.assign(viewport.place, a[1]);
        return a[0].map(([x, y]) => disk.fromScreen(...disk.toScreen(x, y)));
        """,
        PLACES,
        place,
    )

    np.testing.assert_allclose(back, PLACES, atol=1e-9)


def test_a_place_beside_the_disk_is_one_at_its_rim(js):
    x, y = js.run("charts/disk.js", VIEWPORT + "return disk.fromScreen(1000, 200)")

    assert 0.99 < x < 1
    assert y == pytest.approx(0, abs=1e-12)


def test_a_drag_ends_within_reach(js):
    inside, outside = js.run(
        "charts/disk.js", VIEWPORT + "return [disk.withinReach(0.3, 0.4), disk.withinReach(3, 4)]"
    )

    assert inside == [0.3, 0.4]
    assert outside == pytest.approx([0.99 * 0.6, 0.99 * 0.8])


def test_the_way_to_a_point_is_a_geodesic_at_constant_speed(js):
    start, end, shares = [-0.5, 0.1], [0.29, 0.82], [0, 0.25, 0.5, 0.75, 1]
    way = js.run(
        "charts/disk.js",
        VIEWPORT
        + """
        Object.assign(viewport.place, { x: a[0][0], y: a[0][1] });
        return a[2].map(disk.wayTo(...a[1])).map(({ x, y }) => [x, y]);
        """,
        start,
        end,
        shares,
    )

    whole = distances([start], [end])[0]
    np.testing.assert_allclose(distances([start] * 5, way), np.multiply(shares, whole), atol=1e-9)
    np.testing.assert_allclose(
        distances([end] * 5, way), np.multiply(shares[::-1], whole), atol=1e-9
    )


def test_what_is_panned_stays_in_sight(js):
    pans = js.run(
        "charts/disk.js",
        VIEWPORT
        + "return a.map((zoom) => Math.hypot(...disk.keptInSight({ zoom, panX: 3, panY: 4 })))",
        1,
        2,
        10,
    )

    assert pans == pytest.approx([0, 0.5, 0.9])


@pytest.mark.parametrize("one", PLACES)
@pytest.mark.parametrize("other", PLACES)
def test_distances_are_those_of_the_engine(js, one, other):
    found = js.run(
        "charts/disk.js", VIEWPORT + "return disk.distance(...a[0], ...a[1])", one, other
    )

    assert found == pytest.approx(distances([one], [other])[0], abs=1e-9)


@pytest.mark.parametrize("mean", PLACES[:3])
def test_an_ellipse_of_the_tangent_space_is_drawn_where_the_engine_has_it(js, mean):
    rx, ry, angle = 0.9, 0.3, 0.7
    line = js.run(
        "charts/disk.js",
        VIEWPORT
        + """
        Object.assign(viewport.place, { x: 0.2, y: -0.1 });
        const drawn = [], g = { beginPath() {}, closePath() {}, lineTo: (...at) => drawn.push(at) };
        const [x, y] = a[0];
        disk.traceBall(g, { x, y, sigma: 1, ellipse: [x, y, ...a[1]] });
        return drawn.map((at) => disk.fromScreen(...at));
        """,
        mean,
        [rx, ry, angle],
    )

    coordinates, _ = DISK.normal_coordinates(np.array(mean), np.array(line))
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    along, across = turn @ coordinates.T
    np.testing.assert_allclose((along / rx) ** 2 + (across / ry) ** 2, 1.0, rtol=1e-6)
