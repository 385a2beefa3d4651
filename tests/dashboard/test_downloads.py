import csv
import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dashboard import downloads, present, runs
from dashboard.experiment import Experiment
from dashboard.presets import PRESETS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def run():
    return runs.compute(Experiment(length=1_500, window=100), lambda *_: None)


def test_the_csv_holds_every_observation_to_the_last_digit(run):
    rows = list(csv.DictReader(downloads.data_csv(run).decode().splitlines()))

    points = np.array([[float(row["x"]), float(row["y"])] for row in rows])
    np.testing.assert_array_equal(points, run.points)
    assert [int(row["true_state"]) - 1 for row in rows] == run.true_states.tolist()
    assert [int(row["em"]) - 1 for row in rows] == run.method(runs.EM).states.tolist()
    assert [row["k"] for row in rows[:2]] == ["1", "2"]


def test_the_arrays_hold_the_paths(run):
    with np.load(io.BytesIO(downloads.arrays_npz(run)), allow_pickle=False) as file:
        np.testing.assert_array_equal(file["points"], run.points)
        np.testing.assert_array_equal(file["online_path_means"], run.trace.means)
        np.testing.assert_array_equal(file["em_path_means"][-1], file["em_means"])
        np.testing.assert_array_equal(file["em_path_startprob"][-1], file["em_startprob"])
        kmeans = run.method(runs.KMEANS).model.parameters_
        for name, value in kmeans._asdict().items():
            np.testing.assert_array_equal(file[f"kmeans_{name}"], value)


def test_the_json_holds_the_numbers_of_the_page(run):
    content = json.loads(downloads.results_json(run))

    online = run.method(runs.ONLINE)
    assert content["experiment"]["length"] == 1_500
    assert content["methods"]["online"]["accuracy"] == online.accuracy
    assert content["methods"]["online"]["means"] == online.model.means_.tolist()


def test_a_run_that_was_stopped_is_taken_as_far_as_it_came(run):
    early = run._replace(methods=run.methods[:2], em_path=(), em_log_likelihood=(), finished=False)

    header, *rows = downloads.data_csv(early).decode().splitlines()
    assert header == "k,x,y,true_state,true_parameters,online"
    assert len(rows) == 1_500
    assert list(json.loads(downloads.results_json(early))["methods"]) == [
        "true_parameters",
        "online",
    ]
    with np.load(io.BytesIO(downloads.arrays_npz(early)), allow_pickle=False) as file:
        assert "online_means" in file
        assert "em_means" not in file


def test_the_parameters_of_a_truth_are_those_of_the_results(run):
    parameters = json.loads(downloads.experiment_json(run.experiment))

    assert parameters["experiment"] == json.loads(downloads.results_json(run))["experiment"]


@pytest.mark.parametrize(
    "experiment",
    [
        Experiment(),
        replace(Experiment(length=3_000, algorithm="windowed", seed=5), **PRESETS["Overlapping"]),
        replace(Experiment(length=1_000, window=60), **PRESETS["Five states"]),
    ],
)
def test_the_script_runs_and_prints_the_numbers_of_the_page(experiment, tmp_path):
    run = runs.compute(experiment, lambda *_: None)
    file = tmp_path / "run.py"
    file.write_text(downloads.script(experiment), encoding="utf-8")

    done = subprocess.run(
        [sys.executable, file], cwd=ROOT, env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    table = present.methods_table(run)
    printed = done.stdout.replace(" %", "").splitlines()[1:]
    columns = ("Accuracy", "‖A − Â‖", "Distance of means", "Error of σ", "Log-likelihood")
    for line, name, *cells in zip(
        printed, present.ORDER, *(table[column] for column in columns), strict=True
    ):
        assert line.startswith(name)
        expected = [float(cell.replace(" %", "")) for cell in cells]
        assert [float(number) for number in line.split()[-5:]] == expected


def test_a_script_of_a_user_does_not_reach_the_dashboard():
    assert "dashboard." not in downloads.script(Experiment()).replace("the dashboard showed", "")
