"""Worker processes: their deaths, their errors, and how a pool of them ends."""

import os
import subprocess
import sys
from concurrent.futures import BrokenExecutor, CancelledError
from threading import Thread

import pytest

from rhmm.sweeping.workers import WorkerPool, processors
from tests.sweeping import tasks


@pytest.fixture(scope="module")
def pool():
    with WorkerPool(2) as pool:
        yield pool


def test_calls_run_in_other_processes_at_the_same_time(pool, tmp_path):
    marker = tmp_path / "marker"
    waiting = pool.submit(tasks.wait_for, marker)
    other = pool.submit(marker.touch)  # would never come after the first in the same process
    assert other.result(timeout=600) is None
    assert waiting.result(timeout=600) != os.getpid()


def test_workers_keep_freed_memory_unless_the_caller_says_otherwise(monkeypatch):
    # A Dask cluster that an earlier test of this process has started sets it.
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    with WorkerPool(1) as pool:
        assert int(pool.submit(os.getenv, "MALLOC_TRIM_THRESHOLD_").result(timeout=600)) >= 2**20
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "4096")
    with WorkerPool(1) as pool:
        assert pool.submit(os.getenv, "MALLOC_TRIM_THRESHOLD_").result(timeout=600) == "4096"


def test_the_tasks_of_a_killed_worker_are_done_by_another(pool, tmp_path):
    futures = [pool.submit(tasks.die_the_first_time, tmp_path / str(i)) for i in range(5)]
    assert [future.result(timeout=600) for future in futures] == ["done"] * 5


def test_a_task_that_kills_every_worker_is_given_up_and_the_pool_lives_on(pool):
    with pytest.raises(BrokenExecutor, match="died of the same task"):
        pool.submit(tasks.die).result(timeout=600)
    assert pool.submit(abs, -1).result(timeout=600) == 1


def test_an_error_comes_back_with_its_traceback(pool):
    with pytest.raises(KeyError, match="no such thing") as caught:
        pool.submit(tasks.fail).result(timeout=600)
    assert "tasks.py" in "".join(caught.value.__notes__)


def test_what_a_task_prints_is_not_taken_for_its_answer(pool):
    assert pool.submit(tasks.print_something).result(timeout=600) != os.getpid()


def test_cancelling_ends_what_runs_and_what_waits(tmp_path):
    pool = WorkerPool(1)
    running = pool.submit(tasks.wait_for, tmp_path / "never")
    waiting = pool.submit(abs, -1)
    while not running.running():
        pass
    pool.shutdown(cancel_futures=True)
    assert waiting.cancelled()
    with pytest.raises(BrokenExecutor, match="shut down"):
        running.result(timeout=600)
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(abs, -1)


def test_a_call_submitted_while_the_pool_closes_does_not_wait_for_ever(tmp_path):
    pool = WorkerPool(1)
    calls, closing = pool._calls, Thread(target=pool.shutdown, kwargs={"cancel_futures": True})

    class Interrupted:
        """The pool closes when a call is about to be put into its queue."""

        get, get_nowait = calls.get, calls.get_nowait

        def put(self, item):
            if item is not None:
                closing.start()
                closing.join(0.3)
            calls.put(item)

    pool._calls = Interrupted()
    future = pool.submit(tasks.wait_for, tmp_path / "never")
    closing.join()
    with pytest.raises((CancelledError, BrokenExecutor)):
        future.result(timeout=0)


def test_closing_waits_for_what_was_submitted():
    with WorkerPool(1) as pool:
        futures = [pool.submit(abs, -i) for i in range(20)]
    assert [future.result(timeout=0) for future in futures] == list(range(20))


def test_a_script_without_a_guard_is_run_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "print('begun')\n"
        "from rhmm.sweeping.workers import WorkerPool\n"
        "with WorkerPool(1) as pool: print(pool.submit(abs, -7).result())\n"
    )
    ran = subprocess.run(
        [sys.executable, script],
        env=os.environ | {"PYTHONPATH": os.getcwd()},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == ["begun", "7"]


def test_ending_the_program_does_not_wait_for_its_tasks(tmp_path):
    """The task waits for a file that appears only after the program has ended."""
    marker = tmp_path / "marker"
    program = (
        "from pathlib import Path; from rhmm.sweeping.workers import WorkerPool\n"
        "from tests.sweeping import tasks\n"
        f"future = WorkerPool(1).submit(tasks.wait_for, Path({str(marker)!r}))\n"
        "while not future.running(): pass\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)
    marker.touch()


@pytest.mark.parametrize("workers", [0, -1, 1.5, "two"])
def test_a_wrong_number_of_workers_is_named(workers):
    with pytest.raises(ValueError, match="workers"):
        WorkerPool(workers)


def test_only_processors_that_this_process_may_run_on_count(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5}, raising=False)
    assert processors() == 2


@pytest.mark.parametrize(("count", "expected"), [(64, 64), (None, 1)])
def test_all_processors_count_where_the_system_names_none(monkeypatch, count, expected):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: count)
    assert processors() == expected
