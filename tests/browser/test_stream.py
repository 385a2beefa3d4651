"""The Stream page in a browser: it flows, obeys, and says when its server is gone."""

import pytest

from tests.browser.stillness import barriers
from tests.browser.stream_page import StreamPage


@pytest.fixture
def open_stream(open_page):
    def open_stream(query="", **options):
        stream = StreamPage(open_page(f"/stream{query}", moving=True, **options))
        stream.wait_until_flowing()
        return stream

    return open_stream


def test_a_visitor_stops_steps_and_changes_the_truth(open_stream):
    stream = open_stream("?follow=streaming,auto")
    page = stream.page

    page.get_by_role("button", name="Pause").click()
    stream.wait_for("stream.playing === 'false'")
    page.get_by_role("button", name="Play").wait_for()
    stood = int(stream.value("taken"))
    page.get_by_role("button", name="Step").click()
    stream.wait_for(f"Number(stream.taken) === {stood + 1}")

    assert barriers(page) == []
    page.get_by_role("button", name="Another A").click()
    page.get_by_role("button", name="Play").click()
    stream.wait_for(f"stream.events === '1' && Number(stream.taken) > {stood + 100}")
    page.wait_for_function("() => new URLSearchParams(location.search).get('events')")
    script = page.evaluate("() => new URLSearchParams(location.search).get('events')")
    assert script.startswith("transitions_")
    assert int(stream.value("taken")) > stood  # the link did not begin it anew

    handle = page.locator(".handle").nth(0).bounding_box()
    x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y + 40)
    page.mouse.move(x + 40, y + 60)
    page.mouse.up()
    stream.wait_for("stream.events === '2'")
    page.wait_for_function("() => location.search.includes('move_')")
    assert not [words for words in page.complaints if "404" not in words]


def test_news_to_a_phone_stay_small_and_need_no_run_of_the_page(open_stream):
    runs = []

    def before(page):
        page.on(
            "websocket",
            lambda socket: socket.on(
                "framereceived", lambda frame: runs.append(1) if "_stcore" in socket.url else None
            ),
        )

    phone = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
    stream = open_stream("?pace=2000&follow=streaming", before=before, **phone)
    assert stream.page.locator('[data-testid="stMain"]').evaluate("m => m.scrollWidth") <= 390
    stream.wait_for("Number(stream.taken) > 1000")
    count, received = len(runs), int(stream.value("received"))
    begin = stream.page.evaluate("performance.now()")
    taken = int(stream.value("taken"))
    stream.wait_for(f"Number(stream.taken) > {taken + 4000}")
    seconds = (stream.page.evaluate("performance.now()") - begin) / 1000

    assert len(runs) == count
    assert (int(stream.value("received")) - received) / seconds < 60_000
    assert barriers(stream.page) == []


def test_a_visitor_who_leaves_and_comes_back_finds_another_stream(open_stream):
    stream = open_stream("?follow=streaming&pace=100")
    page = stream.page
    sockets = []
    page.on("websocket", lambda socket: sockets.append(socket.url))

    page.get_by_role("link", name="Set the truth").click()
    page.get_by_role("heading", name="Set the truth").wait_for()
    page.get_by_role("link", name="Stream").click()
    stream.wait_for("Number(stream.k) > 20 && stream.state === 'open'")

    (again,) = {url for url in sockets if "/flow/" in url}
    assert again.startswith("ws://localhost")


def test_a_recording_flows_and_em_is_fitted_by_a_button_and_by_the_link(open_stream):
    stream = open_stream("?source=disk&end=again&follow=streaming,counting&pace=300")
    page = stream.page

    page.get_by_role("button", name="Fit to the last 10,000").click()
    page.get_by_text("fitted at k =").wait_for()
    page.wait_for_function("() => location.search.includes('refit_')")

    assert page.locator(".happenings button").all_inner_texts() == ["Missing data", "Stuck sensor"]
    assert page.locator(".handle").count() == 0
    assert page.locator(".legend").inner_text().split("\n") == ["true 1", "true 2", "true 3"]
    assert "Ceiling" not in page.locator(".numbers").inner_text()
    assert "of 2,000" in page.locator(".readout").inner_text()
    assert barriers(page) == []
    assert not [words for words in page.complaints if "404" not in words]
