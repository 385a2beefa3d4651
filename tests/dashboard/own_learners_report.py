"""Says as JSON what the dashboard makes of the learners of `own_learners`: a program for tests."""

import json
import sys
import time
from pathlib import Path

import tests.dashboard.own_learners  # noqa: F401  registers them before the dashboard's tables are made

# isort: split

from streamlit.testing.v1 import AppTest

from dashboard.canvas import messages
from dashboard.compute import runs
from dashboard.figures import compare, tradeoff
from dashboard.model.experiment import Experiment
from dashboard.model.plan import Plan, Sweep
from dashboard.model.spaces.disk import DISK_CHART as DISK
from dashboard.model.view import View
from dashboard.text import files
from rhmm.sweeping import run_once, summarise
from tests.dashboard.canvas.unpacking import unpack
from tests.dashboard.figures.checking import checked
from tests.pages.finding import tables

APP = Path(__file__).parents[2] / "pages" / "navigation.py"
ASKED = Experiment(length=600, window=60, algorithms=("patient",), patience="long")
SWEEP = Sweep.of(ASKED, Plan(windows=(40, 60), learners=("soon", "late"), runs=1))
PLAN = Plan(windows=SWEEP.asked, learners=SWEEP.learners, runs=SWEEP.runs)


def opened(path: str) -> AppTest:
    """A page with all results of the experiment and the sweep."""
    page = AppTest.from_file(APP, default_timeout=600)
    page.query_params.update(ASKED.to_query() | PLAN.to_query())
    page.run()
    page.switch_page(f"experiment/{path}.py").run()
    while "Cancel" in [button.label for button in page.button]:
        time.sleep(0.2)
        page.run()
    assert not page.exception, page.exception
    return page


def labelled(widgets, label: str):
    return next(one for one in widgets if one.label == label)


def of_the_model() -> dict:
    again, problems = Experiment.from_query(ASKED.to_query())
    return {
        "order": ASKED.methods,
        "in_words": ASKED.in_words(),
        "comes_back_from_its_link": again == ASKED and problems == [],
    }


def of_a_run() -> dict:
    run = runs.compute(ASKED, lambda *_: None)
    about, arrays = unpack(messages.run_message(run, True, View(), DISK))
    return {
        "baselines": [baseline["key"] for baseline in about["baselines"]],
        "frames": len(arrays["patient.steps"]),
        "means_of_first": arrays["first.means"].reshape(3, 2).tolist(),
        "first_points": run.points[:3].tolist(),
        "figures": {name: list(figures) for name, figures in figures_of(run).items()},
        "data_columns": files.data_csv(run).decode().split("\n", 1)[0].split(","),
    }


def figures_of(run) -> dict:
    pictures = compare.pictures(run)
    return {name: getattr(pictures, name) for name in ("maps", "transitions", "confusions")}


def of_a_sweep() -> dict:
    truth = ASKED.source.true_model()
    summaries = summarise(run_once(truth, way, 0) for way in SWEEP.configurations())
    figure = checked(tradeoff.panel(SWEEP, summaries, tradeoff.MEASURES[0]))
    return {
        "curves": {trace.name: list(trace.x) for trace in figure.data if trace.name},
        "levels": " ".join(note.text for note in figure.layout.annotations),
    }


def of_the_pages() -> dict:
    live, beside, delta = map(opened, ("live", "compare", "tradeoff"))
    return {
        "algorithms": labelled(live.sidebar.button_group, "Online algorithms").options,
        "radios": [radio.label for radio in live.sidebar.radio],
        "sliders": [slider.label for slider in live.sidebar.select_slider],
        "live_methods": tables(live)[0]["Method"],
        "compare_table": tables(beside)[0],
        "compare_charts": [chart.proto.id for chart in beside.get("plotly_chart")],
        "variants": labelled(delta.multiselect, "Online algorithms").options,
        "metrics": [metric.value for metric in delta.metric],
    }


if __name__ == "__main__":
    parts = of_the_model() | of_a_run() | of_a_sweep() | of_the_pages()
    scripts = {"run.py": files.run_script(ASKED), "sweep.py": files.sweep_script(SWEEP)}
    json.dump(parts | {"scripts": scripts}, sys.stdout)
