import pytest

from tests.browser.serving import started_browser
from tests.canvas.serving import served_modules


class Modules:
    """Modules of the front end on a blank page, each to be tested by itself."""

    def __init__(self, page, address):
        self._page, self._address = page, address

    def run(self, file: str, script: str, *arguments):
        """What the script returns: the body of a function of the module `m` and of `a`."""
        return self._page.evaluate(
            f"""async ([address, a]) => {{
              const m = await import(address);
              {script}
            }}""",
            [f"{self._address}/{file}", list(arguments)],
        )


# Closed after the last test of this folder: while it is open, no other test could run a loop.
@pytest.fixture(scope="package")
def js():
    with started_browser() as browser, served_modules() as address:
        page = browser.new_page()
        page.goto(address)
        yield Modules(page, address)
