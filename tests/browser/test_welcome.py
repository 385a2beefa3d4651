import pytest

PLOT = ".js-plotly-plot"
POINTS = f"{PLOT} .scatterlayer .trace .point"

# 2,000 observations and three means
ALL_POINTS_ARE_DRAWN = f"document.querySelectorAll('{POINTS}').length === 2003"


def brightness(page):
    """Mean of red, green and blue of the page's background, 0 to 255."""
    colour = page.locator(".stApp").evaluate("app => getComputedStyle(app).backgroundColor")
    red, green, blue = colour.removeprefix("rgb(").removesuffix(")").split(",")[:3]
    return (int(red) + int(green) + int(blue)) / 3


@pytest.mark.parametrize(("scheme", "is_light"), [("light", True), ("dark", False)])
def test_the_disk_is_drawn_in_the_readers_colour_scheme(open_page, scheme, is_light):
    page = open_page(color_scheme=scheme)

    page.wait_for_function(ALL_POINTS_ARE_DRAWN)

    assert (brightness(page) > 128) == is_light
    assert page.complaints == []


def test_the_disk_is_round_and_fits_a_phone(open_page):
    page = open_page(viewport={"width": 390, "height": 844})

    page.wait_for_function(ALL_POINTS_ARE_DRAWN)

    circle = page.locator(f"{PLOT} .shapelayer path").first.bounding_box()
    assert circle["width"] == pytest.approx(circle["height"], rel=0.02)
    assert circle["x"] >= 0
    assert circle["x"] + circle["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_nothing_is_fetched_from_elsewhere(open_page, server):
    page = open_page()
    elsewhere = []
    page.on("request", lambda r: r.url.startswith(server) or elsewhere.append(r.url))

    page.reload()
    page.wait_for_function(ALL_POINTS_ARE_DRAWN)

    assert [url for url in elsewhere if url.startswith("http")] == []
