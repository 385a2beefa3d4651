import gc
import threading
import time
import weakref
from dataclasses import replace
from typing import NamedTuple

import pytest

from dashboard.compute import jobs, runs
from dashboard.model.experiment import Experiment

SMALL = Experiment(length=500, window=60)
PATIENCE = 600.0
"""Seconds: the first run may have to compile the kernels."""


PLACES = {"Queued, place 1", "Queued, place 2"}

HEAVY = Experiment(length=100_000, window=5_000)


def until(condition):
    """Wait for what a thread does in a moment."""
    for _ in range(int(PATIENCE / 0.01)):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come")


class Gate:
    """Stands in for the computation: it reports, waits to be let through, and reports again."""

    def __init__(self):
        self.begun = threading.Semaphore(0)
        self.opened = threading.Semaphore(0)
        self.count = 0

    def compute(self, experiment, report):
        self.count += 1
        run = runs.empty_run(experiment)
        report(run, "working", 0.5)
        self.begun.release()
        assert self.opened.acquire(timeout=PATIENCE)
        report(run, "working", 0.9)
        return run._replace(finished=True)

    def wait_until_begun(self):
        assert self.begun.acquire(timeout=PATIENCE)


@pytest.fixture
def gate():
    return Gate()


def test_a_job_gives_the_run_of_its_experiment():
    queue = jobs.JobQueue(runs.compute)
    job = queue.request(SMALL, jobs.FOREVER)  # compiling may outlast a visitor's patience

    assert job.wait(PATIENCE)
    assert job.error is None
    assert job.progress.result.experiment == SMALL
    assert job.progress.result.finished


def test_two_visitors_with_the_same_request_share_one_job(gate):
    queue = jobs.JobQueue(gate.compute)
    first = queue.request(SMALL, "me")
    gate.wait_until_begun()

    assert queue.request(SMALL, "you") is first
    gate.opened.release()
    assert first.wait(PATIENCE)
    assert queue.request(SMALL, "them") is first
    assert gate.count == 1


def test_a_job_goes_on_while_a_visitor_wants_it(gate):
    queue = jobs.JobQueue(gate.compute)
    job = queue.request(SMALL, "me")
    queue.request(SMALL, "you")
    gate.wait_until_begun()

    queue.leave("me")
    gate.opened.release()

    assert job.wait(PATIENCE)
    assert not job.cancelled


def test_a_job_ends_when_its_last_visitor_leaves(gate):
    queue = jobs.JobQueue(gate.compute)
    job = queue.request(SMALL, "me")
    gate.wait_until_begun()

    queue.leave("me")
    gate.opened.release()

    assert job.wait(PATIENCE)
    assert job.cancelled
    assert not job.progress.result.finished


def test_another_request_gives_up_the_job(gate):
    queue = jobs.JobQueue(gate.compute)
    job = queue.request(SMALL, "me")
    gate.wait_until_begun()

    queue.request(replace(SMALL, seed=1), "me")
    gate.opened.release()
    gate.opened.release()

    assert job.wait(PATIENCE)
    assert job.cancelled


def test_a_job_ends_when_no_visitor_looks_any_more(gate, monkeypatch):
    job = jobs.JobQueue(gate.compute).request(SMALL, "me")
    gate.wait_until_begun()

    monkeypatch.setattr(jobs, "PATIENCE", -1.0)
    gate.opened.release()

    assert job.wait(PATIENCE)
    assert job.cancelled


def test_a_cancelled_experiment_can_be_asked_for_again(gate):
    queue = jobs.JobQueue(gate.compute)
    first = queue.request(SMALL, "me")
    gate.wait_until_begun()
    queue.leave("me")
    gate.opened.release()
    assert first.wait(PATIENCE)

    second = queue.request(SMALL, "me")
    gate.opened.release()

    assert second is not first
    assert second.wait(PATIENCE)
    assert second.progress.result.finished


def test_more_jobs_than_slots_are_queued_and_say_so(gate):
    queue = jobs.JobQueue(gate.compute, slots=1)
    first = queue.request(SMALL, "me")
    gate.wait_until_begun()

    second = queue.request(replace(SMALL, seed=1), "you")

    third = queue.request(replace(SMALL, seed=2), "them")

    until(lambda: {second.progress.doing, third.progress.doing} == PLACES)
    queue.leave("them")
    assert third.wait(PATIENCE)
    assert second.progress.doing == "Queued, place 1"
    gate.opened.release()
    assert first.wait(PATIENCE)
    gate.wait_until_begun()
    assert second.progress.doing == "working"
    gate.opened.release()
    assert second.wait(PATIENCE)


def test_a_queued_job_ends_when_its_last_visitor_leaves(gate):
    queue = jobs.JobQueue(gate.compute, slots=1)
    queue.request(SMALL, "me")
    gate.wait_until_begun()
    second = queue.request(replace(SMALL, seed=1), "you")

    queue.leave("you")

    assert second.wait(PATIENCE)
    assert second.cancelled
    assert gate.count == 1
    gate.opened.release()


def test_a_failure_is_kept_for_the_page():
    def fail(experiment, report):
        raise ValueError("no such thing")

    queue = jobs.JobQueue(fail)
    job = queue.request(SMALL, "me")

    assert job.wait(PATIENCE)
    assert str(job.error) == "no such thing"
    assert queue.request(SMALL, "me") is not job


def test_a_known_run_is_shown_until_it_is_computed_anew(gate):
    known = runs.empty_run(SMALL)._replace(finished=True)
    job = jobs.JobQueue(gate.compute, known={SMALL: known}).request(SMALL, "me")
    gate.wait_until_begun()

    assert job.progress.result is known
    gate.opened.release()
    assert job.wait(PATIENCE)
    assert job.progress.result is not known


def test_only_the_latest_runs_are_kept(gate, monkeypatch):
    monkeypatch.setattr(jobs, "KEPT", 2)
    queue = jobs.JobQueue(gate.compute)
    made = []
    for seed in range(4):
        gate.opened.release()
        job = queue.request(replace(SMALL, seed=seed), "me")
        assert job.wait(PATIENCE)
        made.append(job)

    assert queue.request(replace(SMALL, seed=3), "me") is made[3]
    gate.opened.release()
    assert queue.request(replace(SMALL, seed=0), "me") is not made[0]


def test_cancelled_jobs_do_not_displace_finished_ones(gate, monkeypatch):
    monkeypatch.setattr(jobs, "KEPT", 1)
    queue = jobs.JobQueue(gate.compute)
    gate.opened.release()
    finished = queue.request(SMALL, "me")
    assert finished.wait(PATIENCE)
    for seed in range(1, 4):
        job = queue.request(replace(SMALL, seed=seed), "you")
        queue.leave("you")
        gate.opened.release()
        assert job.wait(PATIENCE)
        assert job.cancelled

    assert queue.request(SMALL, "me") is finished
    assert queue.results() == [finished.progress.result]


def test_a_queue_that_keeps_nothing_forgets_a_job_with_the_session_that_holds_it(gate):
    queue = jobs.JobQueue(gate.compute, keeps=False)
    gate.opened.release()
    job = queue.request(SMALL, "me")
    assert job.wait(PATIENCE)
    assert queue.request(SMALL, "me") is job

    gone = weakref.ref(job)
    del job
    job_thread_ends = [t for t in threading.enumerate() if t.name == "rhmm job"]
    for thread in job_thread_ends:
        thread.join(PATIENCE)
    gc.collect()

    assert gone() is None
    assert queue.find(SMALL) is None


def test_queues_that_share_turns_share_slots(gate):
    runs_queue = jobs.JobQueue(gate.compute, slots=1)
    other = jobs.JobQueue(gate.compute, turns=runs_queue.turns)
    first = runs_queue.request(SMALL, "me")
    gate.wait_until_begun()

    second = other.request(SMALL, "you")

    until(lambda: second.progress.doing == "Queued, place 1")
    gate.opened.release()
    gate.opened.release()
    assert first.wait(PATIENCE)
    assert second.wait(PATIENCE)


def test_what_the_server_itself_wants_is_never_forgotten(gate, monkeypatch):
    monkeypatch.setattr(jobs, "KEPT", 2)
    queue = jobs.JobQueue(gate.compute)
    gate.opened.release()
    default = queue.request(SMALL, jobs.FOREVER)
    assert default.wait(PATIENCE)
    for seed in range(1, 5):
        gate.opened.release()
        assert queue.request(replace(SMALL, seed=seed), "me").wait(PATIENCE)

    assert queue.request(SMALL, "me") is default


def test_what_the_server_itself_wants_is_computed_without_visitors(gate, monkeypatch):
    monkeypatch.setattr(jobs, "PATIENCE", -1.0)
    job = jobs.JobQueue(gate.compute).request(SMALL, jobs.FOREVER)
    gate.opened.release()

    assert job.wait(PATIENCE)
    assert not job.cancelled


class Paused(NamedTuple):
    """A long job that has given way at a report to a short one, which works."""

    queue: jobs.JobQueue
    heavy: jobs.Job
    short: jobs.Job


@pytest.fixture
def paused(gate):
    queue = jobs.JobQueue(gate.compute, slots=1, turn=0.0)
    heavy = queue.request(HEAVY, "me")
    gate.wait_until_begun()
    short = queue.request(SMALL, "you")
    until(lambda: short.progress.doing == "Queued, place 1")
    gate.opened.release()  # the long one comes to its next report
    gate.wait_until_begun()
    return Paused(queue, heavy, short)


def test_a_long_run_pauses_at_a_report_until_the_shorter_one_is_done(gate, paused):
    assert paused.short.progress.doing == "working"
    assert paused.heavy.progress.doing == "Queued, place 1"
    assert paused.heavy.progress.share == 0.9
    gate.opened.release()

    assert paused.short.wait(PATIENCE)
    assert paused.heavy.wait(PATIENCE)
    assert paused.heavy.finished
    assert gate.count == 2


def test_a_paused_run_ends_when_its_last_visitor_leaves(gate, paused):
    paused.queue.leave("me")

    assert paused.heavy.wait(PATIENCE)
    assert paused.heavy.cancelled
    gate.opened.release()
    assert paused.short.wait(PATIENCE)
    assert paused.short.finished


class Kept:
    """Stands in for a computation that keeps what was done: it needs two steps, one for a call."""

    def __init__(self):
        self.done = {}
        self.calls = []
        self.begun = threading.Semaphore(0)
        self.opened = threading.Semaphore(0)

    def compute(self, request, report):
        self.calls.append(request)
        while self.done.setdefault(request, 0) < 2:
            report(None, "working", self.done[request] / 2)
            self.begun.release()
            assert self.opened.acquire(timeout=PATIENCE)
            self.done[request] += 1
            report(None, "working", self.done[request] / 2)
        return runs.empty_run(request)


def test_a_job_that_resumes_is_left_after_some_progress_and_begins_again():
    kept = Kept()
    queue = jobs.JobQueue(kept.compute, slots=1, turn=0.0, resumes=True)
    first = queue.request(HEAVY, "me")
    assert kept.begun.acquire(timeout=PATIENCE)
    second = queue.request(SMALL, "you")
    until(lambda: second.progress.doing == "Queued, place 1")
    for _ in range(4):
        kept.opened.release()

    assert first.wait(PATIENCE)
    assert second.wait(PATIENCE)
    assert kept.calls[:2] == [HEAVY, SMALL]
    assert kept.done == {HEAVY: 2, SMALL: 2}
    assert first.finished
    assert second.finished
