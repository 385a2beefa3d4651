"""The Stream page as tests and benchmarks use it."""

from tests.browser.serving import PATIENCE


class StreamPage:
    """The page as a visitor at the browser uses it."""

    def __init__(self, page):
        self.page = page
        self.box = page.locator(".stream")

    def value(self, name: str) -> str:
        return self.box.get_attribute(f"data-{name}")

    def wait_for(self, condition: str) -> None:
        """`condition` is JavaScript about `stream`, what the picture reports of itself."""
        self.page.wait_for_function(
            f"""() => [...document.querySelectorAll('*')]
              .flatMap((host) => [...(host.shadowRoot?.querySelectorAll('.stream') ?? [])])
              .some((box) => (stream => {condition})(box.dataset))""",
            timeout=1000 * PATIENCE,
        )

    def wait_until_flowing(self) -> int:
        self.wait_for("Number(stream.k) > 100 && stream.state === 'open'")
        return int(self.value("taken"))
