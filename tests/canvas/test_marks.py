import numpy as np
import pytest

from dashboard.model.marks import MARKS
from dashboard.model.model_checks import MOST_STATES

OUTLINE = """
const corners = [];
let round = false;
const lineTo = (x, y) => corners.push([x, y]), arc = () => (round = true);
const g = { beginPath() {}, closePath() {}, lineTo, arc };
m.traceMark(g, a[0], 100, 50, 10);
return [round, corners];
"""


def test_the_browser_has_the_same_table(js):
    table = js.run("shared.js", "return m.MARKS")

    fields = ("colour", "corners", "turn", "outer", "inner")
    assert table == [{field: getattr(mark, field) for field in fields} for mark in MARKS]


CORNERS = {
    "circle": 0,
    "triangle-up": 3,
    "square": 4,
    "diamond": 4,
    "triangle-down": 3,
    "pentagon": 5,
    "star": 10,
    "hexagon": 6,
}


@pytest.mark.parametrize("state", range(MOST_STATES))
def test_the_canvas_draws_the_shape_that_plotly_names(js, state):
    is_round, corners = js.run("marks.js", OUTLINE, state)
    symbol = MARKS[state].symbol

    assert len(corners) == CORNERS[symbol]
    assert is_round == (symbol == "circle")
    if is_round:
        return
    x, y = (np.array(corners) - [100, 50]).T
    assert abs(x.sum()) < 1e-9  # as much on the left as on the right
    topmost = np.isclose(y, y.min())
    assert topmost.sum() == (2 if symbol in ("square", "triangle-down") else 1)
    if symbol == "star":
        assert np.ptp(np.hypot(x, y)) > 5
