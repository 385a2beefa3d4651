import csv
import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dashboard.compute import runs
from dashboard.model.experiment import Experiment
from dashboard.model.methods import CEILING, EM, KMEANS, method_name
from dashboard.model.plan import Plan, Sweep
from dashboard.model.presets import PRESETS
from dashboard.text import files, tables
from rhmm.sweeping import load_runs, summarise
from tests.dashboard.made_runs import SMALL, SWEEP, all_runs, until

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def run():
    return runs.compute(Experiment(length=1_500, window=100), lambda *_: None)


def test_the_csv_holds_every_observation_to_the_last_digit(run):
    rows = list(csv.DictReader(files.data_csv(run).decode().splitlines()))

    points = np.array([[float(row["x"]), float(row["y"])] for row in rows])
    np.testing.assert_array_equal(points, run.points)
    assert [int(row["true_state"]) - 1 for row in rows] == run.true_states.tolist()
    assert [int(row["em"]) - 1 for row in rows] == run.method(EM).labels.tolist()
    assert [row["k"] for row in rows[:2]] == ["1", "2"]


def test_the_arrays_hold_the_paths(run):
    with np.load(io.BytesIO(files.arrays_npz(run)), allow_pickle=False) as file:
        np.testing.assert_array_equal(file["points"], run.points)
        for key in ("windowed", "streaming"):
            np.testing.assert_array_equal(file[f"{key}_path_means"], run.path(key).means)
        np.testing.assert_array_equal(file["em_path_means"][-1], file["em_means"])
        np.testing.assert_array_equal(file["em_path_startprob"][-1], file["em_startprob"])
        kmeans = run.method(KMEANS).model.parameters_
        for name, value in kmeans._asdict().items():
            np.testing.assert_array_equal(file[f"kmeans_{name}"], value)


def test_the_json_holds_the_numbers_of_the_page(run):
    content = json.loads(files.results_json(run))

    assert content["experiment"]["length"] == 1_500
    assert content["experiment"]["algorithms"] == ["windowed", "streaming"]
    for key in ("windowed", "streaming"):
        online = run.method(key)
        assert content["methods"][key]["accuracy"] == online.accuracy
        assert content["methods"][key]["means"] == online.model.means_.tolist()


def test_a_run_that_was_stopped_is_taken_as_far_as_it_came(run):
    early = until(run, CEILING, "windowed")

    header, *rows = files.data_csv(early).decode().splitlines()
    assert header == "k,x,y,true_state,ceiling,windowed"
    assert len(rows) == 1_500
    assert list(json.loads(files.results_json(early))["methods"]) == ["ceiling", "windowed"]
    with np.load(io.BytesIO(files.arrays_npz(early)), allow_pickle=False) as file:
        assert "windowed_means" in file
        assert "em_means" not in file


def test_the_parameters_of_a_truth_are_those_of_the_results(run):
    parameters = json.loads(files.experiment_json(run.experiment))

    assert parameters["experiment"] == json.loads(files.results_json(run))["experiment"]


@pytest.mark.parametrize(
    "experiment",
    [
        Experiment(),
        replace(
            Experiment(length=3_000, algorithms=("windowed",), seed=5), **PRESETS["Overlapping"]
        ),
        replace(Experiment(length=1_000, window=60), **PRESETS["Five states"]),
    ],
)
def test_the_script_runs_and_prints_the_numbers_of_the_page(experiment, tmp_path):
    run = runs.compute(experiment, lambda *_: None)
    file = tmp_path / "run.py"
    file.write_text(files.run_script(experiment), encoding="utf-8")

    done = subprocess.run(
        [sys.executable, file], cwd=ROOT, env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    table = tables.methods_table(run)
    printed = done.stdout.replace(" %", "").splitlines()[1:]
    columns = (
        "Accuracy (%)", "‖A − Â‖", "Distance of means", "Error of σ (%)",
        "Log-likelihood per observation",
    )  # fmt: skip
    for line, key, *cells in zip(
        printed, experiment.methods, *(table[column] for column in columns), strict=True
    ):
        assert line.startswith(method_name(key))
        expected = list(map(float, cells))
        assert [float(number) for number in line.split()[-5:]] == expected


def test_the_script_of_a_recording_loads_it_and_prints_the_numbers_of_the_page(tmp_path):
    experiment = Experiment(recording="disk", window=80, states=4, seed=2)
    run = runs.compute(experiment, lambda *_: None)
    file = tmp_path / "run.py"
    file.write_text(files.run_script(experiment), encoding="utf-8")

    done = subprocess.run(
        [sys.executable, file], cwd=ROOT, env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert "from rhmm.datasets import make_chain" in file.read_text(encoding="utf-8")
    table = tables.methods_table(run)
    printed = [line.split() for line in done.stdout.replace(" %", "").splitlines()[1:]]
    expected = zip(
        table["Method"],
        table["Agreement with the labels (%)"],
        table["Log-likelihood per observation"],
        strict=True,
    )
    named = [(name.partition(" (")[0], *numbers) for name, *numbers in expected]
    assert [tuple(line) for line in printed] == named


@pytest.mark.parametrize("script", [files.run_script(Experiment()), files.sweep_script(SWEEP)])
def test_a_script_without_rhmm_says_in_one_sentence_how_to_install_it(script, tmp_path):
    file = tmp_path / "script.py"
    file.write_text(script, encoding="utf-8")

    without_packages = [sys.executable, "-I", "-S", file]
    done = subprocess.run(without_packages, cwd=tmp_path, capture_output=True, text=True)

    assert done.returncode == 1
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith("This script needs the package rhmm: run `pip install .` in")


def test_the_script_of_a_run_does_not_import_the_dashboard():
    assert "dashboard." not in files.run_script(Experiment()).replace("the dashboard showed", "")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_hold_the_very_same_runs(suffix, swept, tmp_path):
    path = tmp_path / f"runs{suffix}"
    path.write_bytes(files.runs_file(SMALL, suffix, swept))

    assert load_runs(path, SMALL.source.true_model()) == swept


def test_the_script_runs_the_sweep_again_with_the_same_numbers(tmp_path):
    sweep = Sweep.of(
        replace(SMALL, **PRESETS["Five states"]), Plan((40,), ("convex", "fixed"), runs=2)
    )
    file = tmp_path / "sweep.py"
    file.write_text(files.sweep_script(sweep), encoding="utf-8")

    done = subprocess.run(
        [sys.executable, file], cwd=tmp_path, env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    again = load_runs(tmp_path / "runs.csv", sweep.experiment.source.true_model())
    expected = all_runs(sweep)
    assert {replace(r, seconds=0) for r in again} == {replace(r, seconds=0) for r in expected}
    lines = done.stdout.splitlines()
    for line, summary in zip(lines, summarise(expected), strict=True):
        assert line.startswith(summary.configuration.name)
        assert f"accuracy {summary.accuracy.mean:.4f}, " in line
        assert f"{summary.transition_error.mean:.4f}, " in line
        assert f"means {summary.mean_error.mean:.4f}, " in line
        assert line.endswith(f" {summary.nbytes.most} bytes")


def test_the_script_of_a_sweep_does_not_import_the_dashboard():
    assert "dashboard" not in files.sweep_script(SWEEP).replace("the dashboard showed", "")
