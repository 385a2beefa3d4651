"""What a visitor sees of the Live lab without a click or a scroll, and what hands find there."""

import re

import numpy as np
import pytest

from dashboard.compute.precomputed_run import default_run
from dashboard.model.methods import WINDOWED
from rhmm import Hyperbolic
from tests.browser.lab import Lab

LAPTOP = {"width": 1366, "height": 768}
PHONE = {"width": 390, "height": 844}


def box(page, selector):
    found = page.locator(selector).first
    found.wait_for()
    return found.bounding_box()


def is_within(inner, width, height):
    right, bottom = inner["x"] + inner["width"], inner["y"] + inner["height"]
    return inner["x"] >= 0 and inner["y"] >= 0 and right <= width and bottom <= height


@pytest.mark.parametrize("look", ["light", "dark"])
def test_a_laptop_shows_map_curves_scores_delta_and_play_at_once(open_lab, look):
    lab = open_lab(viewport=LAPTOP, color_scheme=look)
    lab.wait_for_results()

    for piece in ("canvas.map", "canvas.plot", ".play", ".scrub", ".scores", ".doings"):
        assert is_within(box(lab.page, piece), **LAPTOP), piece
    slider = lab.page.get_by_role("slider", name=re.compile("^Δ")).bounding_box()
    assert is_within(slider, **LAPTOP)
    assert box(lab.page, "canvas.map")["height"] > 350
    for key in ("em", "kmeans"):  # shown without a click
        assert lab.page.locator(f"[name={key}]").is_checked()


def test_the_scores_are_those_of_the_table(open_lab):
    lab = open_lab(viewport=LAPTOP)
    lab.wait_for_results()
    lab.page.keyboard.press("End")
    lab.wait_for("lab.k === '10000'")

    cards = lab.page.locator(".card")
    shown = {
        card.locator("dt").inner_text(): card.locator("dd").inner_text() for card in cards.all()
    }

    run = default_run()
    assert shown == {m.name: f"{100 * m.accuracy:.1f} %" for m in run.methods}


def test_on_a_phone_play_is_beside_the_map(open_lab):
    lab = open_lab(viewport=PHONE, has_touch=True)
    lab.wait_for_results()

    picture, play = box(lab.page, "canvas.map"), box(lab.page, ".play")
    assert is_within(play, **PHONE)
    assert 0 <= play["y"] - (picture["y"] + picture["height"]) < 40
    assert lab.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_observations_appear_as_they_are_seen(open_page):
    lab = Lab(open_page("/?k=300&seed=4", viewport=LAPTOP))
    lab.wait_for_results()
    # the observations come in a message of their own, perhaps after the results
    count = "(({ scene, seen }) => scene.countSeen(seen))(box.getRootNode().picture)"
    lab.wait_for_pieces(".lab", f"([box]) => {count} === 300")

    lab.page.get_by_label("only seen so far").uncheck()

    lab.wait_for("lab.k === '300'")
    assert lab.box.evaluate(f"(box) => {count}") == 10_000


def test_no_state_is_shown_before_it_is_revealed(open_lab):
    lab = open_lab(viewport=LAPTOP)

    assert lab.page.get_by_label("Colour by").input_value() == "plain"
    lab.page.get_by_label("Colour by").select_option("true")
    lab.wait_for_query(colour="true")


def test_the_collapse_is_told_when_it_happens(open_page):
    lab = Lab(open_page("/?delta=40&k=1000", viewport=LAPTOP))
    lab.wait_for_results()

    lab.page.get_by_text(re.compile("has collapsed at k = ")).wait_for()
    lab.stop_at(20)

    lab.page.get_by_text("is collecting the first Δ = 40 observations").first.wait_for()
    assert lab.page.get_by_text(re.compile("has collapsed at k = ")).count() == 0


def test_a_point_under_the_pointer_tells_its_distances_and_probabilities(open_page):
    lab = Lab(open_page("/?k=10000", viewport=LAPTOP))
    lab.wait_for_results()
    run = default_run()
    windowed = run.method(WINDOWED)
    lonely = int(np.argmax(run.points[:, 0]))  # nothing is further to the right
    x, y = run.points[lonely]
    picture = box(lab.page, "canvas.map")
    half = 0.965 * picture["width"] / 2
    middle = picture["x"] + picture["width"] / 2, picture["y"] + picture["height"] / 2

    lab.page.mouse.move(middle[0] + x * half, middle[1] - y * half)

    tip = lab.page.locator(".tip")
    tip.wait_for()
    assert f"Observation {lonely + 1:,}" in tip.inner_text()
    rows = [row.split() for row in tip.locator("tbody tr").all_inner_texts()]
    points = np.broadcast_to(run.points[lonely], windowed.model.means_.shape)
    distances = Hyperbolic(2).dist(points, windowed.model.means_)
    assert [float(row[2]) for row in rows] == pytest.approx(distances, abs=0.0051)


@pytest.mark.parametrize(("key", "name"), [("e", "em"), ("k", "kmeans")])
def test_letters_switch_the_baselines(open_lab, key, name):
    lab = open_lab(viewport=LAPTOP)
    lab.wait_for_results()
    lab.page.locator("canvas.map").focus()

    lab.page.keyboard.press(key)

    assert not lab.page.locator(f"[name={name}]").is_checked()
    lab.page.keyboard.press(key)
    assert lab.page.locator(f"[name={name}]").is_checked()


def test_home_and_end_go_to_the_ends(open_lab):
    lab = open_lab(viewport=LAPTOP)
    lab.wait_for_results()
    lab.page.locator("canvas.map").focus()

    lab.page.keyboard.press("End")
    lab.wait_for("lab.k === '10000' && lab.playing === 'false'")
    lab.page.keyboard.press("Home")
    lab.wait_for("lab.k === '0' && lab.playing === 'false'")


def test_presenter_mode_is_one_key_and_part_of_the_link(open_lab, open_page):
    lab = open_lab(viewport=LAPTOP)
    lab.wait_for_results()
    lab.page.locator("canvas.map").focus()
    size = lab.page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")

    lab.page.keyboard.press("p")

    lab.page.get_by_test_id("stSidebar").wait_for(state="hidden")
    larger = lab.page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")
    assert larger > 1.3 * size
    for piece in ("canvas.map", "canvas.plot", ".play", ".scores"):
        assert is_within(box(lab.page, piece), **LAPTOP), piece
    lab.page.wait_for_function("location.search.includes('presenter')")

    path = lab.page.url.removeprefix(lab.page.evaluate("location.origin"))
    again = Lab(open_page(path, viewport=LAPTOP))
    again.wait_until_shown()
    again.page.get_by_test_id("stSidebar").wait_for(state="hidden")
    again.page.locator("canvas.map").focus()
    again.page.keyboard.press("p")
    again.page.get_by_test_id("stSidebar").wait_for()


def test_a_story_opens_its_experiment_and_reset_brings_the_first_one_back(open_lab):
    lab = open_lab(viewport=LAPTOP)
    lab.wait_for_results()
    first = lab.run

    lab.page.get_by_text("Near the rim", exact=True).click()
    lab.wait_for_another_run(first)
    lab.wait_for_query(c="0,0.97;0.1,0.96;0.93,-0.25", look="0.0000,0.9700,1.0000,0.0000,0.0000")
    lab.page.get_by_role("button", name="Reset").click()

    lab.wait_for(f"lab.run === '{first}'")
    lab.wait_for_query(look=None, delta="200")


def test_a_step_can_be_opened_with_its_numbers(open_page):
    lab = Lab(open_page("/?k=500&seed=3", viewport=LAPTOP))
    lab.wait_for_results()
    lab.wait_for("lab.k === '500'")

    address = lab.page.get_by_role("link", name="Open this step").get_attribute("href")

    assert "how_it_works" in address
    assert "lesson=step" in address
    assert "k=500" in address
    assert "seed=3" in address
