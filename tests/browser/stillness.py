"""A page is judged when it stands still: parts of it come late and move what is below them."""

from axe_playwright_python.sync_playwright import Axe

SIGHT = """() => [...document.querySelectorAll('[data-testid="stElementContainer"]')].map((box) => {
  const { x, y, width, height } = box.getBoundingClientRect();
  return [x, y, width, height, getComputedStyle(box).opacity].map(Number);
})"""
"""Where everything on the page is, and how far it is faded."""

IS_DARK = """() => {
  const app = getComputedStyle(document.querySelector('.stApp'));
  return app.backgroundColor.match(/\\d+/g).slice(0, 3).every((part) => Number(part) < 128);
}"""
"""Whether the page has taken its dark colours."""

ONLY_WRONG = {"resultTypes": ["violations"]}
"""Without it axe describes everything that is right as well, which takes most of its time."""
ONLY_COLOURS = ONLY_WRONG | {"runOnly": ["color-contrast"]}
"""What light and dark can differ in."""


def wait_until_still(page):
    """Every part has been loaded, and nothing has moved for a while."""
    page.wait_for_function(
        f"""() => {{
          const late = document.querySelector('[data-testid="stSkeleton"], [data-stale="true"]');
          const sight = late || document.fonts.status !== "loaded" ? null : String(({SIGHT})());
          window.still = sight && sight === window.sight ? window.still + 1 : 0;
          window.sight = sight;
          return window.still > 10;
        }}"""
    )


def wait_until_painted(page):
    """What was done is on screen: it is painted the next time, or the one after."""
    page.evaluate("new Promise((d) => requestAnimationFrame(() => requestAnimationFrame(d)))")


def barriers(page, options: dict = ONLY_WRONG) -> list[str]:
    """What keeps people from using this page, as far as axe finds it, if it is serious."""
    while True:
        wait_until_still(page)
        before = page.evaluate(SIGHT)
        found = Axe().run(page, options=options).response["violations"]
        if page.evaluate(SIGHT) == before:  # else it has seen two pages, one over the other
            break
    return [
        f"{v['id']}: {v['nodes'][0]['failureSummary']} ({v['nodes'][0]['html'][:200]})"
        for v in found
        if v["impact"] in ("serious", "critical")
    ]


def barriers_in_light_and_dark(page) -> list[str]:
    """The barriers of a page that is light, and what its dark colours add; it is light again then.

    The page is the same in the dark but for its colours.
    """
    found = barriers(page)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(IS_DARK)
    found += barriers(page, ONLY_COLOURS)
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"!({IS_DARK})()")
    return found
