"""Learners that are registered appear everywhere in the dashboard, without any other change."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


def run_python(*arguments, folder: Path) -> str:
    """What a program prints that knows of this project and of no other environment."""
    environment = {"PYTHONPATH": str(ROOT), "PATH": "", "RHMM_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    program = "tests.dashboard.own_learners_report"
    return json.loads(run_python("-m", program, folder=tmp_path_factory.mktemp("report")))


def test_the_sidebar_offers_an_online_learner_with_its_options(report):
    assert report["algorithms"] == ["Windowed", "Streaming", "Automatic memory", "Patient"]
    assert report["radios"] == ["Patience"]
    assert report["sliders"] == ["Δ: observations to wait for"]


def test_a_link_keeps_the_options_of_an_online_learner(report):
    assert report["comes_back_from_its_link"]
    assert report["in_words"].endswith("learned online (patient, long start, Δ=60).")


def test_a_batch_learner_has_its_place_in_every_table(report):
    names = ["Patient", "K-means", "EM", "True parameters (the ceiling)", "First points"]
    keys = ["patient", "kmeans", "em", "ceiling", "first"]

    assert report["order"] == keys
    assert report["live_methods"] == names
    assert report["compare_table"]["Method"] == names
    assert set(report["data_columns"]) == {"k", "x", "y", "true_state", *keys}


def test_the_lab_shows_the_path_of_the_one_and_the_means_of_the_other(report):
    assert report["frames"] > 200
    assert report["baselines"] == ["kmeans", "em", "first"]
    means, points = (sorted(report[name]) for name in ("means_of_first", "first_points"))
    np.testing.assert_array_equal(means, np.float32(points))


def test_compare_has_a_panel_of_every_kind_for_a_batch_learner(report):
    for kind, keys in report["figures"].items():
        assert set(keys) == set(report["order"]), kind
    for kind in ("maps", "small-transitions", "small-errors", "small-confusions"):
        ids = [name for name in report["compare_charts"] if f"{kind}-first" in name]
        assert len(ids) == 1, kind


def test_the_tradeoff_compares_the_variants_of_an_online_learner(report):
    assert report["variants"][-2:] == ["patient", "patient, long start"]
    assert report["curves"] == {"patient": [40, 60], "patient, long start": [40, 60]}
    assert "First points" in report["levels"].replace("<br>", " ")
    assert "…" not in report["metrics"]  # its runs came from other processes


def test_the_script_of_a_run_computes_them_again(report, tmp_path):
    (tmp_path / "run.py").write_text(report["scripts"]["run.py"], encoding="utf-8")

    printed = run_python("run.py", folder=tmp_path).splitlines()[1:]

    table = report["compare_table"]
    accuracies = dict(zip(table["Method"], table["Accuracy (%)"], strict=True))
    assert len(printed) == len(accuracies)
    for line in printed:
        name = next(name for name in accuracies if name.startswith(line[:16].strip()))
        assert line[16:].split("%")[0].strip() == accuracies[name]


def test_the_script_of_a_sweep_computes_them_again(report, tmp_path):
    (tmp_path / "sweep.py").write_text(report["scripts"]["sweep.py"], encoding="utf-8")

    printed = run_python("sweep.py", folder=tmp_path).splitlines()

    assert [line[:36].strip() for line in printed] == [
        "patient, Δ=40",
        "patient, Δ=60",
        "patient, long start, Δ=40",
        "patient, long start, Δ=60",
        "K-means",
        "EM",
        "true parameters (the ceiling)",
        "first points (of a test)",
    ]
    mine = next(line for line in printed if line.startswith("patient, long start, Δ=60"))
    accuracy = float(report["metrics"][0].removesuffix(" %")) / 100
    assert f"accuracy {accuracy:.4f}, " in mine
