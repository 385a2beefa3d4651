"""The Live lab as a person at the browser uses it."""

from urllib.parse import parse_qs, urlsplit

from tests.browser.stillness import wait_until_painted, wait_until_still


class Lab:
    def __init__(self, page):
        self.page = page
        self.box = page.locator(".lab")

    def value(self, name: str) -> str:
        return self.box.get_attribute(f"data-{name}")

    @property
    def k(self) -> int:
        return int(self.value("k"))

    @property
    def run(self) -> str:
        return self.value("run")

    def wait_for(self, condition: str) -> None:
        """`condition` is JavaScript about `lab`, the values that the lab reports of itself."""
        self.wait_for_pieces(".lab", f"([box]) => (lab => {condition})(box.dataset)")

    def wait_for_pieces(self, selector: str, condition: str) -> None:
        """`condition` is a JavaScript function of the pieces of the canvas that fit the selector.

        They are looked for anew each time: Streamlit may put another canvas in place of the one
        that was there.
        """
        self.page.wait_for_function(
            f"""selector => {{
              const pieces = [...document.querySelectorAll('*')]
                .flatMap((host) => [...(host.shadowRoot?.querySelectorAll(selector) ?? [])]);
              return pieces.length > 0 && ({condition})(pieces);
            }}""",
            arg=selector,
        )

    def wait_until_shown(self) -> None:
        self.wait_for("Number(lab.painted) > 0 && Number(lab.k) > 0")

    def wait_until_moving(self) -> None:
        self.wait_for("Number(lab.painted) > 5 && Number(lab.k) > 0")

    def wait_for_another_run(self, before: str) -> None:
        self.wait_for(f"lab.run && lab.run !== '{before}'")

    def wait_for_results(self) -> None:
        """Every method has been judged, with the times of this machine.

        The table comes after the canvas: while the page still runs, it may be that of another run.
        """
        self.page.wait_for_function(
            """() => {
              const app = document.querySelector('.stApp');
              if (app.dataset.testScriptState !== 'notRunning') return false;
              const rows = [...document.querySelectorAll('.numbers tbody tr')];
              const cells = rows.map((row) => [...row.cells].map((cell) => cell.textContent));
              return cells.length > 3 && !cells.flat().includes('…') && /\\d/.test(cells[0][6]);
            }"""
        )
        self.page.get_by_role("button", name="Cancel").wait_for(state="detached")

    def stop_at(self, k: int) -> int:
        """Stand still after so many observations, or where the scrubber stops near that."""
        self.page.get_by_label("Observation k").fill(str(k))
        self.wait_for("lab.playing === 'false'")
        wait_until_painted(self.page)  # it reports the moment then
        return self.k

    def table(self) -> list[list[str]]:
        """All that it says of the methods but the times, which differ from run to run."""
        rows = self.page.locator(".numbers tbody tr")
        rows.nth(3).wait_for()  # all methods are there, whatever is known of them
        cells = [rows.nth(i).locator("th, td").all_inner_texts() for i in range(rows.count())]
        return [[c for j, c in enumerate(row) if j != 6] for row in cells]

    def wait_for_other_numbers(self, before: list[list[str]]) -> None:
        """All of the table is there, and is not what `table` gave."""
        self.page.wait_for_function(
            """before => {
              const rows = [...document.querySelectorAll('.numbers tbody tr')];
              const now = rows.map((row) =>
                [...row.querySelectorAll('th, td')].map((cell) => cell.innerText)
                  .filter((_, column) => column !== 6));
              const same = JSON.stringify(now) === JSON.stringify(before);
              return now.length === before.length && !same && !now.flat().includes('…');
            }""",
            arg=before,
        )

    def drag_mean(self, state: int, right: float, down: float) -> None:
        wait_until_still(self.page)
        box = self.page.locator(".handle").nth(state).bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        mouse = self.page.mouse
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + right / 2, y + down / 2)
        mouse.move(x + right, y + down)
        mouse.up()

    @property
    def query(self) -> dict[str, str]:
        return {k: v[0] for k, v in parse_qs(urlsplit(self.page.url).query).items()}

    def wait_for_query(self, **expected: str | None) -> None:
        """None stands for what the address does not say."""
        self.page.wait_for_function(
            """expected => {
              const query = new URLSearchParams(location.search);
              return Object.entries(expected).every(([key, value]) => query.get(key) === value);
            }""",
            arg=expected,
        )
