"""viewport.js: from the unit square of a map to the pixels of a canvas."""

import pytest

VIEWPORT = """
const canvas = Object.assign(document.createElement("canvas"), { width: 400, height: 400 });
canvas.style.width = canvas.style.height = "400px";
document.body.replaceChildren(canvas);
const viewport = new m.Viewport(canvas);
"""


def test_the_square_fills_the_canvas_but_for_its_margin_and_its_room(js):
    corners = js.run(
        "viewport.js",
        VIEWPORT
        + """
        viewport.margin = 0.9;
        viewport.room = 30;
        return [viewport.toScreen(-1, 1), viewport.toScreen(1, -1), viewport.half];
        """,
    )

    assert corners == [[50, 50], [350, 350], pytest.approx(150)]


def test_a_canvas_that_is_smaller_than_its_room_can_still_be_drawn_on(js):
    inner = js.run(
        "viewport.js", VIEWPORT + "canvas.width = 10; viewport.room = 30; return viewport.inner"
    )

    assert inner > 0
