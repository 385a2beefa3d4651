import csv
import json

import numpy as np
import pytest

from dashboard import downloads, present, runs
from dashboard.canvas import program
from dashboard.experiment import Experiment
from tests.browser.ear import Ear
from tests.browser.lab import Lab
from tests.browser.slow_line import slow_line
from tests.browser.stillness import wait_until_still


@pytest.fixture
def open_lab(open_page):
    def open_lab(path="/", **options):
        lab = Lab(open_page(path, **options))
        lab.wait_until_moving()
        return lab

    return open_lab


def shown_experiment(lab):
    experiment, problems = Experiment.from_query(lab.query)
    assert problems == []
    return experiment


def modules(server):
    """The addresses of all modules of the canvases."""
    folder = f"{server.address}/canvas/{program.version()}"
    return sorted(f"{folder}/{file}" for file in program.modules())


def test_the_first_screen_moves_by_itself(open_lab):
    lab = open_lab()

    lab.wait_for("(window.seen ??= new Set()).add(lab.k).size > 3")

    assert lab.page.complaints == []


def test_who_prefers_less_motion_sees_the_end_standing_still(open_page):
    lab = Lab(open_page(reduced_motion="reduce"))

    lab.wait_for("lab.k === '10000'")

    assert lab.value("playing") == "false"


def test_the_numbers_are_those_of_the_engine(open_lab):
    lab = open_lab("/?T=3000&delta=100&seed=5")
    lab.wait_for_results()

    run = runs.compute(Experiment(length=3000, window=100, seed=5), lambda *_: None)
    table = present.methods_table(run)

    columns = [cells for name, cells in table.items() if name != "Time"]
    assert lab.table() == [list(row) for row in zip(*columns, strict=True)]


def test_play_pause_step_and_scrub(open_lab):
    lab = open_lab()
    lab.stop_at(100)
    lab.wait_for("Number(lab.k) === 2725")  # the first frame is at 225

    lab.page.get_by_role("button", name="One frame on").click()
    lab.wait_for("Number(lab.k) === 2750")
    lab.page.get_by_role("button", name="One frame back").click()
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
    lab = open_lab()
    lab.stop_at(100)
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
    lab.stop_at(100)
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

    run = runs.compute(shown_experiment(lab), lambda *_: None)
    assert lab.table()[0][1] == present.percent(run.method(runs.ONLINE).accuracy)


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


def test_a_link_brings_back_the_same_picture_and_numbers(open_lab, open_page):
    lab = open_lab("/?T=2000&delta=60&seed=9&algorithm=windowed&update=convex")
    lab.wait_for_results()
    k = lab.stop_at(100)
    lab.page.get_by_label("EM’s iterates (E)").check()
    lab.page.get_by_label("Colour by").select_option("decoded")
    lab.page.get_by_label("Centre on").select_option("2")
    lab.page.get_by_role("button", name="Zoom in").click()
    lab.wait_for_query(k=str(k), show="circles,trails,held,em", colour="decoded")
    lab.page.wait_for_function("location.search.includes('look=0.2900%2C0.8200%2C1.5000')")

    again = Lab(open_page(lab.page.url.removeprefix(lab.page.evaluate("location.origin"))))
    again.wait_for_results()
    again.wait_for(f"lab.k === '{k}'")

    assert again.page.url == lab.page.url
    assert again.table() == lab.table()
    assert again.value("run") == lab.value("run")
    assert again.page.get_by_label("EM’s iterates (E)").is_checked()
    assert again.page.get_by_label("Colour by").input_value() == "decoded"


def test_the_shared_link_is_the_address(open_lab, open_page):
    lab = open_lab("/?seed=4")
    lab.wait_for_results()
    lab.stop_at(100)
    lab.page.get_by_label("geodesic grid").check()
    lab.wait_for_query(k="2725", show="circles,trails,held,grid")
    lab.page.get_by_role("button", name="Share").click()
    shown = lab.page.locator('[data-testid="stPopoverBody"] code')
    link = shown.filter(has_text="k=2725").inner_text().strip()

    other = Lab(open_page(link.removeprefix(lab.page.evaluate("location.origin"))))
    other.wait_for("lab.k === '2725'")

    assert other.query == lab.query
    assert other.run == lab.run
    assert other.page.get_by_label("geodesic grid").is_checked()


def test_zoom_survives_new_results(open_lab):
    lab = open_lab()
    lab.page.get_by_role("button", name="Zoom in").click()
    lab.page.wait_for_function("location.search.includes('look=')")
    before = lab.run

    lab.page.get_by_role("button", name="New data").click()

    lab.wait_for_another_run(before)
    assert lab.query["look"].split(",")[2] == "1.5000"


def test_the_way_back_leads_through_every_experiment_and_out(open_lab):
    lab = open_lab("/?T=1000&delta=60&seed=11")
    lab.wait_for_results()
    first, table, query = lab.run, lab.table(), lab.query
    seed = lab.page.get_by_role("spinbutton", name="Seed")
    seed.fill("12")
    seed.press("Enter")
    lab.wait_for_another_run(first)
    lab.wait_for_results()
    second = lab.run
    lab.page.get_by_role("link", name="Set the truth").click()
    lab.page.get_by_role("heading", level=1, name="Set the truth").wait_for()
    lab.wait_for_query(seed="12")

    lab.page.go_back()
    lab.wait_for(f"lab.run === '{second}'")
    lab.page.go_back()
    lab.wait_for(f"lab.run === '{first}'")
    lab.wait_for_results()
    assert lab.table() == table
    assert lab.query == query
    assert seed.input_value() == "11"

    lab.page.go_forward()
    lab.wait_for(f"lab.run === '{second}'")
    lab.page.go_back()
    lab.wait_for(f"lab.run === '{first}'")
    lab.page.go_back()  # to the link as it was typed
    lab.wait_for_query(**query)
    lab.page.go_back()
    assert lab.page.url == "about:blank"


def test_a_click_in_the_menu_is_one_step_of_the_way_back_on_a_slow_line_too(open_lab):
    lab = open_lab("/?T=1000&delta=60&seed=11", before=slow_line)
    lab.wait_for_results()
    run = lab.run
    headings = {"Set the truth": "Set the truth", "Compare": "Online, EM and K-means"}
    for link, heading in headings.items():
        lab.page.get_by_role("link", name=link).click()
        lab.page.get_by_role("heading", level=1, name=heading).wait_for()

    lab.page.go_back()
    lab.page.get_by_role("heading", level=1, name="Set the truth").wait_for()
    lab.page.go_back()
    lab.wait_for(f"lab.run === '{run}'")


def test_what_is_typed_wrongly_survives_the_way_back(open_lab):
    lab = open_lab("/?T=1000&delta=60&seed=11")
    length = lab.page.get_by_role("spinbutton", name="T: length of the chain")
    length.fill("40")
    length.press("Enter")
    sidebar = lab.page.get_by_test_id("stSidebarUserContent")
    sidebar.get_by_text("T must be between").wait_for()
    lab.page.get_by_role("link", name="Set the truth").click()
    lab.page.get_by_role("heading", level=1, name="Set the truth").wait_for()

    lab.page.go_back()

    lab.wait_until_moving()
    sidebar.get_by_text("T must be between").wait_for()
    assert length.input_value() == "40"
    assert lab.query["T"] == "1000"


def test_the_way_back_leads_to_earlier_views(open_lab):
    lab = open_lab("/?seed=4")
    lab.wait_for_results()
    lab.stop_at(100)
    lab.wait_for_query(k="2725")
    lab.page.get_by_role("button", name="Zoom in").click()
    lab.page.wait_for_function("location.search.includes('look=')")
    lab.stop_at(50)
    lab.wait_for_query(k="1475")
    lab.page.get_by_label("geodesic grid").check()
    lab.page.wait_for_function("location.search.includes('grid')")

    lab.page.go_back()
    lab.page.locator("[name=grid]:not(:checked)").wait_for()
    lab.page.go_back()
    lab.wait_for("lab.k === '2725' && lab.zoom === '1.5'")
    lab.page.go_back()
    lab.wait_for("lab.k === '2725' && lab.zoom === '1'")
    assert "look" not in lab.query


@pytest.mark.parametrize("asked", ["T=1000", "T=100000&algorithm=windowed"])
def test_who_has_stopped_to_look_stays_there_in_the_next_run_and_its_link(open_lab, asked):
    """Also if the next run takes longer than a page waits: it then begins without any frame."""
    lab = open_lab(f"/?{asked}&delta=60&seed=11")
    lab.wait_for_results()
    k, before = lab.stop_at(100), lab.run
    lab.wait_for_query(k=str(k))

    lab.page.get_by_role("button", name="New data").click()

    lab.wait_for_another_run(before)
    lab.wait_for_query(k=str(k))
    lab.wait_for(f"lab.k === '{k}' && lab.playing === 'false'")


def test_the_same_look_is_in_the_link_after_the_way_back_too(open_lab):
    lab = open_lab("/?T=1000&delta=60&seed=11")
    lab.wait_for_results()
    shown = "circles,trails,held,grid"
    lab.page.get_by_label("geodesic grid").check()
    lab.wait_for_query(show=shown)
    lab.page.go_back()
    lab.page.locator("[name=grid]:not(:checked)").wait_for()
    lab.wait_for_query(show=None)

    lab.page.get_by_label("geodesic grid").check()

    lab.wait_for_query(show=shown)


def test_a_link_to_a_moment_stops_the_picture_and_one_without_plays_it(open_lab):
    lab = open_lab("/?seed=4")
    lab.wait_for_results()
    lab.page.get_by_label("Speed").select_option("0.1")
    lab.stop_at(100)
    lab.wait_for_query(k="2725")
    lab.page.get_by_role("button", name="Play").click()
    lab.wait_for_query(k=None)

    lab.page.go_back()
    lab.wait_for("lab.k === '2725' && lab.playing === 'false'")
    lab.wait_for_query(k="2725")
    lab.page.go_back()
    lab.wait_for("Number(lab.k) < 2725 && lab.playing === 'true'")
    lab.wait_for_query(k=None)


def test_who_prefers_less_motion_sees_the_end_of_a_link_without_a_moment(open_page):
    lab = Lab(open_page("/?seed=4", reduced_motion="reduce"))
    lab.wait_for_results()
    lab.stop_at(100)
    lab.wait_for_query(k="2725")

    lab.page.go_back()

    lab.wait_for("lab.k === '10000' && lab.playing === 'false'")


def test_a_long_run_plays_while_it_is_computed_and_can_be_cancelled(open_lab):
    lab = open_lab("/?T=100000&delta=5000&algorithm=windowed&update=convex")
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

    accuracy = results["methods"]["online"]["accuracy"]
    assert present.percent(accuracy) == lab.table()[0][1]
    assert np.mean([row["online"] == row["true_state"] for row in rows]) == pytest.approx(accuracy)
    assert taken("Script (Python)") == downloads.script(Experiment(length=800, window=60))
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


def test_another_look_at_a_finished_run_does_not_send_it_again(open_lab):
    ear = Ear()
    lab = open_lab("/?seed=4", before=ear)
    lab.wait_for_results()
    wait_until_still(lab.page)
    ear.forget()

    lab.page.get_by_role("button", name="Zoom in").click()
    lab.page.wait_for_function("location.search.includes('look=')")
    lab.wait_for_results()

    assert ear.size() < 20_000


def test_a_run_that_got_lost_on_the_way_is_asked_for(open_lab):
    lab = open_lab("/?seed=4")
    lab.wait_for_results()
    lab.box.evaluate("(box) => (box.getRootNode().picture.run.version = 0)")

    lab.page.get_by_role("button", name="Zoom in").click()

    whole = "([box]) => (({ version, continues }) => version > 0 && continues === null)"
    lab.wait_for_pieces(".lab", f"{whole}(box.getRootNode().picture.run)")


def test_a_run_is_no_more_than_its_messages_and_the_program(open_lab, server):
    """Files that nobody asks for stay where they are, also when they are ready."""
    open_lab().wait_for_results()  # from now on it is finished for everybody
    ear = Ear()

    lab = open_lab("/", before=ear)
    lab.wait_for_results()
    lab.page.get_by_role("link", name="Data (CSV)").and_(lab.page.locator("[href]")).wait_for()
    wait_until_still(lab.page)

    assert set(modules(server)) <= set(ear.addresses())
    assert ear.size() < 250_000


def test_the_program_is_fetched_once_and_not_sent_with_the_messages(open_lab, server):
    ear = Ear()
    lab = open_lab("/?T=1000&delta=60", before=ear)
    lab.wait_for_results()
    lab.page.get_by_role("button", name="Zoom in").click()
    lab.page.wait_for_function("location.search.includes('look=')")
    lab.page.get_by_role("link", name="Set the truth").click()
    lab.page.locator(".sketch").wait_for()

    assert not any(b"class Scene" in message for message in ear.heard)
    fetched = [address for address in ear.addresses() if "/canvas/" in address]
    assert sorted(fetched) == modules(server)


def test_a_cloud_that_got_lost_on_the_way_is_asked_for(open_lab, server):
    lab = open_lab("/?T=800&delta=60")
    lab.wait_for_results()
    clouds = f"{server.address}/canvas/{program.version()}/clouds.js"
    lab.page.evaluate("async (clouds) => (await import(clouds)).keepCloud(null)", clouds)

    lab.page.get_by_role("button", name="Zoom in").click()

    lab.page.wait_for_function("async (c) => (await import(c)).latestCloud() !== null", arg=clouds)


def test_nothing_is_fetched_from_elsewhere(open_page, server):
    elsewhere = []
    lab = Lab(
        open_page(
            before=lambda page: page.on(
                "request", lambda r: r.url.startswith(server.address) or elsewhere.append(r.url)
            )
        )
    )
    lab.wait_until_moving()
    lab.wait_for_results()

    assert [url for url in elsewhere if url.startswith("http")] == []
