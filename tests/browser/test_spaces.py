"""The Live lab in a space whose points are ellipses on a flat map."""

import re

import pytest

from dashboard.model.experiment import Experiment
from dashboard.model.spaces.spd2 import SPD2
from tests.browser.stillness import wait_until_still

COUNTED = """
  window.ellipses = 0;
  const draw = CanvasRenderingContext2D.prototype.ellipse;
  CanvasRenderingContext2D.prototype.ellipse = function (...numbers) {
    window.ellipses += 1;
    return draw.apply(this, numbers);
  };
"""


PATH = "/?space=spd2&T=2000&delta=100"


@pytest.fixture
def lab(open_lab):
    lab = open_lab(PATH)
    lab.wait_for_results()
    return lab


def place(lab, state):
    """Where a true mean is: on the map, and on the screen."""
    handle = lab.page.locator(".handle").nth(state)
    x, y = map(float, re.findall(r"-?\d+\.\d+", handle.get_attribute("aria-label")))
    box = handle.bounding_box()
    return (x, y), (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def shown_experiment(lab):
    experiment, problems = Experiment.from_query(lab.query)
    assert problems == []
    return experiment


def test_observations_are_painted_as_ellipses(open_lab):
    lab = open_lab(PATH, moving=True, before=lambda page: page.add_init_script(COUNTED))
    lab.page.wait_for_function("window.ellipses > 2_000")
    assert lab.page.locator("canvas.map").get_attribute("data-shape") == "square"
    assert shown_experiment(lab) == Experiment(**SPD2.truth, length=2_000, window=100)
    assert lab.page.complaints == []


def test_a_mean_is_dragged_to_where_it_is_dropped_and_gives_new_results(lab):
    before, run, numbers = shown_experiment(lab), lab.run, lab.table()
    (x0, y0), (left0, _) = place(lab, 0)
    (x1, _), (left1, _) = place(lab, 1)
    unit = (left1 - left0) / (x1 - x0)

    lab.drag_mean(0, right=60, down=-30)
    lab.wait_for_another_run(run)
    lab.wait_for_results()
    lab.wait_for_other_numbers(numbers)

    after = shown_experiment(lab)
    assert after.means[1:] == before.means[1:]
    dropped = before.chart.places(SPD2.points(after.means))[0]
    assert dropped == pytest.approx((x0 + 60 / unit, y0 + 30 / unit), abs=0.02)
    assert lab.page.complaints == []


def test_switching_the_space_shows_another_map_and_the_way_back(lab):
    page, run = lab.page, lab.run
    page.get_by_role("button", name="Zoom in").click()
    lab.wait_for("Number(lab.zoom) > 1")

    boxes = page.locator('[data-testid="stSelectbox"]')
    space = boxes.filter(has=page.get_by_text("Space", exact=True)).locator("input")
    space.scroll_into_view_if_needed()  # a list that has opened closes when the page is scrolled
    wait_until_still(page)
    space.click()
    page.get_by_role("option", name="Poincaré disk", exact=True).click()
    lab.wait_for_another_run(run)
    lab.wait_for_pieces("canvas.map", "([map]) => map.dataset.shape === 'round'")
    lab.wait_for("lab.zoom === '1'")
    lab.wait_for_query(space=None)

    page.go_back()
    lab.wait_for(f"lab.run === '{run}'")
    lab.wait_for_pieces("canvas.map", "([map]) => map.dataset.shape === 'square'")
    assert page.complaints == []
