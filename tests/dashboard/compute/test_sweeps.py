from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace

import pytest

import rhmm
from dashboard.compute import jobs, sweeps
from dashboard.compute.sweeps import Outcome, Unreachable
from dashboard.model.experiment import Experiment
from dashboard.model.plan import Plan, Sweep
from rhmm import RunFailedError
from rhmm.sweeping import fingerprint, load_runs, record, run_once

SMALL = Experiment(length=500, window=60)
PLAN = Plan(windows=(40,), learners=("streaming", "paper"), runs=2)
SWEEP = Sweep.of(SMALL, PLAN)
LONG = Sweep.of(
    Experiment(length=100_000, window=2_000),
    Plan(windows=(2_000,), learners=("paper", "convex"), runs=50),
)
"""Every one of its longest runs, which come first, takes many seconds."""


class Here(ThreadPoolExecutor):
    """One thread of this process, which remembers in `tasks` what it was asked to run."""

    def __init__(self, tasks):
        super().__init__(1)
        self._tasks, self._futures = tasks, []

    def submit(self, function, version, truth, task, learner):
        self._tasks.append(task)
        self._futures.append(super().submit(function, version, truth, task, learner))
        return self._futures[-1]

    def give_up(self):
        self.shutdown(cancel_futures=True)
        for future in wait(self._futures, timeout=0).not_done:
            future.set_running_or_notify_cancel()  # else who waits for it waits for ever


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("RHMM_CACHE", str(folder))
    monkeypatch.delenv("RHMM_SCHEDULER", raising=False)
    return folder


@pytest.fixture
def here(monkeypatch):
    """Sweeps run in this process; gives the tasks that they really compute."""
    tasks = []

    @contextmanager
    def open_here(scheduler, workers):
        executor = Here(tasks)
        try:
            yield executor
        finally:
            executor.give_up()

    monkeypatch.setattr(sweeps, "open_executor", open_here)
    return tasks


def ignore(outcome, doing, share):
    pass


def stop_when(condition):
    def report(outcome, doing, share):
        if condition(outcome):
            raise jobs.Cancelled

    return report


def file_of(cache, sweep=SWEEP):
    name = fingerprint(sweep.experiment.source.true_model())
    return cache / f"{name}-{rhmm.__version__}-T{sweep.experiment.length}.csv"


def kept(cache, sweep=SWEEP):
    return load_runs(file_of(cache, sweep), sweep.experiment.source.true_model())


def without_times(runs):
    return {replace(run, seconds=0.0) for run in runs}


def test_processes_compute_every_run_and_progress_is_told(cache):
    seen = []
    outcome = sweeps.compute(SWEEP, lambda *progress: seen.append(progress))

    truth = SMALL.source.true_model()
    expected = [run_once(truth, c, seed) for c in SWEEP.configurations() for seed in range(2)]
    assert without_times(outcome.runs) == without_times(expected)
    assert len(outcome.runs) == len(expected)
    assert outcome.note == ""
    assert set(kept(cache)) == set(outcome.runs)
    counts = [len(so_far.runs) for so_far, _, _ in seen]
    shares = [share for _, _, share in seen]
    assert seen[0] == (Outcome(), "Starting", 0.0)
    assert counts == sorted(counts)
    assert shares == [count / 14 for count in counts]
    assert shares[-1] == 1.0
    assert all(
        words.startswith(f"{n} of 14 runs done")
        for (_, words, _), n in zip(seen[1:], counts[1:], strict=True)
    )


def test_runs_come_in_the_order_of_the_plan(here):
    sweeps.compute(Sweep.of(SMALL, Plan(windows=(40,), learners=("paper",), runs=1)), ignore)
    outcome = sweeps.compute(SWEEP, ignore)

    order = [(c, seed) for c in SWEEP.configurations() for seed in range(2)]
    assert [run.task for run in outcome.runs] == order


def test_a_cancelled_sweep_keeps_its_runs_and_goes_on_from_there(cache, here):
    with pytest.raises(jobs.Cancelled):
        sweeps.compute(SWEEP, stop_when(lambda outcome: len(outcome.runs) >= 3))

    before = kept(cache)
    assert 3 <= len(before) < SWEEP.total
    here.clear()
    outcome = sweeps.compute(SWEEP, ignore)
    assert len(here) == SWEEP.total - len(before)
    assert not {run.task for run in before} & set(here)
    assert set(before) < set(outcome.runs)
    assert len(outcome.runs) == SWEEP.total


def test_cancelling_does_not_wait_for_long_runs(cache):
    looks = []

    def leave_at_the_third_look(outcome, doing, share):
        looks.append(outcome)
        if len(looks) == 3:
            raise jobs.Cancelled

    with pytest.raises(jobs.Cancelled):
        sweeps.compute(LONG, leave_at_the_third_look)

    assert kept(cache, LONG) == []  # those under way were given up, not waited for


@pytest.mark.parametrize(("processors", "workers"), [(1, 1), (2, 1), (8, 7)])
def test_one_processor_is_left_to_the_pages(monkeypatch, processors, workers):
    asked = []

    @contextmanager
    def open_pool(scheduler, workers):
        asked.append(workers)
        yield None

    monkeypatch.setattr(sweeps, "processors", lambda: processors)
    monkeypatch.setattr(sweeps, "open_executor", open_pool)
    monkeypatch.setattr(sweeps, "compute_runs", lambda *_: [])
    with pytest.raises(jobs.Cancelled):
        sweeps.compute(SWEEP, stop_when(lambda outcome: asked))

    assert asked == [workers]


def test_when_a_cancelled_sweep_is_over_its_file_is_free(cache, here):
    with pytest.raises(jobs.Cancelled):
        sweeps.compute(SWEEP, stop_when(lambda outcome: outcome.runs))

    with record.Record(file_of(cache), SMALL.source.true_model()):
        pass


def test_the_second_time_nothing_is_computed_and_the_file_is_read_once(here, monkeypatch):
    read, reads = record.read_csv, []

    def count_reads(*arguments):
        reads.append(arguments)
        return read(*arguments)

    first = sweeps.compute(SWEEP, ignore)
    here.clear()
    monkeypatch.setattr(record, "read_csv", count_reads)
    second = sweeps.compute(SWEEP, ignore)

    assert here == []
    assert len(reads) == 1
    assert second == first  # even the times are those of the first


def test_another_plan_computes_only_what_is_new(here):
    sweeps.compute(SWEEP, ignore)
    here.clear()
    wider = Sweep.of(SMALL, replace(PLAN, windows=(40, 80)))
    sweeps.compute(wider, ignore)

    assert {task.configuration.window for task in here} == {80}
    assert len(here) == 4


def test_a_window_as_long_as_the_chain_can_be_added():
    whole = replace(SMALL, window=500, algorithms=("windowed",))
    plan = Plan(windows=(40,), learners=("paper",), runs=1)
    sweeps.compute(Sweep.of(replace(whole, window=40), plan), ignore)

    outcome = sweeps.compute(Sweep.of(whole, plan), ignore)  # it alone is new, and takes no effort

    assert len(outcome.runs) == 5


@pytest.mark.parametrize("changes", [{"sigmas": (0.3, 1.0, 1.0)}, {"length": 600}])
def test_each_truth_and_length_has_a_file_of_its_own(cache, here, changes):
    other = replace(SWEEP, experiment=replace(SWEEP.experiment, **changes))
    sweeps.compute(SWEEP, ignore)
    sweeps.compute(other, ignore)

    assert {path.name for path in cache.iterdir()} == {
        file_of(cache).name,
        file_of(cache, other).name,
    }


def test_a_damaged_file_is_moved_aside_with_a_word_about_it(cache, here):
    sweeps.compute(SWEEP, ignore)
    damaged = file_of(cache).read_text().replace("streaming", "dreaming")
    file_of(cache).write_text(damaged)
    here.clear()

    outcome = sweeps.compute(SWEEP, ignore)

    aside = file_of(cache).with_suffix(".unreadable")
    assert aside.read_text() == damaged
    assert aside.name in outcome.note
    assert len(here) == len(outcome.runs) == SWEEP.total
    assert set(kept(cache)) == set(outcome.runs)


def test_a_line_that_was_torn_off_is_computed_again(cache, here):
    sweeps.compute(SWEEP, ignore)
    content = file_of(cache).read_bytes()
    file_of(cache).write_bytes(content[:-20])
    here.clear()

    outcome = sweeps.compute(SWEEP, ignore)

    assert len(here) == 1
    assert outcome.note == ""
    assert len(kept(cache)) == SWEEP.total


def test_a_disk_that_fills_up_is_told_and_the_sweep_goes_on_without_it(cache, here, monkeypatch):
    write, lines = record.Record._write, []

    def until_the_disk_is_full(self, line):
        lines.append(line)
        if len(lines) == 4:  # there may be room again, but not behind half a line
            raise record.CannotWriteError("no space left on device")
        write(self, line)

    with monkeypatch.context() as full:
        full.setattr(record.Record, "_write", until_the_disk_is_full)
        outcome = sweeps.compute(SWEEP, ignore)

    assert outcome.note.count("Not all runs could be kept") == 1
    assert len(outcome.runs) == len(here) == SWEEP.total
    assert len(kept(cache)) == 2  # the third could not be written
    assert set(kept(cache)) < set(outcome.runs)
    here.clear()
    outcome = sweeps.compute(SWEEP, ignore)  # there is room again
    assert len(outcome.runs) == SWEEP.total
    assert len(here) == SWEEP.total - 2
    assert outcome.note == ""


def test_a_disk_that_is_full_from_the_beginning_is_told_and_everything_is_shown(here, monkeypatch):
    def full(self, line):
        raise record.CannotWriteError("no space left on device")

    monkeypatch.setattr(record.Record, "_write", full)
    outcome = sweeps.compute(SWEEP, ignore)

    assert "Not all runs could be kept" in outcome.note
    assert len(outcome.runs) == SWEEP.total


def test_a_file_that_another_sweep_writes_to_is_told_and_everything_is_shown(cache, here):
    pytest.importorskip("fcntl")
    sweeps.compute(replace(SWEEP, runs=1), ignore)
    before = kept(cache)
    here.clear()
    with record.Record(file_of(cache), SMALL.source.true_model()):
        outcome = sweeps.compute(SWEEP, ignore)

    assert (
        outcome.note
        == "Not all runs could be kept on this server’s disk: what was computed is shown."
    )
    assert len(outcome.runs) == SWEEP.total
    assert len(here) == SWEEP.total - len(before)  # what was kept is not computed again
    assert kept(cache) == before


def test_a_file_that_is_removed_meanwhile_costs_only_the_keeping(cache, here):
    def clean_up(*_):
        for file in cache.glob("*.csv"):
            file.unlink()

    outcome = sweeps.compute(SWEEP, clean_up)

    assert len(outcome.runs) == SWEEP.total


def test_a_folder_that_cannot_be_used_costs_only_the_keeping(here, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("RHMM_CACHE", str(tmp_path / "file" / "cache"))

    outcome = sweeps.compute(SWEEP, ignore)

    assert len(outcome.runs) == SWEEP.total
    assert "cannot be kept" in outcome.note


def test_a_cluster_that_does_not_answer_is_told_and_nothing_runs_here(cache, monkeypatch):
    monkeypatch.setenv("RHMM_SCHEDULER", "tcp://127.0.0.1:9")  # no process listens there

    with pytest.raises(Unreachable) as raised:
        sweeps.compute(SWEEP, ignore)

    assert str(raised.value) == "the cluster that this server uses does not answer."
    assert kept(cache) == []


def test_what_is_kept_needs_no_cluster(here, monkeypatch):
    first = sweeps.compute(SWEEP, ignore)
    monkeypatch.setattr(sweeps, "open_executor", rhmm.open_executor)
    monkeypatch.setenv("RHMM_SCHEDULER", "tcp://127.0.0.1:9")  # no process listens there

    assert sweeps.compute(SWEEP, ignore) == first


def test_a_run_that_fails_is_told(here, monkeypatch):
    monkeypatch.setattr("rhmm.sweeping.run.run_once", lambda *task: 1 / 0)

    with pytest.raises(RunFailedError, match="seed 0 failed: ZeroDivisionError"):
        sweeps.compute(SWEEP, ignore)


@pytest.mark.parametrize("address", ["nonsense", "ftp://127.0.0.1:1"])
def test_an_address_that_is_none_is_told_too(address, monkeypatch):
    monkeypatch.setenv("RHMM_SCHEDULER", address)

    with pytest.raises(Unreachable):
        sweeps.compute(SWEEP, ignore)
