"""``python -m docs.screenshots``: pictures of every page, light, dark and on a phone."""

import tempfile
from pathlib import Path

from tests.browser.serving import PATIENCE, started_browser, started_server
from tests.browser.stillness import wait_until_still

HERE = Path(__file__).parent
PAGES = {
    "live": "/?k=3000",
    "stream": "/stream?pace=2000&events=turn_5000_90.0",
    "lesson": "/how_it_works?lesson=step&k=500",
    "truth": "/truth",
    "compare": "/compare",
    "tradeoff": "/tradeoff",
    "data": "/data?data=weather&states=4",
}
SHOWN_OF_A_STREAM = 8_000
"""Observations of an endless stream: its event has happened, and learners have followed."""
SETTLING = 1_500
"""Milliseconds for the observations of a run: they come after its curves."""
LOOKS = {
    "light": {"viewport": {"width": 1400, "height": 1000}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1400, "height": 1000}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        started_browser() as browser,
        started_server(Path(folder)) as server,
    ):
        for page, path in PAGES.items():
            for look, options in LOOKS.items():
                _take(browser, server.address + path, options, HERE / f"{page}-{look}.jpg")


def _take(browser, address: str, options: dict, file: Path) -> None:
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    page.goto(address)
    page.get_by_role("heading", level=1).wait_for()
    page.locator(".numbers, .glossary").last.wait_for()
    page.locator('.stApp[data-test-script-state="notRunning"]').wait_for()
    page.locator('[data-testid="stProgress"]').wait_for(state="detached")
    wait_until_still(page)
    for stream in page.locator(".stream").all():
        while int(stream.get_attribute("data-taken") or 0) < SHOWN_OF_A_STREAM:
            page.wait_for_timeout(100)
    page.wait_for_timeout(SETTLING)
    page.screenshot(path=file, type="jpeg", quality=70)
    context.close()
    print(f"{file.name}: {file.stat().st_size // 1024} KB", flush=True)


if __name__ == "__main__":
    main()
