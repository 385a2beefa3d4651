"""The command line, end to end."""

import json
import os
import re
import signal
import subprocess
import time
import warnings
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from types import SimpleNamespace

import pytest
from distributed import KilledWorker

from rhmm import Configuration, sweep, table
from rhmm.__main__ import main
from rhmm.learners.registry import LEARNERS
from rhmm.paper import paper_model
from rhmm.sweeping import grid, load_runs, run_once
from rhmm.sweeping.record import CannotWriteError, Record
from rhmm.sweeping.workers import WorkerPool
from tests.prepared import REAL_PYTHON
from tests.sweeping.tasks import without_times

SMALL = ["--algorithm", "windowed,em", "--delta", "20,60", "--length", "400", "--runs", "3"]
CLOSED_PORT = "tcp://127.0.0.1:1"


@pytest.fixture(scope="module")
def expected():
    return sweep(paper_model(), grid(["windowed", "em"], window=[20, 60], length=400), 3)


def test_a_sweep_prints_a_summary_and_leaves_its_runs(tmp_path, capsys, expected):
    path = tmp_path / "runs.parquet"
    main(["sweep", *SMALL, "--out", str(path)])
    assert set(without_times(load_runs(path, paper_model()))) == set(without_times(expected))
    out = capsys.readouterr().out
    assert "windowed, convex update, Δ=20" in out
    assert "enough to be within 1% of the ceiling" in out


@pytest.mark.parametrize("name", ["runs.csv", "runs.parquet"])
def test_a_sweep_killed_in_the_middle_goes_on_where_it_stopped(tmp_path, name, expected):
    path, journal = tmp_path / name, tmp_path / "runs.parquet.journal.csv"
    grows = path if name == "runs.csv" else journal
    many = [REAL_PYTHON, "-m", "rhmm", "sweep", *SMALL[:-1], "100000", "--out", str(path)]
    process = subprocess.Popen(many)
    while not grows.exists() or grows.read_bytes().count(b"\n") < 4:
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = load_runs(path, paper_model())
    assert 3 <= len(before) < 300_000
    main(["sweep", *SMALL, "--out", str(path)])
    after = load_runs(path, paper_model())
    assert set(before) <= set(after)  # to the last digit, times too: they were not run again
    assert set(without_times(expected)) <= set(without_times(after))


def test_the_truth_can_come_from_a_file(tmp_path, capsys):
    paper_model().save(tmp_path / "truth.json")
    arguments = ["--algorithm", "ceiling", "--length", "400", "--runs", "1"]
    for name, truth in (("a.csv", ["--truth", str(tmp_path / "truth.json")]), ("b.csv", [])):
        main(["sweep", *arguments, *truth, "--out", str(tmp_path / name)])
    a, b = (load_runs(tmp_path / name, paper_model()) for name in ("a.csv", "b.csv"))
    assert without_times(a) == without_times(b)


def test_a_sweep_needs_the_scheduler_that_it_was_given(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["sweep", *SMALL, "--scheduler", CLOSED_PORT, "--out", str(tmp_path / "runs.csv")])
    assert ended.value.code == 1
    assert f"no Dask scheduler answers at {CLOSED_PORT}" in capsys.readouterr().err
    assert not (tmp_path / "runs.csv").exists()


def test_this_machine_is_used_when_no_scheduler_answers_and_fall_back_is_given(
    tmp_path, capsys, expected
):
    path = tmp_path / "runs.csv"
    main(["sweep", *SMALL, "--scheduler", CLOSED_PORT, "--fall-back", "--out", str(path)])
    assert "using this machine" in capsys.readouterr().err
    assert set(without_times(load_runs(path, paper_model()))) == set(without_times(expected))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--delta", "500", "--length", "400"], "length must be at least 500 for streaming"),
        (["--delta", "2"], "window"),
        (["--delta", "many"], "--delta/--window: must be whole numbers: 40,60,200"),
        (["--window", "many"], "--delta/--window: must be whole numbers"),
        (["--algorithm", "magic"], "--algorithm: must be of windowed,"),
        (["--algorithm", "em,"], "--algorithm: must be of windowed,"),
        (["--transition-update", "bogus"], "--update/--transition-update: must be of paper,convex"),
        (["--update", "bogus"], "--update/--transition-update: must be of paper,convex"),
        (["--algorithm", "em", "--memory", "x"], "--memory: must be of growing,fixed, not 'x'"),
        (["--algorithm", "em", "--init", "warm"], "--init: must be of kmeans,cold"),
        (["--runs", "0"], "--runs: must be a whole number, at least 1"),
        (["--runs", "x"], "--runs: must be a whole number, at least 1"),
        (["--out", "runs.xls"], "file must end in"),
        (["--truth", "nothing.txt"], "path"),
    ],
)
def test_a_wrong_option_of_a_sweep_ends_with_a_sentence(tmp_path, capsys, arguments, word):
    with pytest.raises(SystemExit) as ended:
        main(["sweep", "--out", str(tmp_path / "runs.csv"), *arguments])
    assert ended.value.code == 2
    assert word in capsys.readouterr().err


@pytest.mark.filterwarnings("default")
def test_a_warning_does_not_make_a_sweep_fail(tmp_path, capsys, monkeypatch, expected):
    def warn_and_sweep(*arguments):
        warnings.warn("nothing that matters", UserWarning, stacklevel=2)
        return expected

    monkeypatch.setattr("rhmm.commands.sweep.sweep", warn_and_sweep)
    main(["sweep", *SMALL, "--out", str(tmp_path / "runs.csv")])
    printed = capsys.readouterr()
    assert "UserWarning: nothing that matters" in printed.err
    assert "Δ=20" in printed.out


def test_a_table_of_short_chains_is_refused_in_its_own_words(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["table", "--length", "1000"])
    assert ended.value.code == 2
    assert "length must be at least 5000" in capsys.readouterr().err


def test_a_full_disk_ends_the_sweep_with_a_sentence(tmp_path, capsys, monkeypatch):
    def full(record, run):
        raise CannotWriteError("cannot write to 'runs.csv': No space left on device")

    monkeypatch.setattr(Record, "append", full)
    with pytest.raises(SystemExit) as ended:
        main(["sweep", *SMALL, "--out", str(tmp_path / "runs.csv")])
    assert ended.value.code == 1
    printed = capsys.readouterr()
    assert "No space left on device" in printed.err
    assert "Δ=" in printed.out or "EM" in printed.out  # what it had computed


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("the sweep is of rhmm 1, its worker has 2"), "its worker has 2"),
        (BrokenExecutor("3 worker processes died of the same task"), "died of the same task"),
        (MemoryError(), "MemoryError"),
        (KilledWorker("it", SimpleNamespace(address="tcp://w:1"), 3), "KilledWorker: Attempted"),
        (ValueError("no such thing"), "ValueError: no such thing"),
    ],
)
def test_a_run_that_fails_ends_with_a_sentence(tmp_path, capsys, monkeypatch, error, words):
    def fail(executor, *call):
        future = Future()
        future.set_exception(error)
        return future

    monkeypatch.setattr(WorkerPool, "submit", fail)
    with pytest.raises(SystemExit) as ended:
        main(["sweep", *SMALL, "--out", str(tmp_path / "runs.csv")])
    assert ended.value.code == 1
    (sentence,) = capsys.readouterr().err.splitlines()
    assert re.search(r"the run of (windowed|EM).*, T=400, seed \d failed: ", sentence)
    assert words in sentence


def test_a_chain_too_long_for_the_memory_ends_with_a_sentence(tmp_path, capsys):
    endless = ["--algorithm", "ceiling", "--length", "999999999999999", "--runs", "1"]
    with pytest.raises(SystemExit) as ended:
        main(["sweep", *endless, "--out", str(tmp_path / "runs.csv")])
    assert ended.value.code == 1
    printed = capsys.readouterr().err
    assert "T=999999999999999, seed 0 failed" in printed
    assert "Traceback" not in printed


@pytest.fixture
def nothing_computes(monkeypatch):
    def compute(*_):
        raise AssertionError("it computes")

    monkeypatch.setattr("rhmm.sweeping.schedule.compute_runs", compute)


@pytest.mark.parametrize("name", ["runs.csv", "runs.parquet"])
def test_a_file_that_cannot_be_written_ends_the_sweep_at_once(
    tmp_path, capsys, nothing_computes, name
):
    grows = "runs.csv" if name == "runs.csv" else "runs.parquet.journal.csv"
    (tmp_path / grows).symlink_to(tmp_path / "nowhere" / "runs.csv")
    with pytest.raises(SystemExit) as ended:
        main(["sweep", *SMALL, "--out", str(tmp_path / name)])
    assert ended.value.code == 1
    printed = capsys.readouterr()
    assert re.fullmatch(rf"rhmm sweep: cannot write to '.*/{name}': .*\n", printed.err)
    assert printed.out == ""


@pytest.mark.parametrize("name", ["runs.csv", "runs.parquet"])
def test_a_file_of_another_sweep_ends_the_sweep_at_once(tmp_path, capsys, nothing_computes, name):
    pytest.importorskip("fcntl")
    path = tmp_path / name
    with Record(path, paper_model()), pytest.raises(SystemExit) as ended:
        main(["sweep", *SMALL, "--out", str(path)])
    assert ended.value.code == 1
    printed = capsys.readouterr()
    assert printed.err == (
        f"rhmm sweep: cannot write to {str(path)!r}: another sweep is writing to it\n"
    )
    assert printed.out == ""


def test_a_command_is_required(capsys):
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "required: command" in capsys.readouterr().err


@contextmanager
def no_reader():
    """A stdout whose reader has gone, as of ``| head -0``; at the end the rest is flushed."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as stdout, redirect_stdout(stdout):
        yield


@pytest.mark.parametrize(
    "arguments", [["sweep", *SMALL, "--out", "runs.csv"], ["table"], ["table", "--json"]]
)
def test_output_that_is_not_read_is_no_error(capsys, monkeypatch, expected, arguments):
    for command in ("sweep", "table"):
        monkeypatch.setattr(f"rhmm.commands.{command}.sweep", lambda *_: expected)
    with no_reader():
        main(arguments)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
def test_a_summary_that_cannot_be_printed_is_an_error_and_the_runs_are_kept(tmp_path):
    path = tmp_path / "runs.csv"
    small = ["--algorithm", "ceiling", "--length", "50", "--runs", "1", "--out", str(path)]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [REAL_PYTHON, "-m", "rhmm", "sweep", *small],
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert ended.returncode != 0
    assert ended.stderr.startswith("rhmm sweep: [Errno 28]")
    assert len(load_runs(path, paper_model())) == 1


def test_help_that_is_not_read_is_no_error(capsys):
    with no_reader(), pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().err == ""


def test_the_table_as_json_is_the_sweep_over_its_configurations(capsys):
    main(["table", "--runs", "1", "--length", "5000", "--json"])
    content = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in content["rows"]][-3:] == [
        "K-means",
        "EM",
        "true parameters (the ceiling)",
    ]
    for row, run in zip(content["rows"], content["runs"], strict=True):
        assert row["configuration"] == run["configuration"]
        assert row["accuracy"]["mean"] == run["accuracy"]
        assert row["diagonal"] == run["diagonal"]


@pytest.mark.parametrize("flags", [("--delta", "--update"), ("--window", "--transition-update")])
def test_flags_have_a_short_and_a_long_name(tmp_path, capsys, flags):
    window, update = flags
    given = ["--algorithm", "windowed", window, "20", update, "paper,convex"]
    path = tmp_path / "runs.csv"
    main(["sweep", *given, "--length", "400", "--runs", "1", "--out", str(path)])
    names = [run.configuration.name for run in load_runs(path, paper_model())]
    assert sorted(names) == ["windowed, convex update, Δ=20", "windowed, paper's update, Δ=20"]


def test_options_that_are_left_out_have_the_defaults_of_the_learner(tmp_path, capsys):
    path = tmp_path / "runs.csv"
    main(
        [
            "sweep",
            "--algorithm",
            "streaming,auto",
            "--length",
            "400",
            "--runs",
            "1",
            "--out",
            str(path),
        ]
    )
    runs = load_runs(path, paper_model())
    assert {run.configuration for run in runs} == set(grid(["streaming", "auto"], length=400))


def test_help_names_every_learner_and_every_option(capsys):
    with pytest.raises(SystemExit):
        main(["sweep", "--help"])
    printed = capsys.readouterr().out
    assert ",".join(LEARNERS) in printed
    for flag in ("--delta", "--window", "--update", "--transition-update", "--memory", "--init"):
        assert flag in printed


def test_the_table_shows_ours_beside_the_papers(capsys, monkeypatch):
    runs = [
        replace(run_once(paper_model(), Configuration("ceiling", 50), 0), configuration=row)
        for row in table.configurations()
    ]
    monkeypatch.setattr("rhmm.commands.table.sweep", lambda *_: runs)
    main(["table"])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    for configuration in table.configurations():
        (line,) = [line for line in lines if re.match(rf"{re.escape(configuration.name)}  ", line)]
        printed = table.paper_row(configuration)
        assert printed is None or f"{printed.accuracy:.2f}" in line
    assert any(line.startswith("automatic memory  ") for line in lines)
