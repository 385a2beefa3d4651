import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress

import pytest
from playwright.sync_api import TimeoutError

from dashboard.figures import tradeoff
from dashboard.model.experiment import Experiment
from dashboard.text import formatting
from dashboard.text.delta_cost import delta_cost
from rhmm.paper import paper_model
from rhmm.sweeping import load_runs, summarise
from tests.browser.lab import Lab
from tests.browser.serving import PATIENCE, ROOT, started_server
from tests.browser.stillness import barriers_in_light_and_dark, wait_until_still

SMALL = "/tradeoff?T=600&delta=60&deltas=40,100&learners=streaming,paper&runs=2"
PAPERS = "/tradeoff?delta=60&deltas=40,60,200&learners=paper&runs=2"
LONG = f"/tradeoff?T=9000&delta=250&deltas={','.join(map(str, range(250, 262)))}&runs=50"
"""Each of its runs is short, all of them take minutes."""
SECOND_OF_STREAMING = 4
"""Among the points of a panel: the three of the windowed learner come first."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with an empty folder for its runs, and with no more than two processors: with
    many, no sweep takes long enough to wait for Run.
    """
    with ExitStack() as stack:
        environment = stack.enter_context(pytest.MonkeyPatch.context())
        environment.setenv("RHMM_CACHE", str(tmp_path_factory.mktemp("cache")))
        environment.delenv("RHMM_SCHEDULER", raising=False)
        with two_processors():
            server = stack.enter_context(started_server(tmp_path_factory.mktemp("server")))
        yield server


@contextmanager
def two_processors():
    """What is started meanwhile may use no more, where the system can keep it to that."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(mine)[:2])
    try:
        yield
    finally:
        os.sched_setaffinity(0, mine)


class TradeOff:
    """The page as a person at the browser uses it."""

    def __init__(self, page):
        self.page = page
        page.get_by_role("heading", level=1, name="What does Δ cost?").wait_for()

    def button(self, name):
        return self.page.get_by_role("button", name=name, exact=True)

    def wait_for_results(self):
        self.page.get_by_text("settings, ").wait_for()
        self.button("Cancel").wait_for(state="detached")
        self.page.locator(".js-plotly-plot .point").first.wait_for()
        self.page.locator('.stApp[data-test-script-state="notRunning"]').wait_for()
        wait_until_still(self.page)

    def wait_for_progress(self, least=1):
        """The bar says that at least so many runs are done."""
        self.page.wait_for_function(
            """least => {
              const bar = document.querySelector('[data-testid="stProgress"]');
              const found = bar && bar.textContent.match(/([\\d,]+) of [\\d,]+ runs done/);
              return found && Number(found[1].replace(',', '')) >= least;
            }""",
            arg=least,
        )

    def wait_for_text(self, text):
        self.page.get_by_text(text).first.wait_for()

    def metrics(self):
        return self.page.locator('[data-testid="stMetricValue"]').all_inner_texts()

    def table(self, which=0):
        rows = self.page.locator(".numbers").nth(which).locator("tbody tr")
        return [rows.nth(i).locator("th, td").all_inner_texts() for i in range(rows.count())]

    def open_runs(self, which, words):
        """Click on a point of the first panel, and wait for its runs.

        Plotly draws a little after the page is done, and then takes no notice of a mouse that is
        there already: without an answer, move and click again.
        """
        heading = self.page.get_by_role("heading", name=f"The runs of {words}")
        deadline = time.monotonic() + PATIENCE
        while True:
            with suppress(TimeoutError):
                self._click_on_point(which)
                heading.wait_for(timeout=10_000)
                break
            assert time.monotonic() < deadline, "a click on a point has no answer"
        self.page.get_by_role("link", name="seed 1").wait_for()
        self.page.locator(".numbers").first.locator("tbody tr").nth(1).wait_for()

    def _click_on_point(self, which):
        plot = self.page.locator(".js-plotly-plot").first
        plot.scroll_into_view_if_needed()
        box = plot.locator(".point").nth(which).bounding_box()
        self.page.mouse.move(0, 0)
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.page.locator(".hoverlayer .hovertext").first.wait_for(timeout=10_000)
        self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def download(self, name, folder):
        with self.page.expect_download() as download:
            self.page.get_by_role("link", name=name).click()
        path = folder / download.value.suggested_filename
        download.value.save_as(path)
        return path


@pytest.fixture
def open_tradeoff(open_page):
    def open_tradeoff(path=SMALL, **options):
        return TradeOff(open_page(path, **options))

    return open_tradeoff


@pytest.fixture
def small(open_tradeoff):
    tradeoff_page = open_tradeoff()
    tradeoff_page.wait_for_results()
    return tradeoff_page


def test_a_small_sweep_starts_by_itself_and_shows_progress_then_results(open_tradeoff, server):
    page = open_tradeoff(SMALL.replace("runs=2", "runs=30"))
    page.wait_for_progress(0)
    page.wait_for_results()

    assert "…" not in page.metrics()
    assert page.page.locator(".js-plotly-plot").count() == len(tradeoff.MEASURES)
    # Streamlit's client looks for its server below the page's own path first
    assert [c for c in page.page.complaints if "404" not in c] == []
    assert server.complaints() == []


def test_a_long_sweep_waits_for_run_and_keeps_what_is_done_when_cancelled(open_tradeoff, server):
    page = open_tradeoff(LONG)
    page.wait_for_text("That takes about")
    assert page.page.locator(".js-plotly-plot").count() == 0

    page.button("Run").click()
    page.wait_for_progress(4)
    page.button("Cancel").click()
    page.wait_for_text("Stopped.")
    page.page.locator(".js-plotly-plot .point").first.wait_for()

    # there is room for other visitors, and the long sweep does not start for them by itself
    other = open_tradeoff(SMALL.replace("T=600", "T=601"))
    other.wait_for_results()
    other = open_tradeoff(LONG)
    other.wait_for_text("That takes about")

    page.button("Run").click()
    page.wait_for_progress(4)
    # another control answers meanwhile
    seeds = page.page.get_by_role("spinbutton", name="Seeds")
    seeds.fill("2")
    seeds.press("Enter")
    Lab(page.page).wait_for_query(runs="2")
    page.wait_for_results()
    assert server.complaints() == []


def test_a_click_on_a_point_shows_its_runs_and_opens_one_in_the_live_lab(small):
    small.open_runs(SECOND_OF_STREAMING, "streaming, Δ=60")
    seed, accuracy, _, error, mean_error, *_ = small.table()[1]
    assert seed == "1"

    small.page.get_by_role("link", name="seed 1").click()
    lab = Lab(small.page)
    lab.wait_until_shown()
    lab.wait_for_results()

    assert lab.table()[0][1:4] == [accuracy, error, mean_error]
    assert lab.query["seed"] == "1"
    assert lab.query["delta"] == "60"
    assert lab.query["deltas"] == "40,100"  # the way back leads to the same sweep


def test_the_level_of_a_learner_without_delta_can_be_clicked(open_tradeoff):
    page = open_tradeoff("/tradeoff?T=600&algorithm=auto&deltas=40,100&learners=auto&runs=2")
    page.wait_for_results()

    page.open_runs(0, "automatic memory")
    page.page.get_by_role("link", name="seed 1").click()

    lab = Lab(page.page)
    lab.wait_until_shown()
    assert lab.query["algorithm"] == "auto"
    assert lab.query["seed"] == "1"


@pytest.mark.parametrize("kind", ["CSV", "Parquet"])
def test_all_runs_can_be_taken_away_and_agree_with_the_page(kind, small, tmp_path):
    path = small.download(f"All runs ({kind})", tmp_path)
    experiment = Experiment(length=600, window=60)
    runs = load_runs(path, experiment.source.true_model())

    costs = [delta_cost(experiment, variant, runs) for variant in experiment.variants]
    assert len(runs) == 18
    assert small.metrics() == [value for cost in costs for value in cost[:4]]
    small.open_runs(SECOND_OF_STREAMING, "streaming, Δ=60")
    mine = [
        run
        for run in runs
        if run.configuration.learner == "streaming" and run.configuration.window == 60
    ]
    assert [row[1] for row in small.table()] == [
        formatting.hundredths(run.accuracy) for run in mine
    ]


def test_the_script_can_be_taken_away(small, tmp_path):
    path = small.download("Script (Python)", tmp_path)

    compile(path.read_text(encoding="utf-8"), path.name, "exec")


def test_the_papers_table_agrees_with_the_command_line_and_the_file(open_tradeoff, tmp_path):
    page = open_tradeoff(PAPERS)
    done = subprocess.run(
        [sys.executable, "-m", "rhmm", "table", "--json", "--runs", "2"],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    page.wait_for_results()
    page.wait_for_text("beside ours")
    printed = {row["name"]: row for row in json.loads(done.stdout)["rows"]}
    filed = load_runs(page.download("All runs (CSV)", tmp_path), paper_model())
    by_file = {summary.configuration.name: summary for summary in summarise(filed)}

    both = [cells for cells in page.table() if cells[0] in printed]
    assert {cells[0] for cells in both} >= {
        "windowed, paper's update, Δ=40",
        "windowed, paper's update, Δ=60",
        "windowed, paper's update, Δ=200",
        "streaming, Δ=60",
        "EM",
        "K-means",
    }
    for name, accuracy, _, seconds, _, diagonal, _, error, _ in both:
        row, summary = printed[name], by_file[name]
        by_command = row["accuracy"], row["transition_error"]
        assert (summary.accuracy._asdict(), summary.transition_error._asdict()) == by_command
        mean, spread = (100 * row["accuracy"][name] for name in ("mean", "spread"))
        assert accuracy == f"{mean:.2f} ± {spread:.2f}"
        assert error == "{mean:.3f} ± {spread:.3f}".format(**row["transition_error"])
        assert diagonal == " ".join(f"{a:.2f}" for a in row["diagonal"])
        assert seconds in (f"{summary.seconds.mean:.3f}", "–")  # each run has its own


def test_light_and_dark_are_without_serious_barriers(open_tradeoff):
    page = open_tradeoff(PAPERS)
    page.wait_for_results()
    page.open_runs(SECOND_OF_STREAMING, "streaming, Δ=60")

    assert barriers_in_light_and_dark(page.page) == []


def test_a_phone_shows_the_page_without_scrolling_sideways(open_tradeoff):
    page = open_tradeoff(PAPERS, viewport={"width": 390, "height": 844})
    page.wait_for_results()

    assert page.page.evaluate("document.documentElement.scrollWidth") <= 390
    main = page.page.locator('[data-testid="stMain"]')
    assert main.evaluate("main => main.scrollWidth") <= 390


def test_a_broken_link_gets_a_sentence_and_a_page(open_tradeoff, server):
    page = open_tradeoff("/tradeoff?T=600&delta=60&deltas=oops&learners=paper&runs=2")
    page.wait_for_results()

    page.page.locator('[data-testid="stAlert"]', has_text="Cannot read deltas = 'oops'").wait_for()
    assert page.page.get_by_text("Traceback").count() == 0
    assert server.complaints() == []
