"""charts/plane.js: a flat map with axes."""

import pytest

PLANE = """
const { Viewport } = await import(new URL("../viewport.js", address));
const canvas = Object.assign(document.createElement("canvas"), { width: 400, height: 400 });
const viewport = new Viewport(canvas);
const plane = new m.Plane(viewport, { extent: [-1, 0, 3, 2], axes: ["x", "y"] });
"""


@pytest.mark.parametrize("place", [{}, {"zoom": 4, "panX": 0.3, "panY": -0.2}])
def test_a_point_comes_back_from_the_screen(js, place):
    points = [[-1, 0], [3, 2], [0.25, 1.75]]
    back = js.run(
        "charts/plane.js",
        PLANE
        + """
        Object.assign(viewport.place, a[1]);
        return a[0].map(([x, y]) => plane.fromScreen(...plane.toScreen(x, y)));
        """,
        points,
        place,
    )

    for point, returned in zip(points, back, strict=True):
        assert returned == pytest.approx(point, abs=1e-9)


def test_both_axes_have_the_same_scale_and_y_goes_up(js):
    origin, right, up = js.run(
        "charts/plane.js",
        PLANE + "return [[0, 0], [1, 0], [0, 1]].map(([x, y]) => plane.toScreen(x, y))",
    )

    assert right[0] - origin[0] == pytest.approx(origin[1] - up[1])
    assert right[0] > origin[0]


def test_the_extent_fills_the_window(js):
    window, corner = js.run(
        "charts/plane.js", PLANE + "return [plane.window, plane.toScreen(-1, 2)]"
    )

    assert corner == pytest.approx([window["x"], window["y"]])
    assert window["width"] == pytest.approx(2 * window["height"])


def test_a_drag_ends_at_the_edge(js):
    assert js.run("charts/plane.js", PLANE + "return plane.withinReach(5, -7)") == [3, 0]
    assert js.run("charts/plane.js", PLANE + "return plane.withinReach(0.5, 0.5)") == [0.5, 0.5]


def test_the_way_to_a_point_ends_with_it_in_the_middle(js):
    middle = js.run(
        "charts/plane.js",
        PLANE
        + """
        viewport.place.zoom = 5;
        Object.assign(viewport.place, plane.wayTo(2.5, 0.5)(1));
        return plane.toScreen(2.5, 0.5);
        """,
    )

    assert middle == pytest.approx([200, 200])


def test_a_ball_is_the_ellipse_that_the_message_gives(js):
    drawn = js.run(
        "charts/plane.js",
        PLANE
        + """
        const drawn = [], g = { beginPath() {}, ellipse: (...numbers) => drawn.push(...numbers) };
        plane.traceBall(g, { x: 1, y: 1, sigma: 9, ellipse: [1, 1, 0.5, 0.25, 0.3] });
        return [drawn, plane.toScreen(1, 1), plane.toScreen(1.5, 1)];
        """,
    )

    ellipse, centre, right = drawn
    assert ellipse[:2] == pytest.approx(centre)
    assert ellipse[2] == pytest.approx(right[0] - centre[0])
    assert ellipse[3] == pytest.approx(ellipse[2] / 2)
    assert ellipse[4] == -0.3  # counter-clockwise, while y goes down on the screen


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (0, 6, ["0", "1", "2", "3", "4", "5", "6"]),
        (-0.31, 0.31, ["−0.2", "0.0", "0.2"]),
        (980, 1_020, ["980", "990", "1000", "1010", "1020"]),
    ],
)
def test_ticks_are_round_numbers(js, low, high, texts):
    ticks = js.run("charts/plane.js", "return m.roundNumbers(a[0], a[1])", low, high)

    assert [text for text, _ in ticks] == texts
    for text, value in ticks:
        assert value == pytest.approx(float(text.replace("−", "-")), abs=1e-12)
        assert low <= value <= high
