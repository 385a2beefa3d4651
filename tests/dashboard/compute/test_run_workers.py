import os
import signal
from dataclasses import replace

import numpy as np
import pytest

from dashboard.compute import jobs, run_workers, runs
from dashboard.compute.jobs import Cancelled
from dashboard.compute.run_workers import RunWorkers
from dashboard.model.experiment import Experiment

SHORT = Experiment(length=3_000, window=100, algorithms=("windowed",))


def ignore(run, doing, share):
    pass


@pytest.fixture(scope="module")
def workers():
    workers = RunWorkers(1)
    yield workers
    workers.close()


@pytest.fixture
def no_threads(monkeypatch):
    """Fails if a run is computed in the server itself."""

    def refuse(*_):
        raise AssertionError("computed in a thread")

    monkeypatch.setattr(runs, "compute", refuse)


def process_of(workers):
    return workers._free[0]._process.popen


def test_a_run_in_a_process_is_the_run_in_a_thread(workers):
    here, there = runs.compute(SHORT, ignore), workers.compute(SHORT, ignore)

    assert there.finished
    assert there.experiment == SHORT
    np.testing.assert_array_equal(there.points, here.points)
    np.testing.assert_array_equal(there.true_states, here.true_states)
    assert [method.key for method in there.methods] == [method.key for method in here.methods]
    for ours, theirs in zip(here.methods, there.methods, strict=True):
        np.testing.assert_array_equal(theirs.labels, ours.labels)
        np.testing.assert_array_equal(theirs.accuracies, ours.accuracies)
        assert theirs.accuracy == ours.accuracy


@pytest.mark.usefixtures("no_threads")
def test_reports_say_how_far_it_is_and_send_each_method_once(workers):
    seen = []

    result = workers.compute(replace(SHORT, seed=1), lambda *said: seen.append(said))

    doing = [said[1] for said in seen]
    assert doing[0] == "Preparing the engine"
    assert [words for words in doing if words in ("Windowed", "K-means", "EM")]
    for run, _, share in seen:
        assert 0.0 <= share <= 1.0
        assert all(method in result.methods for method in run.methods)  # the very same objects


@pytest.mark.usefixtures("no_threads")
def test_methods_known_on_the_same_data_are_not_learned_again(workers):
    first = workers.compute(SHORT, ignore)
    doing = []

    other = replace(SHORT, window=200)
    second = workers.compute(other, lambda run, words, share: doing.append(words), first)

    assert not any(words.startswith(("EM", "K-means")) for words in doing)
    assert second.method("em").seconds == first.method("em").seconds
    assert second.method("windowed").accuracy != first.method("windowed").accuracy


@pytest.mark.usefixtures("no_threads")
def test_a_cancelled_run_stops_and_its_process_computes_the_next_one(workers):
    process = process_of(workers)

    def stop(run, doing, share):
        if run.methods:
            raise Cancelled

    with pytest.raises(Cancelled):
        workers.compute(SHORT, stop)
    assert workers.compute(SHORT, ignore).finished
    assert process_of(workers) is process


def test_a_run_whose_process_dies_is_computed_all_the_same(workers):
    process = process_of(workers)

    def kill(run, doing, share):
        if run.methods and process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()

    assert workers.compute(SHORT, kill).finished
    assert process_of(workers).pid != process.pid
    assert workers.compute(SHORT, ignore).finished


@pytest.mark.usefixtures("no_threads")
def test_a_failure_in_the_process_is_the_failure_of_the_run(workers):
    strange = replace(SHORT)
    object.__setattr__(strange, "seed", "no number")

    with pytest.raises((TypeError, ValueError)):
        workers.compute(strange, ignore)
    assert workers.compute(SHORT, ignore).finished


@pytest.mark.usefixtures("no_threads")
def test_the_work_of_the_process_counts_as_the_work_of_the_job(workers):
    queue = jobs.JobQueue(workers.compute)

    job = queue.request(SHORT, "a visitor")

    assert job.wait(180.0)
    assert job.finished
    assert job._ticket.worked > 0.02


def test_long_runs_and_those_without_a_free_process_are_computed_in_the_server(workers):
    long = replace(SHORT, length=100_000, window=5_000)
    none = RunWorkers(0)

    assert run_workers.can_compute(SHORT)
    assert not run_workers.can_compute(long)
    assert none.compute(replace(SHORT, length=500), ignore).finished


def test_no_process_is_left_when_the_server_ends():
    run_workers.start()
    processes = [worker._process.popen for worker in run_workers._workers._free]
    try:
        assert processes
    finally:
        run_workers.stop()
    assert all(process.poll() is not None for process in processes)


def test_a_run_that_is_given_up_before_it_begins_keeps_no_process(workers):
    def give_up(run, doing, share):
        raise Cancelled

    with pytest.raises(Cancelled):
        workers.compute(SHORT, give_up)
    assert len(workers._free) == 1
