import math

import numpy as np
import pytest

PANEL = {"left": 10, "right": 210, "top": 20, "bottom": 120}


@pytest.mark.parametrize("step", [0, 9, 10, 24, 25, 26, 54.5, 55, 999])
@pytest.mark.parametrize("steps", [[], [10], [10, 25, 40, 55]])
def test_a_row_is_the_last_one_at_or_before_its_step(js, steps, step):
    row = js.run("scales.js", "return m.rowAt(a[0], a[1])", steps, step)

    assert row == np.searchsorted(steps, step, side="right") - 1


@pytest.mark.parametrize(
    ("errors", "decades"),
    [
        ([], [-3, 0]),
        ([0, 0], [-3, 0]),
        ([0.5, 0.02], [-2, 0]),
        ([0.5, 0.5], [-1, 0]),
        ([1, 1], [0, 1]),
        ([30, 0.004], [-3, 2]),
    ],
)
def test_the_scale_of_errors_is_as_wide_as_they_need(js, errors, decades):
    assert js.run("scales.js", "return m.errorDecades(a[0])", errors) == decades


def test_errors_stand_by_their_logarithm_and_stay_on_the_panel(js):
    heights = js.run(
        "scales.js",
        "return a[1].map((error) => m.yOfError(a[0], error, [-2, 0]))",
        PANEL,
        [1, 0.1, 0.01, 0.05, 0, 100],
    )

    share = (math.log10(0.05) + 2) / 2
    assert heights == pytest.approx([20, 70, 120, 120 - 100 * share, 120, 20])


LINEAR = """
  const scale = m.linearScale(a[1]);
  return [a[2].map((value) => scale.y(a[0], value)), scale.ticks.map(([value]) => value)];
"""


def test_values_of_any_sign_stand_in_proportion(js):
    heights, ticks = js.run("scales.js", LINEAR, PANEL, [-4, 6, 1], [-4.8, 6.8, 1, -99, 99])

    assert heights == pytest.approx([120, 20, 70, 120, 20])
    assert ticks == [-4, -2, 0, 2, 4, 6]


def test_a_few_low_values_do_not_press_the_others_together(js):
    values = [-1000.0] + [0.1 * i for i in range(99)]
    heights, _ = js.run("scales.js", LINEAR, PANEL, values, [0.5, 9.8, -1000])

    assert heights[0] - heights[1] > 80
    assert heights[2] == 120


def test_equal_values_and_none_have_a_scale(js):
    for values in ([], [3, 3]):
        heights, ticks = js.run("scales.js", LINEAR, PANEL, values, values[:1])
        assert all(20 < height < 120 for height in heights)
        assert len(ticks) > 1


def test_each_decade_is_written_out(js):
    ticks = js.run("scales.js", "return m.decadeTicks([-3, 2])")

    assert [text for _, text in ticks] == ["0.001", "0.01", "0.1", "1", "10", "100"]
    assert [value for value, _ in ticks] == pytest.approx([0.001, 0.01, 0.1, 1, 10, 100])


def test_a_step_is_found_where_it_stands(js):
    steps = [0, 1, 500, 9_999, 10_000]

    back = js.run(
        "scales.js",
        "return a[1].map((step) => m.stepAtX(a[0], m.xOfStep(a[0], step, 10000), 10000))",
        PANEL,
        steps,
    )

    assert back == steps
