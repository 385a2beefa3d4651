"""``python -m docs.screenshots``: pictures of every page, light, dark and on a phone."""

import tempfile
from pathlib import Path

from tests.browser.serving import PATIENCE, started_browser, started_server
from tests.browser.stillness import wait_until_still

HERE = Path(__file__).parent
PAGES = {
    "live": "/?k=1500&show=circles,trails,held,em",
    "truth": "/truth",
    "compare": "/compare",
    "tradeoff": "/tradeoff",
}
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
    page.locator(".numbers").last.wait_for()
    page.locator('.stApp[data-test-script-state="notRunning"]').wait_for()
    page.locator('[data-testid="stProgress"]').wait_for(state="detached")
    wait_until_still(page)
    page.screenshot(path=file, type="jpeg", quality=70)
    context.close()
    print(f"{file.name}: {file.stat().st_size // 1024} KB", flush=True)


if __name__ == "__main__":
    main()
