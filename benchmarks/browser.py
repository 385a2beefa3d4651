"""``python -m benchmarks.browser``: how quick the dashboard is in a real browser.

Times are those of this machine while nothing else runs on it; the frames of Plotly are counted in
the same browser, for the same run.
"""

import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.browser.ear import Ear
from tests.browser.lab import Lab
from tests.browser.serving import PATIENCE, started_browser, started_server
from tests.browser.stream_page import StreamPage

ROUNDS = 5
PLAYING, FLOWING = 3.0, 10.0
"""Seconds that are watched."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, started_browser() as browser:
        with started_server(Path(folder)) as server:
            _warm_up(browser, server)
            opened = [_time_to_open(browser, server) for _ in range(ROUNDS)]
            _say("open the link to a moving picture", statistics.median(opened), "s", "≤ 2.5")
            frames = statistics.median(_frames(browser, server) for _ in range(3))
            _say("frames painted while playing", frames, "per second", "≥ 50")
            changed = [_time_to_change_window(browser, server, seed) for seed in range(ROUNDS)]
            _say("Δ one stop down: new results", statistics.median(changed), "s", "≤ 0.5")
            for page, name in (("", "Live lab"), ("compare", "Compare")):
                clicks = _times_to_click_during_a_run(browser, server, page)
                median = statistics.median(clicks)
                _say(f"a click during a run, {name}, median", median, "s", "≤ 0.3")
                _say(f"a click during a run, {name}, longest", max(clicks), "s", "≤ 0.3")
            own, others = _times_to_click_during_a_sweep(browser, server)
            for whose, clicks in (("one’s own", own), ("another’s", others)):
                median = statistics.median(clicks)
                _say(f"a click during {whose} sweep, median", median, "s", "≤ 0.3")
                _say(f"a click during {whose} sweep, longest", max(clicks), "s", "≤ 0.3")
            _say("sent for a finished run", _message_size(browser, server) / 1e6, "MB", "≤ 0.3")
            for pace, least in ((10_000, "≥ 59"), (100_000, "")):
                flow, at = _flow(browser, server, pace), f"Stream, {pace:,} a second"
                _say(f"{at}: frames painted", flow.frames, "per second", least)
                _say(f"{at}: sent", flow.sent / 1e3, "KB/s", "≤ 60")
                _say(f"{at}: reached", flow.observations, "per second", f"≥ {0.95 * pace:,.0f}")
        with started_server(Path(folder), "benchmarks/plotly_frames.py") as server:
            theirs = _plotly_frames(browser, server)
        _say("Plotly frames of the same run", theirs, "per second", "")
        _say("canvas against Plotly", frames / theirs, "times", "≥ 4")


def _say(what: str, value: float, unit: str, target: str) -> None:
    print(f"{what:44}{value:9.2f} {unit:12}{target}", flush=True)


def _open(browser, server, path="/") -> Lab:
    context = browser.new_context(viewport={"width": 1400, "height": 950})
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    page.goto(server.address + path)
    return Lab(page)


def _warm_up(browser, server) -> None:
    for path in ("/", "/?algorithm=windowed&T=1000"):
        lab = _open(browser, server, path)
        lab.wait_for_results()
        lab.page.context.close()


def _time_to_open(browser, server) -> float:
    begin = time.perf_counter()
    lab = _open(browser, server)
    lab.wait_until_moving()
    elapsed = time.perf_counter() - begin
    lab.page.context.close()
    return elapsed


def _frames(browser, server) -> float:
    lab = _open(browser, server)
    lab.wait_until_moving()
    before, begin = int(lab.value("painted")), time.perf_counter()
    lab.page.wait_for_timeout(1000 * PLAYING)
    frames, elapsed = int(lab.value("painted")) - before, time.perf_counter() - begin
    lab.page.context.close()
    return frames / elapsed


def _time_to_change_window(browser, server, seed: int) -> float:
    """From the key that moves the slider to new numbers in the table."""
    lab = _open(browser, server, f"/?seed={seed + 1000}&delta=150")
    lab.wait_for_results()
    slider = lab.page.locator('[data-testid="stSidebar"] input[type=range]')
    slider.focus()
    run, numbers = lab.run, lab.table()
    begin = time.perf_counter()
    slider.press("ArrowLeft")
    lab.wait_for_another_run(run)
    lab.wait_for_other_numbers(numbers)
    elapsed = time.perf_counter() - begin
    lab.page.context.close()
    return elapsed


def _times_to_click_during_a_run(browser, server, page: str) -> list[float]:
    """A long job is shown as it goes on; the visitor who started it asks for something else."""
    lab = _open(browser, server, f"/{page}?T=100000&delta=5000&algorithm=windowed")
    times = []
    for name in ("Convex", "As printed") * ROUNDS:
        lab.page.get_by_role("button", name="Cancel").wait_for()
        lab.page.wait_for_timeout(700)
        times.append(_time_to_click(lab.page.locator("label", has_text=name)))
    lab.page.context.close()
    return times


def _times_to_click_during_a_sweep(browser, server) -> tuple[list[float], list[float]]:
    """A long sweep runs; the visitor who started it clicks, and so does another visitor."""
    busy = _open(browser, server, "/tradeoff?T=100000&runs=50&deltas=1000,5000&learners=paper")
    busy.page.get_by_role("button", name="Run").click()
    busy.page.get_by_text("runs done").wait_for()
    lab = _open(browser, server, "/?T=1000")
    lab.wait_for_results()
    lab.stop_at(0)
    own, others = [], []
    for _ in range(2 * ROUNDS):
        for page, times in ((busy.page, own), (lab.page, others)):
            page.wait_for_timeout(500)
            times.append(_time_to_click(page.get_by_role("button", name="New data")))
    busy.page.get_by_role("button", name="Cancel").click()
    busy.page.get_by_text("Stopped.").wait_for()
    busy.page.context.close()
    lab.page.context.close()
    return own, others


def _time_to_click(control) -> float:
    """From a click to its answer in the address, by the page's own clock."""
    milliseconds = control.element_handle().evaluate(
        """(control) => new Promise((answer) => {
          const begin = performance.now(), before = location.search;
          control.click();
          const look = () => location.search !== before
            ? answer(performance.now() - begin) : setTimeout(look, 2);
          look();
        })"""
    )
    return milliseconds / 1000


def _message_size(browser, server) -> int:
    ear = Ear()
    context = browser.new_context(viewport={"width": 1400, "height": 950})
    page = context.new_page()
    ear(page)
    page.goto(server.address)
    lab = Lab(page)
    lab.wait_until_moving()
    lab.wait_for_results()
    size = ear.size()
    context.close()
    return size


class Flow(NamedTuple):
    """What a stream does in a second."""

    frames: float
    sent: float
    """Bytes of its messages."""
    observations: float


def _flow(browser, server, pace: int) -> Flow:
    """Of the Stream page with its default learners, at so many observations a second."""
    stream = StreamPage(_open(browser, server, f"/stream?pace={pace}").page)
    stream.wait_until_flowing()
    stream.wait_for(f"Number(stream.taken) > {5 * pace}")  # kernels are loaded, the pace is known
    names = ("painted", "received", "taken")
    before, begin = [int(stream.value(name)) for name in names], time.perf_counter()
    stream.page.wait_for_timeout(1000 * FLOWING)
    after, elapsed = [int(stream.value(name)) for name in names], time.perf_counter() - begin
    stream.page.context.close()
    return Flow(*((new - old) / elapsed for old, new in zip(before, after, strict=True)))


def _plotly_frames(browser, server) -> float:
    context = browser.new_context(viewport={"width": 1400, "height": 950})
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    page.goto(server.address)
    page.locator(".updatemenu-button").wait_for()
    page.evaluate(
        """() => {
          const plot = document.querySelector('.js-plotly-plot');
          window.shown = 0;
          plot.on('plotly_animatingframe', () => (window.shown += 1));
        }"""
    )
    page.locator(".updatemenu-button").click()
    page.wait_for_function("window.shown > 5")
    before, begin = page.evaluate("window.shown"), time.perf_counter()
    page.wait_for_timeout(1000 * PLAYING)
    frames, elapsed = page.evaluate("window.shown") - before, time.perf_counter() - begin
    context.close()
    return frames / elapsed


if __name__ == "__main__":
    main()
