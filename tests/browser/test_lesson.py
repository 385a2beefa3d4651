"""How it works, as a person at the browser uses it."""

from urllib.parse import parse_qs, urlsplit

import pytest

from dashboard.model.lesson import STEPS
from dashboard.text.lesson import SCREENS
from tests.browser.lab import Lab
from tests.browser.stillness import (
    barriers_in_light_and_dark,
    wait_until_painted,
    wait_until_still,
)

PATH = "/how_it_works"
QUERY = "T=1000&delta=60&seed=11"


class Screen:
    def __init__(self, page):
        self.page = page
        self.box = page.locator(".lesson")

    def wait_for(self, step: str) -> None:
        """The screen of this step is there, with its picture."""
        title = f"{STEPS.index(step) + 1}. {SCREENS[step].title}"
        self.page.get_by_role("heading", level=2, name=title).wait_for()
        self.page.locator(f'.lesson[data-picture="{step}"]').wait_for()
        self.page.locator('.stApp[data-test-script-state="notRunning"]').wait_for()
        self.wait_until("Number(lesson.painted) > 1")

    def wait_until(self, condition: str) -> None:
        """`condition` is JavaScript about `lesson`, the values that the picture reports."""
        self.page.wait_for_function(
            f"""() => {{
              const [box] = [...document.querySelectorAll('*')]
                .flatMap((host) => [...(host.shadowRoot?.querySelectorAll('.lesson') ?? [])]);
              return box && (lesson => {condition})(box.dataset);
            }}"""
        )

    def value(self, name: str) -> float:
        return float(self.box.get_attribute(f"data-{name}"))

    def handle(self, name: str):
        return self.box.get_by_role("button", name=name)

    def drag(self, name: str, right: float, down: float) -> None:
        self.handle(name).hover()
        box, mouse = self.handle(name).bounding_box(), self.page.mouse
        mouse.down()
        end = box["x"] + box["width"] / 2 + right, box["y"] + box["height"] / 2 + down
        mouse.move(*end, steps=4)
        mouse.up()
        wait_until_painted(self.page)

    def guess(self, option: str) -> None:
        self.page.get_by_text(option, exact=True).click()
        self.page.locator('[data-testid="stAlert"]').wait_for()

    @property
    def query(self) -> dict[str, str]:
        return {key: values[0] for key, values in parse_qs(urlsplit(self.page.url).query).items()}


@pytest.fixture
def open_screen(open_page):
    def open_screen(step, query=QUERY, **options):
        screen = Screen(open_page(f"{PATH}?lesson={step}&{query}", **options))
        screen.wait_for(step)
        return screen

    return open_screen


@pytest.fixture
def walk(open_screen):
    """Function that yields each step with its page, from the first to the last."""

    def walk(**options):
        screen = open_screen(STEPS[0], **options)
        for step in STEPS:
            screen.wait_for(step)
            yield step, screen.page
            if step != STEPS[-1]:
                screen.page.get_by_role("button", name="Next").click()

    return walk


def test_the_picture_shows_its_idea_untouched(open_screen):
    screen = open_screen("distance", moving=True)
    before = screen.value("d")
    screen.wait_until(f"Math.abs(Number(lesson.d) - {before}) > 0.5")

    assert screen.box.get_attribute("data-touched") is None


def test_nothing_moves_by_itself_if_the_visitor_wants_that(open_screen):
    screen = open_screen("distance")
    before, painted = screen.value("d"), screen.value("painted")
    screen.wait_until(f"Number(lesson.painted) > {painted + 30}")

    assert screen.value("d") == before


def test_dragging_a_point_to_the_rim_makes_the_distance_grow(open_screen):
    screen = open_screen("distance")
    before = screen.value("d")
    screen.drag("Point z", 200, -60)

    assert screen.value("d") > before + 1


def test_arrow_keys_move_a_handle_and_turn_no_page(open_screen):
    screen = open_screen("distance")
    before = screen.value("d")
    screen.handle("Point z").focus()
    for _ in range(5):
        screen.page.keyboard.press("ArrowRight")
    wait_until_painted(screen.page)

    assert screen.value("d") > before
    assert "lesson" not in screen.query
    screen.box.get_by_role("slider", name="τ").focus()
    screen.page.keyboard.press("ArrowRight")
    wait_until_painted(screen.page)
    assert screen.box.get_by_role("slider", name="τ").input_value() == "0.36"
    assert "lesson" not in screen.query


def test_arrow_keys_elsewhere_and_buttons_turn_the_pages(open_screen):
    screen = open_screen("distance")
    screen.page.keyboard.press("ArrowRight")
    screen.wait_for("circle")
    screen.page.get_by_role("button", name="Next").click()
    screen.wait_for("gaussian")
    screen.page.keyboard.press("ArrowLeft")
    screen.wait_for("circle")
    screen.page.get_by_role("button", name="Back").click()
    screen.wait_for("distance")


def test_the_history_of_the_browser_goes_back_to_the_screen_before(open_screen):
    screen = open_screen("chain")
    screen.page.get_by_role("button", name="Next").click()
    screen.wait_for("step")
    screen.page.go_back()
    screen.wait_for("chain")


def test_a_guess_reveals_the_centre_and_the_view_goes_there(open_screen):
    screen = open_screen("circle", moving=True)
    screen.guess("Nearer the rim")

    assert screen.page.get_by_text("Right.").is_visible()
    screen.wait_until("lesson.revealed === 'true' && Number(lesson.share) === 1")


def test_the_answer_comes_by_itself_to_a_visitor_who_touches_nothing(open_screen):
    screen = open_screen("centre", moving=True)
    assert screen.box.get_attribute("data-revealed") is None
    screen.wait_until("lesson.revealed === 'true' && Number(lesson.sum) > 0")


def test_sigma_is_on_a_slider(open_screen):
    screen = open_screen("gaussian")
    before = screen.value("sigma")
    screen.box.get_by_role("slider", name="σ").focus()
    screen.page.keyboard.press("End")
    screen.wait_until(f"Number(lesson.sigma) > {before}")

    assert "σ = 2.00" in screen.box.locator(".readout").inner_text()


def test_the_chain_walks_and_hides_its_states(open_screen):
    screen = open_screen("chain", moving=True)
    screen.wait_until("Number(lesson.t) > 3")
    assert screen.box.locator(".token").count() == 1
    screen.box.get_by_label("Hide the states").check()
    wait_until_painted(screen.page)

    assert "hidden" in screen.box.locator(".readout").inner_text()


def test_the_chain_takes_single_steps_where_nothing_may_move(open_screen):
    screen = open_screen("chain")
    before = screen.value("t")
    screen.box.get_by_role("button", name="One step").click()
    screen.wait_until(f"Number(lesson.t) === {before + 1}")


def test_the_ellipse_follows_the_point(open_screen):
    screen = open_screen("matrices")
    before = screen.value("stretch")
    screen.drag("Point", 60, -40)

    assert screen.value("stretch") > before
    assert "det P = 1.000" in screen.box.locator(".readout").inner_text()


def test_a_link_opens_a_step_of_a_learner(open_screen):
    screen = open_screen("step", f"{QUERY}&k=300&inspect=streaming")

    assert screen.value("k") == 300
    assert screen.page.locator(".katex-display").count() >= 3
    screen.page.get_by_role("button", name="+1", exact=True).click()
    screen.wait_until("lesson.k === '301'")
    assert screen.query["k"] == "301"


def test_the_experiment_goes_along_into_the_live_lab(open_screen):
    screen = open_screen("gaussian")
    screen.page.get_by_role("link", name="Open the Live lab with this experiment").click()
    lab = Lab(screen.page)
    lab.wait_until_shown()

    assert (lab.query["seed"], lab.query["T"]) == ("11", "1000")


def test_symbols_lead_to_the_glossary(open_screen):
    screen = open_screen("step")
    screen.page.get_by_role("link", name="ζ", exact=True).first.click()
    entry = screen.page.locator("#glossary-zeta")
    entry.wait_for()
    screen.page.wait_for_function(
        """() => {
          const { top } = document.querySelector('#glossary-zeta').getBoundingClientRect();
          return top > 0 && top < innerHeight;
        }"""
    )


def test_every_screen_is_without_serious_barriers_in_light_and_dark(walk):
    for step, page in walk():
        assert barriers_in_light_and_dark(page) == [], step


def test_no_screen_scrolls_sideways_on_a_phone(walk):
    for step, page in walk(viewport={"width": 390, "height": 844}):
        wait_until_still(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, step
        main = page.locator('[data-testid="stMain"]')
        assert main.evaluate("main => main.scrollWidth") <= 390, step


def test_picture_words_and_next_are_on_one_screen(walk):
    for step, page in walk(viewport={"width": 1366, "height": 768}):
        page.locator('[data-testid="stMain"]').evaluate("main => main.scrollTo(0, 0)")
        wait_until_still(page)
        parts = {
            "next": page.get_by_role("button", name="Next"),
            "picture": page.locator(".lesson .boards"),
            "words": page.get_by_role("heading", level=2),
            "question": page.get_by_text("Guess first."),
        }
        for name, part in parts.items():
            box = part.bounding_box()
            assert box["y"] >= 0, (step, name)
            assert box["y"] + box["height"] <= 768, (step, name)


def test_the_browser_and_the_server_complain_about_nothing(open_screen, server):
    screen = open_screen(STEPS[0], moving=True)
    for step in STEPS[1:]:
        screen.page.get_by_role("button", name="Next").click()
        screen.wait_for(step)

    assert [c for c in screen.page.complaints if "404" not in c] == []
    assert server.complaints() == []
