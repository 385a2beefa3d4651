import pytest

from tests.browser.lab import Lab
from tests.browser.serving import PATIENCE, started_browser, started_server
from tests.canvas.serving import served_modules


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with started_server(tmp_path_factory.mktemp("server")) as server:
        yield server


# Closed after the last test of this folder: while it is open, no other test could run a loop.
@pytest.fixture(scope="package")
def browser():
    with started_browser() as browser:
        yield browser


@pytest.fixture(scope="package")
def modules():
    """The address of a blank page; below it are the modules of the canvases."""
    with served_modules() as address:
        yield address


@pytest.fixture
def open_page(browser, server):
    """Function that opens the dashboard in a fresh context, given that context's options.

    What the browser complains about is collected in the page's `complaints`.
    """
    contexts = []

    def open_page(path="/", server=server, before=None, **options):
        context = browser.new_context(**{"viewport": {"width": 1400, "height": 950}} | options)
        contexts.append(context)
        context.set_default_timeout(PATIENCE * 1000)
        page = context.new_page()
        page.complaints = []
        page.on("console", lambda m: m.type == "error" and page.complaints.append(m.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        if before:
            before(page)
        page.goto(server.address + path)
        return page

    yield open_page
    for context in contexts:
        for page in context.pages:  # pytest shows this if the test has failed
            print(
                page.url, *page.complaints[-20:], page.locator("body").inner_text()[:2000], sep="\n"
            )
        context.close()
    print(*server.complaints(), sep="\n")


@pytest.fixture
def open_lab(open_page):
    """Function that opens the Live lab, and returns when its picture moves."""

    def open_lab(path="/", **options):
        lab = Lab(open_page(path, **options))
        lab.wait_until_moving()
        return lab

    return open_lab
