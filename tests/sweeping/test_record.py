"""The file of a sweep: runs are written as they come, by one sweep at a time."""

import errno
import os
import shutil

import pytest

from rhmm import sweep
from rhmm.sweeping import load_runs, save_runs
from rhmm.sweeping import record as record_module
from rhmm.sweeping.record import CannotWriteError, Record
from tests.sweeping.tasks import GRID, OTHER, TRUTH


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


def test_only_one_writes_to_a_file_at_a_time(runs, path):
    pytest.importorskip("fcntl")
    busy = rf"cannot write to '.*/{path.name}': another sweep is writing to it"
    with Record(path, TRUTH) as first:
        first.append(runs[0])
        with pytest.raises(CannotWriteError, match=busy):
            Record(path, TRUTH)
        first.append(runs[1])
    assert load_runs(path, TRUTH) == runs[:2]
    assert os.listdir(path.parent) == [path.name]
    with Record(path, TRUTH) as second:
        assert list(second.known.values()) == runs[:2]


def test_no_other_sweep_can_write_between_reading_and_writing(runs, tmp_path, monkeypatch):
    pytest.importorskip("fcntl")
    path, read, refused = tmp_path / "runs.csv", record_module.read_csv, []

    def read_while_another_comes(*arguments):
        with monkeypatch.context() as undone:
            undone.setattr(record_module, "read_csv", read)
            try:
                with Record(path, TRUTH) as other:
                    other.append(runs[1])
            except CannotWriteError as error:
                refused.append(error)
        return read(*arguments)

    save_runs(path, TRUTH, runs[:1])
    monkeypatch.setattr(record_module, "read_csv", read_while_another_comes)
    with Record(path, TRUTH) as record:
        record.append(runs[2])
    assert len(refused) == 1
    assert read(path, TRUTH)[0] == [runs[0], runs[2]]


def test_a_sweep_that_ends_while_another_opens_its_file_loses_nothing(runs, path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    flock, ended = fcntl.flock, []

    def end_the_first_and_lock(*arguments):
        if not ended:
            ended.append(True)
            first.__exit__(None, None, None)
        flock(*arguments)

    first = Record(path, TRUTH)
    first.append(runs[0])
    monkeypatch.setattr(fcntl, "flock", end_the_first_and_lock)
    with Record(path, TRUTH) as second:
        assert list(second.known.values()) == runs[:1]
        second.append(runs[1])
        assert load_runs(path, TRUTH) == runs[:2]
    assert load_runs(path, TRUTH) == runs[:2]
    assert os.listdir(path.parent) == [path.name]


def test_a_sweep_that_failed_lets_others_write(runs, path):
    save_runs(path, TRUTH, runs[:1])
    with pytest.raises(KeyError), Record(path, TRUTH):
        raise KeyError
    with pytest.raises(ValueError, match="another truth"):
        Record(path, OTHER)
    with Record(path, TRUTH) as record:
        record.append(runs[1])
    assert load_runs(path, TRUTH) == runs[:2]


def test_a_file_that_a_child_still_has_is_free_when_its_sweep_is_over(path):
    with Record(path, TRUTH) as record:
        shared = os.dup(record._out.fileno())  # what a fork without our hook would have
    try:
        with Record(path, TRUTH):
            pass
    finally:
        os.close(shared)


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="nothing forks here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks beside threads
def test_a_fork_leaves_file_and_lock_to_its_parent(runs, path):
    with Record(path, TRUTH) as record:
        child = os.fork()
        if child == 0:
            try:
                record.__exit__(None, None, None)
                os._exit(0 if record._out.closed else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        record.append(runs[0])
        with pytest.raises(CannotWriteError, match="another sweep"):
            Record(path, TRUTH)
    assert load_runs(path, TRUTH) == runs[:1]


@pytest.mark.parametrize("code", ["ENOLCK", "EOPNOTSUPP"])
def test_a_file_system_without_locks_is_written_to_all_the_same(runs, path, monkeypatch, code):
    fcntl = pytest.importorskip("fcntl")

    def have_no_locks(*_):
        raise OSError(getattr(errno, code), "no locks")

    monkeypatch.setattr(fcntl, "flock", have_no_locks)
    with Record(path, TRUTH) as record:
        record.append(runs[0])
    assert load_runs(path, TRUTH) == runs[:1]


def test_a_machine_without_locks_writes_all_the_same(runs, path, monkeypatch):
    monkeypatch.setattr(record_module, "fcntl", None)
    with Record(path, TRUTH) as record:
        record.append(runs[0])
    assert load_runs(path, TRUTH) == runs[:1]
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("reading", ["read_csv", "read_parquet"])
def test_a_sweep_that_ends_while_its_file_is_read_hides_no_runs(
    runs, tmp_path, monkeypatch, reading
):
    path, read = tmp_path / "runs.parquet", getattr(record_module, reading)
    save_runs(path, TRUTH, runs[:1])
    record = Record(path, TRUTH)
    record.append(runs[1])

    def read_while_the_sweep_ends(*arguments):
        monkeypatch.undo()
        if reading == "read_csv":
            record.__exit__(None, None, None)  # between the look for the journal and its reading
            return read(*arguments)
        whole = read(*arguments)
        record.__exit__(None, None, None)
        return whole

    monkeypatch.setattr(record_module, reading, read_while_the_sweep_ends)
    assert load_runs(path, TRUTH) == runs[:2]


def test_a_run_that_was_written_twice_is_one_run(runs, path):
    save_runs(path, TRUTH, [runs[0], runs[1], runs[0]])
    assert load_runs(path, TRUTH) == runs[:2]


def test_a_missing_file_is_a_file_not_found_error(path):
    with pytest.raises(FileNotFoundError):
        load_runs(path, TRUTH)


@pytest.mark.parametrize(
    ("name", "message"),
    [("runs.txt", r"\.csv or \.parquet"), ("nowhere/runs.csv", "directory that exists")],
)
def test_a_wrong_name_of_a_file_is_refused_before_anything_runs(tmp_path, name, message):
    with pytest.raises(ValueError, match=f"file must .*{message}"):
        sweep(TRUTH, GRID, 1, file=tmp_path / name)
