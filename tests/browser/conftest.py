import pytest

from tests.browser.lab import Lab
from tests.browser.serving import started_browser, started_server
from tests.browser.visitors import Visitors
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
def visitors(browser):
    return Visitors(browser)


@pytest.fixture(scope="package")
def modules():
    """The address of a blank page; below it are the modules of the canvases."""
    with served_modules() as address:
        yield address


@pytest.fixture
def open_page(visitors, server):
    """Function that opens the dashboard for a new visitor, see `Visitors.open`."""
    pages = []

    def open_page(path="/", server=server, **options):
        pages.append(visitors.open(server.address + path, **options))
        return pages[-1]

    yield open_page
    for page in pages:  # pytest shows what this prints if the test has failed
        visitors.leave(page)
    print(*server.complaints(), sep="\n")


@pytest.fixture
def open_lab(open_page):
    """Function that opens the Live lab, and returns when its picture is there, or moves."""

    def open_lab(path="/", moving=False, **options):
        lab = Lab(open_page(path, moving=moving, **options))
        if moving:
            lab.wait_until_moving()
        else:
            lab.wait_until_shown()
        return lab

    return open_lab
