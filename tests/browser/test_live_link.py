"""The address of the Live lab: it brings back what was on screen, and the way back works."""

import pytest

from tests.browser.lab import Lab
from tests.browser.slow_line import slow_line


def test_a_link_brings_back_the_same_picture_and_numbers(open_lab, open_page):
    lab = open_lab("/?T=2000&delta=60&seed=9&algorithm=windowed&update=convex")
    lab.wait_for_results()
    k = lab.stop_at(100)
    lab.page.get_by_label("EM (E)").uncheck()
    lab.page.get_by_label("Colour by").select_option("decoded")
    lab.page.get_by_label("Centre on").select_option("2")
    lab.page.get_by_role("button", name="Zoom in").click()
    lab.wait_for_query(k=str(k), show="circles,trails,held,seen,grid,kmeans", colour="decoded")
    lab.page.wait_for_function("location.search.includes('look=0.2900%2C0.8200%2C1.5000')")

    again = Lab(open_page(lab.page.url.removeprefix(lab.page.evaluate("location.origin"))))
    again.wait_for_results()
    again.wait_for(f"lab.k === '{k}'")

    assert again.page.url == lab.page.url
    assert again.table() == lab.table()
    assert again.value("run") == lab.value("run")
    assert not again.page.get_by_label("EM (E)").is_checked()
    assert again.page.get_by_label("Colour by").input_value() == "decoded"


def test_the_shared_link_is_the_address(open_lab, open_page):
    lab = open_lab("/?seed=4")
    lab.wait_for_results()
    lab.stop_at(2725)
    lab.page.get_by_label("geodesic grid").uncheck()
    lab.wait_for_query(k="2725", show="circles,trails,held,seen,kmeans,em")
    lab.page.get_by_role("button", name="Share").click()
    shown = lab.page.locator('[data-testid="stPopoverBody"] code')
    link = shown.filter(has_text="k=2725").inner_text().strip()

    other = Lab(open_page(link.removeprefix(lab.page.evaluate("location.origin"))))
    other.wait_for("lab.k === '2725'")

    assert other.query == lab.query
    assert other.run == lab.run
    assert not other.page.get_by_label("geodesic grid").is_checked()


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

    lab.wait_until_shown()
    sidebar.get_by_text("T must be between").wait_for()
    assert length.input_value() == "40"
    assert lab.query["T"] == "1000"


def test_the_way_back_leads_to_earlier_views(open_lab):
    lab = open_lab("/?seed=4")
    lab.wait_for_results()
    lab.stop_at(2725)
    lab.wait_for_query(k="2725")
    lab.page.get_by_role("button", name="Zoom in").click()
    lab.page.wait_for_function("location.search.includes('look=')")
    lab.stop_at(1475)
    lab.wait_for_query(k="1475")
    lab.page.get_by_label("geodesic grid").uncheck()
    lab.page.wait_for_function("location.search.includes('show=')")

    lab.page.go_back()
    lab.page.locator("[name=grid]:checked").wait_for()
    lab.page.go_back()
    lab.wait_for("lab.k === '2725' && lab.zoom === '1.5'")
    lab.page.go_back()
    lab.wait_for("lab.k === '2725' && lab.zoom === '1'")
    assert "look" not in lab.query


@pytest.mark.parametrize("asked", ["T=1000", "T=100000&algorithm=windowed"])
def test_a_visitor_who_has_stopped_stays_there_in_the_next_run_and_its_link(open_lab, asked):
    """Also if the next run takes longer than a page waits: it then begins without any frame."""
    lab = open_lab(f"/?{asked}&delta=60&seed=11", moving=True)
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
    shown = "circles,trails,held,seen,kmeans,em"
    lab.page.get_by_label("geodesic grid").uncheck()
    lab.wait_for_query(show=shown)
    lab.page.go_back()
    lab.page.locator("[name=grid]:checked").wait_for()
    lab.wait_for_query(show=None)

    lab.page.get_by_label("geodesic grid").uncheck()

    lab.wait_for_query(show=shown)


def test_a_link_to_a_moment_stops_the_picture_and_one_without_plays_it(open_lab):
    lab = open_lab("/?seed=4", moving=True)
    lab.wait_for_results()
    lab.page.get_by_label("Speed").select_option("0.1")
    lab.stop_at(2725)
    lab.wait_for_query(k="2725")
    lab.page.get_by_role("button", name="Play").click()
    lab.wait_for_query(k=None)

    lab.page.go_back()
    lab.wait_for("lab.k === '2725' && lab.playing === 'false'")
    lab.wait_for_query(k="2725")
    lab.page.go_back()
    lab.wait_for("Number(lab.k) < 2725 && lab.playing === 'true'")
    lab.wait_for_query(k=None)


def test_with_reduced_motion_a_link_without_a_moment_shows_the_end(open_page):
    lab = Lab(open_page("/?seed=4"))
    lab.wait_for_results()
    lab.stop_at(2725)
    lab.wait_for_query(k="2725")

    lab.page.go_back()

    lab.wait_for("lab.k === '10000' && lab.playing === 'false'")
