"""Where things stand on screens of different sizes, as far as positions tell it."""

import pytest

from tests.browser.test_pages import wait_until_settled

SMALL = "T=1000&delta=60&seed=11"
WIDE, LAPTOP, PHONE = (
    {"width": 1920, "height": 1080},
    {"width": 1366, "height": 768},
    {"width": 390, "height": 844},
)
KINDS = ("maps", "small-transitions", "small-errors", "small-confusions")


@pytest.fixture(scope="module")
def open_settled(visitors, server):
    """Function that shows a page in a window of this size; tests leave it as they found it.

    Desktops share a window, which takes another size; a phone has its own from the beginning.
    """
    pages = {}

    def open_settled(path, viewport, color_scheme="light"):
        key = path, viewport is PHONE, color_scheme
        if key in pages:
            pages[key].set_viewport_size(viewport)
        else:
            address = f"{server.address}{path}?{SMALL}"
            pages[key] = visitors.open(address, viewport=viewport, color_scheme=color_scheme)
        wait_until_settled(pages[key], path)
        return pages[key]

    yield open_settled
    for page in pages.values():
        visitors.leave(page)


def boxes(page, selector):
    """Left, top, right and bottom of each element, from the top of the page."""
    return page.locator(selector).evaluate_all(
        """elements => elements.map((element) => {
          const { left, top, right, bottom } = element.getBoundingClientRect();
          return [left, top, right, bottom].map(Math.round);
        })"""
    )


def rows_of_panels(page, kind):
    """The panels' boxes, row by row."""
    rows = {}
    for box in boxes(page, f".st-key-panels-{kind} > div"):
        rows.setdefault(box[1], []).append(box)
    return list(rows.values())


@pytest.mark.parametrize("viewport", [WIDE, LAPTOP])
def test_set_the_truth_has_chain_and_map_whole_on_the_first_screen(open_settled, viewport):
    page = open_settled("/truth", viewport)

    pictures = boxes(page, ".st-key-truth-pictures > div")
    assert len(pictures) == 2
    for left, top, right, bottom in pictures:
        assert right - left > 280
        assert top > 0
        assert right <= viewport["width"]
        assert bottom <= viewport["height"]


@pytest.mark.parametrize(("viewport", "counts"), [(WIDE, [5]), (LAPTOP, [3, 2])])
def test_five_methods_leave_no_panel_alone_and_short_rows_are_centred(
    open_settled, viewport, counts
):
    page = open_settled("/compare", viewport)

    for kind in KINDS:
        (room,) = boxes(page, f".st-key-panels-{kind}")
        rows = rows_of_panels(page, kind)
        assert [len(row) for row in rows] == counts
        for row in rows:
            assert row[0][0] - room[0] == pytest.approx(room[2] - row[-1][2], abs=3)


def test_on_a_phone_the_methods_of_one_figure_are_a_row_to_swipe(open_settled):
    page = open_settled("/compare", PHONE)

    for kind in KINDS:
        ((first, second, *_),) = rows_of_panels(page, kind)
        assert first[2] - first[0] > 0.7 * PHONE["width"]
        assert second[0] < PHONE["width"]  # its edge shows that there is more


def test_on_a_phone_a_table_scrolls_within_its_own_box(open_settled):
    page = open_settled("/compare", PHONE)

    table = page.locator(".numbers").first
    assert table.evaluate("box => box.scrollWidth > box.clientWidth")
    table.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
    last = boxes(page, ".numbers thead th:last-child")[0]
    table.evaluate("box => { box.scrollLeft = 0; }")
    assert last[2] <= PHONE["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_letters_of_heat_maps_have_the_colour_of_the_page(open_settled, scheme):
    page = open_settled("/compare", LAPTOP, color_scheme=scheme)

    letters = page.locator(".heatmap-label text").first
    fill = letters.evaluate("text => getComputedStyle(text).fill")
    colour = page.locator(".stApp").evaluate("app => getComputedStyle(app).color")
    assert fill == colour
