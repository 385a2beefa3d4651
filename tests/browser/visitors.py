"""Opens pages for visitors who come for the first time, and uses each page again."""

from playwright.sync_api import Browser, Page

from tests.browser.serving import PATIENCE

DESKTOP = {"width": 1400, "height": 950}


class Visitors:
    """Pages of the dashboard in a browser: a page that one visitor leaves is the next one's.

    The browser keeps Streamlit's files and their compiled form in it. That takes a third off the
    processor time of an opening; another third goes because nothing moves unless a test asks for
    it.
    """

    def __init__(self, browser: Browser):
        self._browser = browser
        self._shared = self._new_context()
        self._free: list[Page] = []

    def open(
        self,
        address: str,
        before=None,
        knows_the_server: bool = True,
        moving: bool = False,
        viewport: dict[str, int] = DESKTOP,
        color_scheme: str = "light",
        **options,
    ) -> Page:
        """A page for one visitor, who has to `leave` it.

        A visitor who does not know the server, or who has `options` of a context, comes in a
        context whose cache is empty. With something to do `before`, the page is not used again.
        What the browser complains about is collected in `complaints`.
        """
        if options or not knows_the_server:
            page = self._new_page(self._new_context(**options))
        elif before:
            page = self._new_page(self._shared)
        else:
            page = self._free.pop() if self._free else self._new_page(self._shared)
        page.complaints = []
        page.is_plain = not before
        page.set_viewport_size(viewport)
        motion = "no-preference" if moving else "reduce"
        page.emulate_media(color_scheme=color_scheme, reduced_motion=motion)
        if before:
            before(page)
        page.goto(address)
        return page

    def leave(self, page: Page) -> None:
        print(page.url, *page.complaints[-20:], page.locator("body").inner_text()[:2000], sep="\n")
        if page.context is not self._shared:
            page.context.close()
            return
        if page.url.startswith("http"):
            page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        self._shared.clear_cookies()
        if not page.is_plain:
            page.close()
            return
        page.mouse.move(0, 0)
        page.goto("about:blank")
        self._free.append(page)

    def _new_context(self, **options):
        context = self._browser.new_context(**options)
        context.set_default_timeout(PATIENCE * 1000)
        return context

    def _new_page(self, context) -> Page:
        page = context.new_page()
        page.on("console", lambda m: m.type == "error" and page.complaints.append(m.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        return page
