"""Files of a run whose observations are matrices."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dashboard.model.experiment import Experiment
from dashboard.model.plan import Plan, Sweep
from dashboard.model.spaces.spd2 import SPD2
from dashboard.text import files, formatting
from tests.dashboard.made_runs import finished

ROOT = Path(__file__).parents[3]
EXPERIMENT = Experiment(**SPD2.truth, length=600, window=60)


@pytest.fixture(scope="module")
def run():
    return finished(EXPERIMENT)


def test_the_csv_has_a_column_for_each_entry_under_a_plain_name(run):
    rows = list(csv.DictReader(files.data_csv(run).decode().splitlines()))

    entries = [[float(row[name]) for name in ("a11", "a12", "a22")] for row in rows]
    np.testing.assert_array_equal(SPD2.points(entries), run.points)


def test_the_arrays_and_results_hold_matrices(run):
    with np.load(io.BytesIO(files.arrays_npz(run)), allow_pickle=False) as file:
        assert file["points"].shape == (600, 2, 2)
    content = json.loads(files.results_json(run))
    assert content["experiment"]["space"] == "spd2"
    assert np.shape(content["methods"]["streaming"]["means"]) == (3, 2, 2)


def test_the_script_runs_and_prints_the_numbers_of_the_page(run):
    script = files.run_script(EXPERIMENT)

    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert "SPD(2)" in script
    assert "((0.53, 0.0), (0.0, 0.53))" in script
    for method in run.methods:
        assert formatting.percent(method.accuracy) in done.stdout


def test_the_script_of_a_sweep_is_a_program_about_matrices():
    script = files.sweep_script(Sweep.of(EXPERIMENT, Plan(windows=(60,), runs=1)))

    compile(script, "sweep.py", "exec")
    assert "from rhmm import Configuration, RiemannianHMM, SPD, sweep" in script
    assert "((0.53, 0.0), (0.0, 0.53))" in script
