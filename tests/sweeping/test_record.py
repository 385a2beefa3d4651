import csv
import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from pyarrow import parquet

from rhmm import SPD, Hyperbolic, RiemannianHMM, sweep
from rhmm.sweeping import Configuration, fingerprint, load_runs, run_once, save_runs
from rhmm.sweeping.record import Record
from tests.sweeping.tasks import GRID, TRUTH

OTHER = RiemannianHMM.from_parameters(
    TRUTH.manifold, TRUTH.startprob_, TRUTH.transmat_, TRUTH.means_, [0.2, 1.0, np.nextafter(1, 2)]
)


@pytest.fixture(scope="module")
def runs():
    with ThreadPoolExecutor(1) as one:
        return sweep(TRUTH, GRID, 2, one)


@pytest.fixture(params=["runs.csv", "runs.parquet"])
def path(request, tmp_path):
    return tmp_path / request.param


def test_every_digit_comes_back(runs, path):
    save_runs(path, TRUTH, runs)
    assert load_runs(path, TRUTH) == runs
    assert os.listdir(path.parent) == [path.name]


def test_anybody_can_read_the_csv_file(runs, tmp_path):
    save_runs(tmp_path / "runs.csv", TRUTH, runs)
    with (tmp_path / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row, run in zip(rows, runs, strict=True):
        assert row["method"] == run.configuration.method
        assert row["window"] == str(run.configuration.window or "")
        assert float(row["accuracy"]) == run.accuracy
        assert float(row["transmat_1_2"]) == run.transmat[1][2]
        assert float(row["means_2_0"]) == run.means[2][0]


def test_anybody_can_read_the_parquet_file(runs, tmp_path):
    save_runs(tmp_path / "runs.parquet", TRUTH, runs)
    table = parquet.read_table(tmp_path / "runs.parquet")
    assert table["window"].to_pylist() == [run.configuration.window for run in runs]
    assert table["sigmas_0"].to_pylist() == [run.sigmas[0] for run in runs]


def test_points_that_are_matrices_come_back(path):
    truth = RiemannianHMM.from_parameters(
        SPD(2), [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [np.eye(2), 5 * np.eye(2)], [0.3, 0.4]
    )
    run = run_once(truth, Configuration("ceiling", 50), 3)
    save_runs(path, truth, [run])
    assert load_runs(path, truth) == [run]


def test_each_run_is_on_disk_before_the_next_and_a_crash_loses_none(runs, path, tmp_path_factory):
    crashed = tmp_path_factory.mktemp("crashed")
    with Record(path, TRUTH) as record:
        for count, run in enumerate(runs[:3], start=1):
            record.append(run)
            assert load_runs(path, TRUTH) == runs[:count]
        shutil.copytree(path.parent, crashed, dirs_exist_ok=True)
    with Record(crashed / path.name, TRUTH) as record:
        assert list(record.known.values()) == runs[:3]
        record.append(runs[3])
    assert load_runs(crashed / path.name, TRUTH) == runs[:4]
    assert os.listdir(crashed) == [path.name]


def test_a_line_torn_anywhere_is_written_again(runs, tmp_path):
    whole = tmp_path / "whole.csv"
    save_runs(whole, TRUTH, runs[:3])
    content = whole.read_bytes()
    ends = [i for i, byte in enumerate(content) if byte == ord("\n")]
    sizes = {*range(0, len(content), 50), *ends, *(end + 1 for end in ends)}
    torn = tmp_path / "torn.csv"
    for size in sizes:
        torn.write_bytes(content[:size])
        with Record(torn, TRUTH) as record:
            lines = content[:size].count(b"\n")
            assert list(record.known.values()) == runs[: max(lines - 1, 0)]
            for run in runs[len(record.known) : 3]:
                record.append(run)
        assert torn.read_bytes() == content


def damage_csv(content: bytes, how: str) -> bytes:
    lines = content.splitlines(keepends=True)
    match how:
        case "a value is missing":
            lines[2] = lines[2].replace(b",1,", b",,", 1)
        case "a line is short":
            lines[2] = lines[2].rpartition(b",")[0] + b"\n"
        case "not a number":
            lines[2] = lines[2].replace(b"0.", b"o.", 3)
        case "no such method":
            lines[2] = lines[2].replace(b"windowed", b"windoved")
        case "not text":
            lines[2] = b"\xff\xfe" + lines[2]
        case "no header":
            lines = lines[1:]
        case "another file":
            lines = [b"dear diary,"]
    return b"".join(lines)


@pytest.mark.parametrize(
    "how",
    [
        "a value is missing",
        "a line is short",
        "not a number",
        "no such method",
        "not text",
        "no header",
        "another file",
    ],
)
def test_a_damaged_csv_file_is_refused_and_left_as_it_is(runs, tmp_path, how):
    path = tmp_path / "runs.csv"
    save_runs(path, TRUTH, runs[:3])
    damaged = damage_csv(path.read_bytes(), how)
    assert damaged != path.read_bytes()
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match=r"file .*runs\.csv' is damaged .* move it away"):
        sweep(TRUTH, GRID, 1, file=path)
    assert path.read_bytes() == damaged


@pytest.mark.parametrize("part", [slice(0, 100), slice(50, None), slice(0, 0)])
def test_a_damaged_parquet_file_is_refused_and_left_as_it_is(runs, tmp_path, part):
    path = tmp_path / "runs.parquet"
    save_runs(path, TRUTH, runs[:3])
    damaged = path.read_bytes()[part]
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match=r"file .*runs\.parquet' is damaged"):
        sweep(TRUTH, GRID, 1, file=path)
    assert path.read_bytes() == damaged
    assert os.listdir(tmp_path) == [path.name]


def test_runs_of_another_truth_are_refused(runs, path):
    save_runs(path, OTHER, runs[:1])
    before = path.read_bytes()
    with pytest.raises(ValueError, match="another truth or engine"):
        sweep(TRUTH, GRID, 1, file=path)
    assert path.read_bytes() == before


def test_a_file_that_is_not_there_is_told(path):
    with pytest.raises(FileNotFoundError):
        load_runs(path, TRUTH)


def test_runs_of_a_truth_of_another_size_are_refused(runs, path):
    bigger = RiemannianHMM.from_parameters(Hyperbolic(3), [1.0], [[1.0]], [[0, 0, 0]], [1.0])
    save_runs(path, bigger, [run_once(bigger, Configuration("ceiling", 50), 0)])
    with pytest.raises(ValueError, match="another truth"):
        load_runs(path, TRUTH)


def test_runs_of_another_engine_are_refused(runs, path, monkeypatch):
    save_runs(path, TRUTH, runs[:1])
    monkeypatch.setattr("rhmm.__version__", "99.0")
    with pytest.raises(ValueError, match=r"rhmm 0\..*this is .* rhmm 99\.0"):
        load_runs(path, TRUTH)


def test_the_fingerprint_is_of_every_digit_and_of_the_manifold():
    assert fingerprint(TRUTH) == fingerprint(RiemannianHMM.from_parameters(
        Hyperbolic(2), *TRUTH.parameters_
    ))  # fmt: skip
    assert fingerprint(TRUTH) != fingerprint(OTHER)


@pytest.mark.parametrize(
    ("name", "message"),
    [("runs.txt", r"\.csv or \.parquet"), ("nowhere/runs.csv", "directory that exists")],
)
def test_a_file_that_cannot_be_is_refused_before_anything_runs(tmp_path, name, message):
    with pytest.raises(ValueError, match=f"file must .*{message}"):
        sweep(TRUTH, GRID, 1, file=tmp_path / name)
