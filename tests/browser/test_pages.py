"""What holds for every page."""

import pytest

from tests.browser.lab import Lab
from tests.browser.serving import started_server
from tests.browser.stillness import ONLY_COLOURS, barriers, wait_until_still

PAGES = {
    "/": "Online learning",
    "/how_it_works": "How it works",
    "/truth": "Set the truth",
    "/compare": "Online, EM and K-means",
    "/tradeoff": "What does Δ cost?",
    "/data": "The states behind your data",
}

NUMBERS = ':is(.numbers td, [data-testid="stMetricValue"], .glossary dd)'
"""Where a page shows its results, or what its symbols mean."""

QUERY = "?T=1000&delta=60&seed=11&runs=2&deltas=60,100&data=weather&states=3"


def wait_until_settled(page, path):
    page.get_by_role("heading", level=1, name=PAGES[path]).wait_for()
    page.locator(f"{NUMBERS}:visible").first.wait_for()
    page.locator('.stApp[data-test-script-state="notRunning"]').wait_for()
    page.get_by_role("button", name="Cancel").wait_for(state="detached")
    page.wait_for_function(
        "numbers => ![...document.querySelectorAll(numbers)].some((n) => n.innerText === '…')",
        arg=NUMBERS,
    )
    wait_until_still(page)


def numbers(page):
    """Every result on the page but the times, which differ from run to run."""
    return [cell for cell in page.locator(NUMBERS).all_inner_texts() if not cell.endswith("s")]


@pytest.fixture(scope="module", params=PAGES)
def path(request):
    return request.param


@pytest.fixture(scope="module")
def fresh(path, tmp_path_factory):
    """A server that has not yet shown anything when the page of this path is asked for."""
    with started_server(tmp_path_factory.mktemp("fresh")) as server:
        yield server


@pytest.fixture(scope="module")
def dark_page(path, fresh, visitors):
    """The first page of that server, for tests that leave it as they found it."""
    page = visitors.open(f"{fresh.address}{path}{QUERY}", color_scheme="dark")
    wait_until_settled(page, path)
    yield page
    visitors.leave(page)


@pytest.fixture(scope="module")
def light_page(path, fresh, dark_page, visitors):
    """The same for the next visitor."""
    page = visitors.open(f"{fresh.address}{path}{QUERY}", color_scheme="light")
    wait_until_settled(page, path)
    yield page
    visitors.leave(page)


def brightness(page):
    """Of the background, from 0 to 255."""
    colour = page.locator(".stApp").evaluate("app => getComputedStyle(app).backgroundColor")
    return sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(",")[:3])) / 3


def test_a_deep_link_works_on_a_server_that_has_just_started(dark_page, light_page, fresh):
    assert numbers(dark_page) == numbers(light_page)
    assert "seed=11" in dark_page.url
    assert dark_page.get_by_text("Page not found").count() == 0
    # Streamlit's client looks for its server below the page's own path first
    assert [c for c in dark_page.complaints if "404" not in c] == []
    assert fresh.complaints() == []


def test_dark_is_dark_and_without_serious_barriers(dark_page):
    assert brightness(dark_page) < 128
    assert barriers(dark_page, ONLY_COLOURS) == []


def test_light_is_light_and_without_serious_barriers(light_page):
    assert brightness(light_page) > 128
    assert barriers(light_page) == []


def test_a_phone_shows_the_page_without_scrolling_sideways(path, open_page, fresh):
    page = open_page(f"{path}{QUERY}", server=fresh, viewport={"width": 390, "height": 844})
    wait_until_settled(page, path)

    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator('[data-testid="stMain"]').evaluate("main => main.scrollWidth") <= 390


@pytest.mark.parametrize(
    ("path", "query", "sentence"),
    [
        ("/", "A=0.5,0.4,0;0,1,0;0,0,1", "Row 1 of A sums to 0.9"),
        ("/truth", "A=1,2", "A has 1 row for 3 states"),
        ("/truth", "A=,,;,,;,,", "Cannot read A"),
        ("/", "c=0,0;1,1;0.5,0", "outside the disk"),
        ("/truth", "c=0,0;0,0;0.5,0", "coincide"),
        ("/", "sigma=-1,1,1", "above 0"),
        ("/truth", "pi=0.5,0.5,0.5", "π sums to 1.5"),
        ("/compare", "delta=5000&T=1000", "more than the T"),
        ("/", "seed=%00%FF", "Cannot read seed"),
    ],
)
def test_a_broken_link_gets_a_sentence_and_a_page(path, query, sentence, open_page, server):
    page = open_page(f"{path}?{query}")
    wait_until_settled(page, path)

    page.locator('[data-testid="stAlert"]', has_text=sentence).first.wait_for()
    assert page.get_by_text("Traceback").count() == 0
    assert page.get_by_text("nan", exact=True).count() == 0
    assert server.complaints() == []


def test_the_experiment_goes_along_from_page_to_page(open_page):
    page = open_page("/?T=1000&delta=60&seed=11")
    lab = Lab(page)
    lab.wait_until_shown()
    lab.drag_mean(0, 30, 30)
    page.wait_for_function("!location.search.includes('c=0%2C0')")
    means = lab.query["c"]

    for name, path in (("Set the truth", "/truth"), ("Compare", "/compare")):
        page.get_by_role("link", name=name).click()
        wait_until_settled(page, path)
        lab.wait_for_query(c=means, seed="11", T="1000")

    page.get_by_role("link", name="Live lab").click()
    lab.wait_until_shown()
    assert lab.query["c"] == means
