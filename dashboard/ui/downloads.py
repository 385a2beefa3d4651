"""The row of links that hand out what is on screen."""

from collections import deque
from functools import partial
from html import escape

import streamlit as st

from dashboard.compute.fits import Fitted
from dashboard.compute.runs import ExperimentRun
from dashboard.compute.sweeps import Outcome
from dashboard.figures import fitted as figures
from dashboard.figures.chain_diagram import chain_svg
from dashboard.model.experiment import Experiment
from dashboard.model.plan import Sweep
from dashboard.server.offers import File, Offer
from dashboard.text import files, fitted_files
from dashboard.ui.session import visitor

_PYTHON, _JSON, _SVG = "text/x-python", "application/json", "image/svg+xml"
_PARQUET = "application/vnd.apache.parquet"


def run_files(run: ExperimentRun, *, ended: bool) -> None:
    """The files of a run, once it has ended or was stopped; its script at any time."""
    ready = ended and len(run.points) > 0
    _row(
        File("Data (CSV)", "data.csv", "text/csv", files.data_csv, run, ready),
        File("Arrays (NPZ)", "run.npz", "application/zip", files.arrays_npz, run, ready),
        File("Results (JSON)", "results.json", _JSON, files.results_json, run, ready),
        _run_script(run.experiment),
    )


def truth_files(experiment: Experiment) -> None:
    """The true model as parameters, as a script and as a picture of its chain."""
    _row(
        File("Parameters (JSON)", "parameters.json", _JSON, files.experiment_json, experiment),
        _run_script(experiment),
        File("Chain (SVG)", "chain.svg", _SVG, chain_svg, experiment.transmat),
    )


def sweep_files(sweep: Sweep, outcome: Outcome, *, ended: bool) -> None:
    """The runs of a sweep, once it has ended or was stopped; its script at any time."""
    ready = bool(outcome.runs) and ended
    csv, parquet = (partial(files.runs_file, sweep.experiment, s) for s in (".csv", ".parquet"))
    script = File("Script (Python)", "sweep.py", _PYTHON, files.sweep_script, sweep)
    _row(
        File("All runs (CSV)", "runs.csv", "text/csv", csv, outcome.runs, ready),
        File("All runs (Parquet)", "runs.parquet", _PARQUET, parquet, outcome.runs, ready),
        *(() if sweep.experiment.is_recorded else (script,)),  # no sweep of the engine
    )


def fitted_files_row(fitted: Fitted) -> None:
    """What was learned from a recording, and a script that learns it again."""
    _row(
        File("States (CSV)", "states.csv", "text/csv", fitted_files.states_csv, fitted),
        File("States (Parquet)", "states.parquet", _PARQUET, fitted_files.states_parquet, fitted),
        File("Model (JSON)", "model.json", _JSON, fitted_files.model_json, fitted),
        File("Chain (SVG)", "fitted_chain.svg", _SVG, _chain_of, fitted),
        File("Script (Python)", "fit.py", _PYTHON, fitted_files.script, fitted),
    )


def _chain_of(fitted: Fitted) -> str:
    return chain_svg(figures.chain(fitted))


def _run_script(experiment: Experiment) -> File:
    return File("Script (Python)", "run.py", _PYTHON, files.run_script, experiment)


def _row(*offered: File) -> None:
    st.html(f'<div class="downloads">{"".join(map(_link, offered))}</div>')


def _link(file: File) -> str:
    label = escape(file.label)
    if not file.ready:
        return f'<a role="link" aria-disabled="true">{label}</a>'
    return f'<a href="{_offer(file).address}" download="{file.name}">{label}</a>'


def _offer(file: File) -> Offer:
    """The latest two offers of each name stay: the link in the browser may be one answer behind."""
    kept = visitor().offers.setdefault(file.name, deque(maxlen=2))
    if not kept or kept[-1].file.shown is not file.shown:
        kept.append(Offer(file))
    return kept[-1]
