"""Many runs on any executor: their order, their cancellation, and what is kept of them."""

import os
import signal
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from rhmm import NotRecordedWarning, RunFailedError, open_executor, sweep
from rhmm.sweeping import Configuration, load_runs, run_once
from rhmm.sweeping.record import Record
from tests.sweeping import tasks
from tests.sweeping.tasks import GRID, TRUTH, without_times

RUNS = 3


class Here(ThreadPoolExecutor):
    """One thread of this process, which counts what it is given."""

    def __init__(self):
        super().__init__(1)
        self.submitted = 0

    def submit(self, *args, **kwargs):
        self.submitted += 1
        return super().submit(*args, **kwargs)


@pytest.fixture
def here():
    with Here() as executor:
        yield executor


@pytest.fixture(scope="module")
def expected():
    """Run by run, with nothing but `run_once`."""
    return [run_once(TRUTH, configuration, seed) for configuration in GRID for seed in range(RUNS)]


def stop_after(count):
    def stop(run):
        nonlocal count
        count -= 1
        if count == 0:
            raise StopIteration

    return stop


def test_a_sweep_is_its_runs_in_the_order_of_grid_and_seeds(here, expected):
    assert without_times(sweep(TRUTH, GRID, RUNS, here)) == without_times(expected)


def test_processes_give_the_same_numbers_and_survive_the_death_of_one(expected):
    with open_executor(workers=2) as executor:
        victim = executor.submit(os.getpid).result()
        came = []

        def kill(run):
            came.append(run)
            if len(came) == 2:
                os.kill(victim, signal.SIGKILL)

        runs = sweep(TRUTH, GRID, RUNS, executor, kill)
    assert without_times(runs) == without_times(expected)
    assert len(came) == len(runs)
    assert set(came) == set(runs)


def test_without_an_executor_it_runs_in_processes_of_its_own(expected):
    assert without_times(sweep(TRUTH, GRID[:1], 1)) == without_times(expected[:1])


def test_a_sweep_survives_the_break_of_a_pool_of_the_standard_library(expected):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        victims = [pool.submit(os.getpid).result()]

        def kill_once(run):
            if victims:
                os.kill(victims.pop(), signal.SIGKILL)

        runs = sweep(TRUTH, GRID, RUNS, pool, kill_once)
    assert without_times(runs) == without_times(expected)


def test_seeds_can_be_named(here, expected):
    runs = sweep(TRUTH, GRID, [2, 0, 2], here)
    assert [run.seed for run in runs] == [2, 0] * len(GRID)
    assert without_times(runs[:2]) == without_times([expected[2], expected[0]])


def test_the_largest_seed_can_be_kept(here, path):
    runs = sweep(TRUTH, [Configuration("ceiling", 50)], [2**63 - 1], here, file=path)
    assert load_runs(path, TRUTH) == runs


def test_a_configuration_given_twice_is_run_once(here):
    assert len(sweep(TRUTH, [*GRID[:2], GRID[0]], 1, here)) == here.submitted == 2


def test_each_seed_begins_with_what_takes_longest():
    submitted = []

    class Order(ThreadPoolExecutor):
        def submit(self, function, version, truth, task, learner):
            submitted.append(task)
            return super().submit(function, version, truth, task, learner)

    long = Configuration("windowed", 400, window=300)
    with Order(1) as executor:
        sweep(TRUTH, [Configuration("streaming", 400, window=60), long], 2, executor)
    assert [task.seed for task in submitted] == [0, 0, 1, 1]
    assert submitted[0].configuration == submitted[2].configuration == long


def test_runs_before_a_cancellation_are_kept_and_not_computed_again(path, expected):
    with Here() as first:
        done = sweep(TRUTH, GRID, RUNS, first, stop_after(5), path)
    assert len(done) == 5
    assert len(load_runs(path, TRUTH)) == 5
    with Here() as second:
        came = []
        runs = sweep(TRUTH, GRID, RUNS, second, came.append, path)
    assert second.submitted == len(expected) - 5
    assert set(done) == set(came[:5])  # what the file holds comes first, with its times
    assert set(done) < set(runs)
    assert without_times(runs) == without_times(expected)
    with Here() as third:
        assert sweep(TRUTH, GRID, RUNS, third, file=path) == runs
    assert third.submitted == 0


def test_cancelling_a_sweep_cancels_the_tasks_that_wait():
    class Idle(ThreadPoolExecutor):
        """Runs the first task only."""

        def submit(self, *args):
            self.futures = [*getattr(self, "futures", []), Future()]
            return self.futures[-1] if self.futures[1:] else super().submit(*args)

    with Idle(1) as executor:
        runs = sweep(TRUTH, GRID, RUNS, executor, stop_after(1))
    assert len(runs) == 1
    assert all(future.cancelled() for future in executor.futures[1:])


def test_an_executor_that_loses_its_tasks_is_a_connection_error():
    class Lost(ThreadPoolExecutor):
        def submit(self, *args):
            future = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    with pytest.raises(ConnectionError, match="lost"), Lost(1) as executor:
        sweep(TRUTH, GRID, 1, executor)


def test_an_error_of_a_run_says_which_run(here, monkeypatch):
    monkeypatch.setattr("rhmm.sweeping.run.run_once", lambda *task: tasks.fail())
    with pytest.raises(RunFailedError, match=r"ceiling.*, T=50, seed 7 failed") as caught:
        sweep(TRUTH, [Configuration("ceiling", 50)], [7], here)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_full_disk_stops_the_sweep_and_loses_nothing(here, path, expected):
    resource = pytest.importorskip("resource")
    size = []

    def fill_the_disk(run):
        if not size:  # from now on files cannot grow by more than half a line
            (grown,) = path.parent.iterdir()
            size.append(grown.stat().st_size)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size[0] + 100, limits[1]))

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with pytest.warns(NotRecordedWarning, match="cannot write to .* stops with 2 of its 21"):
            runs = sweep(TRUTH, GRID, RUNS, here, fill_the_disk, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert len(runs) == 2
    assert len(load_runs(path, TRUTH)) == 1
    assert without_times(sweep(TRUTH, GRID, RUNS, here, file=path)) == without_times(expected)


def test_a_full_disk_does_not_hide_an_earlier_error(here, tmp_path):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill_the_disk_and_fail(run):
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
        raise KeyError("mine")

    path = tmp_path / "runs.parquet"
    try:
        with pytest.raises(KeyError, match="mine") as caught:
            sweep(TRUTH, GRID, RUNS, here, fill_the_disk_and_fail, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "cannot write to" in caught.value.__notes__[-1]
    assert len(load_runs(path, TRUTH)) == 1


def test_runs_are_returned_but_not_kept_when_the_disk_is_full_at_once(here, path, expected):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        with pytest.warns(NotRecordedWarning, match="cannot write to .* are not kept"):
            runs = sweep(TRUTH, GRID, RUNS, here, file=path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert without_times(runs) == without_times(expected)
    assert os.listdir(path.parent) == []


def test_runs_are_returned_but_not_kept_when_another_sweep_has_the_file(here, path, expected):
    pytest.importorskip("fcntl")
    with Record(path, TRUTH) as other:
        other.append(expected[0])
        with pytest.warns(NotRecordedWarning, match="another sweep is writing .* are not kept"):
            runs = sweep(TRUTH, GRID, RUNS, here, file=path)
        other.append(expected[1])
    assert runs[0] == expected[0]  # with its time: what the file held is not done again
    assert here.submitted == len(expected) - 1
    assert without_times(runs) == without_times(expected)
    assert load_runs(path, TRUTH) == expected[:2]


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        (0, "runs must be at least 1"),
        (-3, "runs must be at least 1"),
        (2.5, "runs must be a whole number"),
        ([], "runs must hold at least one seed"),
        ([0, -1], "every seed in runs"),
        (["a"], "every seed in runs"),
        ([0, 2**63], r"every seed in runs must be below 2\*\*63, not 9223372036854775808"),
    ],
)
def test_wrong_runs_are_named(runs, message):
    with pytest.raises(ValueError, match=message):
        sweep(TRUTH, GRID, runs)


def test_a_sweep_over_something_else_than_a_model_is_refused():
    with pytest.raises(ValueError, match="truth must be a RiemannianHMM, not None"):
        sweep(None, GRID, 1)
