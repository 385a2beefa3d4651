import csv
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from dashboard.compute import fits
from dashboard.compute.fits import FitRequest, ReadRequest
from dashboard.model import analysis
from dashboard.model.analysis import (
    AUTO,
    BIC,
    EM,
    FULL,
    PREDICTION,
    ROUND,
    STREAMING,
    TIED,
    HeldFile,
    HeldRecording,
    ReadOptions,
)
from dashboard.text import fitted_files
from rhmm import RiemannianHMM
from rhmm.paper import paper_model
from rhmm.reading import Window
from tests.dashboard.made_recordings import disk_fit, fitted, matrix_fit, matrix_model
from tests.reading.files import csv_bytes, named

ROOT = Path(__file__).parents[3]


def ignore(*_):
    pass


def test_the_csv_has_a_line_for_each_observation_with_every_digit():
    result = disk_fit()

    rows = list(csv.DictReader(io.StringIO(fitted_files.states_csv(result).decode())))

    assert [int(row["state"]) for row in rows] == (result.states + 1).tolist()
    found = [[float(row[f"probability_{i}"]) for i in (1, 2, 3)] for row in rows]
    np.testing.assert_array_equal(found, result.probabilities)
    assert rows[3]["label"] == ""
    assert rows[150]["sequence"] == "b"


def test_parquet_holds_the_same():
    table = parquet.read_table(io.BytesIO(fitted_files.states_parquet(disk_fit())))

    assert table.column("state").to_pylist() == (disk_fit().states + 1).tolist()
    np.testing.assert_array_equal(
        table.column("probability_2").to_numpy(), disk_fit().probabilities[:, 1]
    )


def test_the_model_is_one_that_the_engine_loads(tmp_path):
    (tmp_path / "model.json").write_bytes(fitted_files.model_json(matrix_fit()))

    model = RiemannianHMM.load(tmp_path / "model.json")

    np.testing.assert_array_equal(model.means_, matrix_fit().model.means_)


def held_file(tmp_path, name: str, content: bytes, options: ReadOptions) -> HeldRecording:
    """A file as the page reads it, and the same on disk for a script."""
    (tmp_path / name).write_bytes(content)
    request = ReadRequest(HeldFile.of(name, content), options)
    found = fits.compute(request, ignore)
    return HeldRecording((request.file, request.options), found.reading.recording)


def run_script(result, folder: Path) -> str:
    script = fitted_files.script(result)
    compile(script, "fit.py", "exec")  # warnings of its syntax are errors here
    (folder / "fit.py").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "fit.py"], cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": ""}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def disk_file(tmp_path) -> HeldRecording:
    points, states = paper_model().sample(200, random_state=3)
    content = csv_bytes(named(points) | {"what": np.array(["go", "stop", "turn"])[states]})
    return held_file(tmp_path, "my 'walk'.csv", content, ReadOptions(label="what"))


def signal_file(tmp_path) -> HeldRecording:
    noise = np.random.default_rng(0).standard_normal((900, 3))
    noise[300:600] *= 3.0
    options = ReadOptions(window=Window(15, 15, "ledoit-wolf"))
    return held_file(tmp_path, "signal.csv", csv_bytes(named(noise)), options)


@pytest.mark.parametrize(
    ("make", "n_states", "how"),
    [
        (disk_file, 3, (EM,)),
        (disk_file, PREDICTION, (EM,)),
        (disk_file, 3, (EM, FULL, True)),
        (disk_file, 2, (EM, "student-diag")),
        (disk_file, 3, (STREAMING,)),
        (disk_file, 3, (AUTO,)),
        (signal_file, 2, (EM,)),
        (signal_file, 2, (EM, TIED, True)),
    ],
)
def test_the_script_gives_the_numbers_of_the_page(tmp_path, make, n_states, how):
    result = fits.compute(FitRequest(make(tmp_path), n_states, *how), ignore)

    printed = run_script(result, tmp_path)

    with open(tmp_path / "states.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["state"]) for row in rows] == (result.states + 1).tolist()
    names = [f"probability_{i + 1}" for i in range(result.n_states)]
    found = [[float(row[name]) for name in names] for row in rows]
    np.testing.assert_allclose(found, result.probabilities, rtol=0, atol=1e-12)
    assert f"log p = {result.log_likelihood:.4f} per observation" in printed
    np.testing.assert_allclose(
        RiemannianHMM.load(tmp_path / "model.json").means_, result.model.means_, atol=1e-12
    )


def test_the_script_of_a_large_recording_gives_the_numbers_of_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(analysis, "LARGE", 300)
    monkeypatch.setattr(analysis, "_THINNED", 200)
    result = fits.compute(FitRequest(disk_file(tmp_path), BIC, EM, ROUND, True), ignore)

    printed = run_script(result, tmp_path)

    assert f"log p = {result.log_likelihood:.4f} per observation" in printed
    np.testing.assert_allclose(
        RiemannianHMM.load(tmp_path / "model.json").means_, result.model.means_, atol=1e-12
    )


def test_the_script_of_a_recording_loads_it_and_names_what_to_cite():
    held = HeldRecording(("emg",), matrix_fit().recording)

    script = fitted_files.script(fitted(held, matrix_model()))

    assert 'recording = load_emg(["rr_s2"])' in script
    assert "from rhmm.datasets import load_emg" in script
    assert "pip install" in script
    assert "Tupker" in script
