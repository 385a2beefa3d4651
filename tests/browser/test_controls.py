"""Controls keep what a person does to them, however late the server's answers come."""

import pytest

from tests.browser.lab import Lab
from tests.browser.slow_line import slow_line
from tests.browser.stillness import wait_until_still


@pytest.fixture
def late_page(open_page):
    """Function that opens a page on a line so slow that people are ahead of every answer."""

    def late_page(path):
        page = open_page(path, before=slow_line)
        page.locator('.stApp[data-test-script-state="notRunning"]').wait_for()
        wait_until_still(page)
        page.evaluate("window.late = 60")
        return page

    return late_page


@pytest.mark.parametrize("path", ["/", "/truth", "/compare"])
def test_every_press_on_the_slider_counts(path, late_page):
    page = late_page(f"{path}?T=1000&delta=20&seed=11")
    slider = page.get_by_role("slider", name="Δ")
    slider.focus()

    for _ in range(6):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(150)

    page.evaluate("window.late = 5")  # all answers are late by now: the rest may come
    Lab(page).wait_for_query(delta="100")
    wait_until_still(page)
    assert slider.get_attribute("aria-valuetext") == "100"


def test_every_click_on_a_step_of_a_number_counts(late_page):
    page = late_page("/?T=1000&delta=60&seed=11")
    more = page.locator('[data-testid="stNumberInput"]', has_text="Seed").get_by_label("Increment")

    for _ in range(6):
        more.click()
        page.wait_for_timeout(150)

    page.evaluate("window.late = 5")  # all answers are late by now: the rest may come
    Lab(page).wait_for_query(seed="17")
    wait_until_still(page)
    assert page.get_by_role("spinbutton", name="Seed").input_value() == "17"


def test_controls_show_what_is_set_on_every_page(open_page):
    page = open_page("/?T=1000&delta=100&seed=11&algorithm=windowed&update=convex")

    for name in ("Set the truth", "Compare", "Live lab"):
        page.get_by_role("link", name=name).click()
        page.get_by_role("link", name=name).and_(page.locator("[aria-current]")).wait_for()
        page.locator('.stApp[data-test-script-state="notRunning"]').wait_for()
        wait_until_still(page)

        assert page.get_by_role("slider", name="Δ").get_attribute("aria-valuetext") == "100"
        assert page.get_by_role("spinbutton", name="Seed").input_value() == "11"
        windowed = page.get_by_role("button", name="Windowed")
        assert windowed.get_attribute("aria-pressed") == "true"
        assert page.get_by_role("radio", name="Convex").is_checked()


def test_a_control_that_was_gone_for_a_while_shows_what_is_set(open_page):
    page = open_page("/?T=1000&delta=60&seed=11&algorithm=windowed&update=convex")
    convex = page.get_by_role("radio", name="Convex")
    convex.wait_for(state="attached")

    page.get_by_role("button", name="Streaming").click()
    Lab(page).wait_for_query(algorithm="windowed,streaming")
    page.get_by_role("button", name="Windowed").click()
    convex.wait_for(state="detached")
    page.get_by_role("button", name="Windowed").click()
    convex.wait_for(state="attached")

    Lab(page).wait_for_query(algorithm="windowed,streaming", update="convex")
    wait_until_still(page)
    assert convex.is_checked()
