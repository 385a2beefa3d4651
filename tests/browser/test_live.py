"""The Live lab: playing, dragging, running, and files to take away."""

import csv
import json

import numpy as np
import pytest

from dashboard.model.experiment import Experiment
from dashboard.model.methods import WINDOWED
from dashboard.text import columns, files, formatting, tables
from tests.browser.lab import Lab
from tests.browser.slow_line import slow_line
from tests.browser.stillness import wait_until_still
from tests.dashboard.made_runs import finished


def shown_experiment(lab):
    experiment, problems = Experiment.from_query(lab.query)
    assert problems == []
    return experiment


def test_the_first_screen_moves_by_itself(open_lab):
    lab = open_lab(moving=True)

    lab.wait_for("(window.seen ??= new Set()).add(lab.k).size > 3")

    assert lab.page.complaints == []


def test_with_reduced_motion_the_end_is_shown_standing_still(open_page):
    lab = Lab(open_page())

    lab.wait_for("lab.k === '10000'")

    assert lab.value("playing") == "false"


def test_the_numbers_are_those_of_the_engine(open_lab):
    lab = open_lab("/?T=3000&delta=100&seed=5")
    lab.wait_for_results()

    table = tables.methods_table(finished(Experiment(length=3000, window=100, seed=5)))

    shown = [cells for name, cells in table.items() if name != columns.TIME.heading]
    assert lab.table() == [list(row) for row in zip(*shown, strict=True)]


def test_play_pause_step_and_scrub(open_lab):
    lab = open_lab(moving=True)
    lab.stop_at(2725)
    lab.wait_for("Number(lab.k) === 2725")

    lab.page.get_by_role("button", name="One step on").click()
    lab.wait_for("Number(lab.k) === 2750")
    lab.page.get_by_role("button", name="One step back").click()
    lab.wait_for("Number(lab.k) === 2725")
    lab.page.keyboard.press("ArrowRight")  # the button still has the focus
    lab.wait_for("Number(lab.k) === 2750")

    lab.page.get_by_label("Speed").select_option("0.1")
    lab.page.get_by_role("button", name="Play").click()
    lab.wait_for("Number(lab.k) > 2750 && lab.playing === 'true'")
    lab.page.get_by_role("button", name="Pause").click()
    lab.wait_for("Number(lab.k) < 10000 && lab.playing === 'false'")
    lab.page.get_by_label("Speed").select_option("4")
    lab.page.get_by_role("button", name="Play").click()
    lab.wait_for("lab.k === '10000' && lab.playing === 'false'")


def test_space_plays_and_arrows_step(open_lab):
    lab = open_lab(moving=True)
    lab.stop_at(2725)
    lab.page.get_by_label("Speed").select_option("0.1")
    lab.page.locator("canvas.map").focus()

    lab.page.keyboard.press("ArrowRight")
    lab.wait_for("Number(lab.k) === 2750")
    lab.page.keyboard.press("ArrowLeft")
    lab.wait_for("Number(lab.k) === 2725")
    lab.page.keyboard.press("Space")
    lab.wait_for("Number(lab.k) > 2725 && lab.playing === 'true'")
    lab.page.keyboard.press("Space")
    lab.wait_for("Number(lab.k) < 10000 && lab.playing === 'false'")


def test_typing_in_a_field_does_not_play(open_lab):
    lab = open_lab()
    lab.stop_at(2725)
    lab.page.get_by_role("spinbutton", name="Seed").focus()

    lab.page.keyboard.press("ArrowLeft")
    lab.page.keyboard.press("Space")

    assert lab.value("playing") == "false"


def test_clicking_on_the_curves_goes_to_that_moment(open_lab):
    lab = open_lab()
    wait_until_still(lab.page)
    box = lab.page.locator("canvas.plot").bounding_box()

    lab.page.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.25)

    lab.wait_for("lab.playing === 'false' && Number(lab.k) > 3000 && Number(lab.k) < 7000")


def test_dragging_a_mean_changes_link_data_and_results(open_lab):
    lab = open_lab()
    lab.wait_for_results()
    before, table = lab.run, lab.table()

    lab.drag_mean(1, -40, 60)

    lab.wait_for_another_run(before)
    lab.wait_for_other_numbers(table)
    means = shown_experiment(lab).means
    assert means[0] == (0.0, 0.0)
    assert means[2] == (-0.29, 0.82)
    assert means[1] != (0.29, 0.82)

    online = finished(shown_experiment(lab)).method(WINDOWED)
    assert lab.table()[0][1] == formatting.hundredths(online.accuracy)


def test_a_mean_cannot_be_dragged_out_of_the_disk(open_lab):
    lab = open_lab()
    before = lab.run

    lab.drag_mean(2, -2000, -2000)

    lab.wait_for_another_run(before)
    x, y = shown_experiment(lab).means[2]
    assert np.hypot(x, y) == pytest.approx(0.99, abs=0.002)
    assert lab.page.locator('[data-testid="stAlert"]').count() == 0


def test_a_mean_dropped_on_another_is_refused_in_a_sentence(open_lab):
    lab = open_lab("/?c=0,0;0.3,0;-0.29,0.82&T=1000")
    before = lab.query

    handles = lab.page.locator(".handle")
    wait_until_still(lab.page)
    first, second = handles.nth(0).bounding_box(), handles.nth(1).bounding_box()
    lab.drag_mean(1, first["x"] - second["x"], first["y"] - second["y"])

    lab.page.get_by_text("c₁ and c₂ coincide").wait_for()
    assert lab.query == before
    lab.wait_for_pieces(  # back where it was
        ".handle",
        f"(crosses) => Math.abs(crosses[1].getBoundingClientRect().x - {second['x']}) < 0.01",
    )


def test_a_mean_moves_by_keys(open_lab):
    lab = open_lab()
    lab.page.locator(".handle").nth(0).focus()

    lab.page.keyboard.press("ArrowUp")
    lab.page.keyboard.press("Shift+ArrowLeft")

    lab.wait_for_query(c="-0.05,0.01;0.29,0.82;-0.29,0.82")


def test_a_long_run_plays_while_it_is_computed_and_can_be_cancelled(open_lab):
    lab = open_lab("/?T=100000&delta=5000&algorithm=windowed&update=convex", moving=True)
    lab.page.get_by_role("button", name="Cancel").wait_for()
    lab.wait_for("Number(lab.k) > 6000")

    lab.page.get_by_role("button", name="Cancel").click()

    lab.page.get_by_text("Stopped.").wait_for()
    assert lab.table()[1][1] == "…"
    lab.page.get_by_role("button", name="Run", exact=True).click()
    lab.page.get_by_role("button", name="Cancel").wait_for()
    lab.page.get_by_role("button", name="Cancel").click()
    lab.page.get_by_text("Stopped.").wait_for()


def test_controls_answer_while_a_run_is_computed(open_lab):
    lab = open_lab("/?T=100000&delta=5000&algorithm=windowed&update=convex&seed=2")
    lab.page.get_by_role("button", name="Cancel").wait_for()
    before = lab.run

    lab.page.get_by_role("spinbutton", name="T: length of the chain").fill("6000")
    lab.page.keyboard.press("Enter")

    lab.wait_for_another_run(before)
    lab.wait_for_query(T="6000")


def test_what_is_taken_away_agrees_with_the_page(open_lab):
    lab = open_lab("/?T=800&delta=60")
    lab.wait_for_results()

    def taken(name):
        with lab.page.expect_download() as download:
            lab.page.get_by_role("link", name=name).click()
        return download.value.path().read_text(encoding="utf-8")

    results = json.loads(taken("Results (JSON)"))
    rows = list(csv.DictReader(taken("Data (CSV)").splitlines()))

    accuracy = results["methods"]["windowed"]["accuracy"]
    assert formatting.hundredths(accuracy) == lab.table()[0][1]
    assert np.mean([row["windowed"] == row["true_state"] for row in rows]) == pytest.approx(
        accuracy
    )
    assert taken("Script (Python)") == files.run_script(Experiment(length=800, window=60))
    with lab.page.expect_download() as picture:
        lab.page.get_by_role("button", name="Save as PNG").click()
    assert picture.value.path().read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_file_can_be_taken_while_the_page_runs_again(open_lab):
    lab = open_lab("/?T=800&delta=60", before=slow_line)
    lab.wait_for_results()
    wait_until_still(lab.page)
    lab.page.evaluate("window.late = 3000")  # the browser will be behind the server

    with lab.page.expect_download() as download:
        lab.page.get_by_role("button", name="Zoom in").click()
        lab.page.wait_for_timeout(1000)
        lab.page.get_by_role("link", name="Data (CSV)").click()

    assert download.value.path().read_text(encoding="utf-8").count("\n") == 801
