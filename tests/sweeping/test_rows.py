"""Runs as rows of a file: every digit comes back, and the rows of others are refused."""

import csv
import hashlib
import os

import numpy as np
import pytest
from pyarrow import parquet

from rhmm import SPD, Euclidean, Hyperbolic, RiemannianHMM, sweep
from rhmm.sweeping import Configuration, fingerprint, load_runs, run_once, save_runs
from rhmm.sweeping.record import Record
from tests.sweeping.tasks import GRID, OTHER, TRUTH


def test_every_digit_comes_back(runs, path):
    save_runs(path, TRUTH, runs)
    assert load_runs(path, TRUTH) == runs
    assert os.listdir(path.parent) == [path.name]


def test_a_csv_file_has_a_column_for_each_number(runs, tmp_path):
    save_runs(tmp_path / "runs.csv", TRUTH, runs)
    with (tmp_path / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row, run in zip(rows, runs, strict=True):
        assert row["learner"] == run.configuration.learner
        assert row["window"] == str(run.configuration.window or "")
        assert float(row["accuracy"]) == run.accuracy
        assert float(row["transmat_1_2"]) == run.transmat[1][2]
        assert float(row["means_2_0"]) == run.means[2][0]


def test_a_parquet_file_has_a_column_for_each_number(runs, tmp_path):
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


def damage_csv(content: bytes, how: str) -> bytes:
    lines = content.splitlines(keepends=True)
    match how:
        case "a value is missing":
            lines[2] = lines[2].replace(b",1,", b",,", 1)
        case "a line is short":
            lines[2] = lines[2].rpartition(b",")[0] + b"\n"
        case "not a number":
            lines[2] = lines[2].replace(b"0.", b"o.", 3)
        case "no such learner":
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
        "no such learner",
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


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << (bit % 8)
    return bytes(changed)


def test_no_bit_of_a_file_flips_unnoticed(runs, path):
    """Bits all over the file, at changing places in a byte, and all of the last byte."""
    save_runs(path, TRUTH, runs[:2])
    content = path.read_bytes()
    size = 8 * len(content)
    for bit in {*range(0, size, size // 700 | 1), *range(size - 8, size)}:
        path.write_bytes(flipped(content, bit))
        with pytest.raises(ValueError, match=r"(is damaged|written by|another size).*(give|move)"):
            load_runs(path, TRUTH)


def test_a_csv_file_without_checksums_is_read_and_goes_on(runs, tmp_path):
    path = tmp_path / "runs.csv"
    save_runs(path, TRUTH, runs[:2])
    lines = path.read_text().splitlines()
    path.write_text("".join(line.rpartition(",")[0] + "\n" for line in lines))
    assert load_runs(path, TRUTH) == runs[:2]
    with Record(path, TRUTH) as record:
        record.append(runs[2])
    assert load_runs(path, TRUTH) == runs[:3]


def test_a_parquet_file_that_lost_its_checksum_is_refused(runs, tmp_path):
    path = tmp_path / "runs.parquet"
    save_runs(path, TRUTH, runs[:2])
    path.write_bytes(path.read_bytes().replace(b"rhmm-sha256-", b"rhmm-sha512-"))
    with pytest.raises(ValueError, match="its checksum is missing"):
        load_runs(path, TRUTH)


def test_a_parquet_file_that_lost_a_block_before_its_checksum_is_refused(runs, tmp_path):
    """Some such files can be read, and seem to have no runs."""
    path = tmp_path / "runs.parquet"
    save_runs(path, TRUTH, runs[:4])
    content = path.read_bytes()
    last = content.rindex(b"checksum")
    for begin in range(last - 40, last):
        path.write_bytes(content[:begin] + bytes(64) + content[begin + 64 :])
        with pytest.raises(ValueError, match="is damaged"):
            load_runs(path, TRUTH)


def test_other_programs_read_a_parquet_file_with_a_checksum(runs, tmp_path):
    path = tmp_path / "runs.parquet"
    save_runs(path, TRUTH, runs)
    assert parquet.read_table(path)["seed"].to_pylist() == [run.seed for run in runs]
    assert parquet.read_table(path).column_names[-1] == "sigmas_2"


def test_the_last_column_of_a_csv_file_is_the_checksum_of_the_row(runs, tmp_path):
    save_runs(tmp_path / "runs.csv", TRUTH, runs[:2])
    header, *rows = (tmp_path / "runs.csv").read_bytes().splitlines()
    assert header.endswith(b",checksum")
    for row in rows:
        values, _, found = row.rpartition(b",")
        assert hashlib.sha256(values).hexdigest()[:16].encode() == found


def test_runs_of_another_truth_are_refused(runs, path):
    save_runs(path, OTHER, runs[:1])
    before = path.read_bytes()
    with pytest.raises(ValueError, match="another truth or engine"):
        sweep(TRUTH, GRID, 1, file=path)
    assert path.read_bytes() == before


def test_runs_of_a_truth_of_another_size_are_refused(runs, path):
    bigger = RiemannianHMM.from_parameters(Hyperbolic(3), [1.0], [[1.0]], [[0, 0, 0]], [1.0])
    save_runs(path, bigger, [run_once(bigger, Configuration("ceiling", 50), 0)])
    with pytest.raises(ValueError, match="another truth"):
        load_runs(path, TRUTH)


def test_runs_of_another_engine_are_refused(runs, path, monkeypatch):
    save_runs(path, TRUTH, runs[:1])
    monkeypatch.setattr("rhmm.sweeping.rows.__version__", "99.0")
    with pytest.raises(ValueError, match=r"rhmm 0\..*this is .* rhmm 99\.0"):
        load_runs(path, TRUTH)


def test_the_fingerprint_is_of_every_digit_and_of_the_manifold():
    assert fingerprint(TRUTH) == fingerprint(RiemannianHMM.from_parameters(
        Hyperbolic(2), *TRUTH.parameters_
    ))  # fmt: skip
    assert fingerprint(TRUTH) != fingerprint(OTHER)


def test_the_fingerprint_is_of_the_emission_with_its_covariances_and_tails():
    """They have the same σ: Σ has the same trace."""
    given = (Euclidean(2), [1.0], [[1.0]], [[0.0, 0.0]])
    wide, high = np.diag([3.0, 1.0]), np.diag([1.0, 3.0])
    truths = [
        RiemannianHMM.from_parameters(*given, emission=emission, covariances=covariances, **tails)
        for emission, covariances, tails in (
            ("full", [wide], {}),
            ("full", [high], {}),
            ("tied", wide, {}),
            ("student-full", [wide], {"degrees": 3.0}),
            ("student-full", [wide], {"degrees": 4.0}),
        )
    ]
    truths.append(RiemannianHMM.from_parameters(*given, truths[0].sigmas_))
    assert len({fingerprint(truth) for truth in truths}) == len(truths)


def test_the_fingerprint_of_the_papers_emission_stays_what_files_have():
    assert fingerprint(TRUTH) == "e6bbc911bf331f29"


@pytest.mark.parametrize("name", ["runs.csv", "runs.parquet"])
def test_a_file_of_rhmm_05_is_refused_with_a_sentence(runs, tmp_path, name):
    """Its columns began with truth, engine and method."""
    path = tmp_path / name
    save_runs(path, TRUTH, runs[:1])
    if name == "runs.csv":
        path.write_bytes(path.read_bytes().replace(b"truth,engine,learner", b"truth,engine,method"))
    else:
        table = parquet.read_table(path).replace_schema_metadata(None)
        parquet.write_table(table.rename_columns({"learner": "method"}), path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"was written by rhmm 0\.5: give another file"):
        sweep(TRUTH, GRID, 1, file=path)
    assert path.read_bytes() == before


def test_the_columns_are_the_options_of_all_learners_and_the_measures(runs, tmp_path):
    save_runs(tmp_path / "runs.csv", TRUTH, runs)
    header = (tmp_path / "runs.csv").read_text().splitlines()[0].split(",")
    assert header[:19] == [
        "truth", "engine", "learner", "length", "transition_update", "memory", "window", "init",
        "emission", "seed", "accuracy", "ceiling", "transition_error", "mean_error", "sigma_error",
        "log_likelihood", "seconds", "nbytes", "transmat_0_0",
    ]  # fmt: skip
