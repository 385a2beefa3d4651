"""Many runs at once, on any executor."""

import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, nullcontext
from itertools import chain
from traceback import format_exception_only

from rhmm.exceptions import NotRecordedWarning, RunFailedError
from rhmm.model import HiddenMarkovModel
from rhmm.sweeping.configuration import Configuration, check_grid
from rhmm.sweeping.executors import open_executor
from rhmm.sweeping.record import CannotWriteError, Record, readable_runs
from rhmm.sweeping.run import Run, Task, run_for
from rhmm.validation import check_integer
from rhmm.version import __version__

_UNDER_WAY = 256
"""Tasks that an executor has at a time: enough for a cluster, few enough to cancel quickly."""


def sweep(
    truth: HiddenMarkovModel,
    grid: Iterable[Configuration],
    runs: int | Iterable[int],
    executor: Executor | None = None,
    on_result: Callable[[Run], None] | None = None,
    file=None,
) -> list[Run]:
    """Learn chains of `truth` in every way of `grid`, over and over with other seeds.

    The same seeds give the same numbers (times apart) on whatever computes them.

    Parameters
    ----------
    truth
        A model with its true parameters, on any manifold.
    grid
        The configurations, see `rhmm.sweeping.grid`.
    runs
        How many seeds, 0, 1, 2…; or the seeds.
    executor
        Any `concurrent.futures.Executor`: Dask's ``client.get_executor()``, or what
        `rhmm.open_executor` gives. None: a process for each core of this machine.
    on_result
        Called with each `Run` as it comes, those already in `file` first, in the thread that
        called `sweep`. Raise StopIteration in it to cancel the rest.
    file
        A ``.csv`` or ``.parquet`` file that each run is written to at once. Runs that it already
        holds are not computed again, so that an interrupted sweep goes on where it stopped.

    Returns
    -------
    The runs in the order of grid and seeds: all, or what was done before it was cancelled. If
    `file` cannot be written to any more (a full disk) the sweep stops with a `NotRecordedWarning`
    and returns what it has computed; if nothing can be written from the beginning (another sweep
    is writing to it, say), it warns and computes what `file` lacks without keeping it.

    Raises RunFailedError if a run fails; what came before is in `file`.
    """
    if not isinstance(truth, HiddenMarkovModel):
        raise ValueError(f"truth must be a RiemannianHMM, not {truth!r}")
    grid, seeds = check_grid(grid, truth), _seeds(runs)
    tasks = [Task(configuration, seed) for configuration in grid for seed in seeds]
    record, known = _open_record(file, truth)
    done: dict[Task, Run] = {}
    try:
        with nullcontext() if record is None else record:
            missing = [task for task in tasks if task not in known]
            with closing(compute_runs(truth, missing, executor)) as results:
                for run in chain((known[task] for task in tasks if task in known), results):
                    done[run.task] = run
                    if record is not None and run.task not in known:
                        record.append(run)
                    if on_result is not None:
                        on_result(run)
    except StopIteration:
        pass
    except CannotWriteError as error:
        message = f"{error}; the sweep stops with {len(done)} of its {len(tasks)} runs"
        warnings.warn(message, NotRecordedWarning, stacklevel=2)
    return [done[task] for task in tasks if task in done]


class NothingRecordedWarning(NotRecordedWarning):
    """The file cannot be written to from the beginning, and nothing has been computed yet."""

    def __init__(self, why: CannotWriteError):
        super().__init__(f"{why}; the runs of this sweep are not kept")
        self.why = why


def _open_record(file, truth: HiddenMarkovModel) -> tuple[Record | None, dict[Task, Run]]:
    """A place for runs, None if there is no file or, with a warning, if it cannot be written to;
    and the runs that it already holds.
    """
    if file is None:
        return None, {}
    try:
        record = Record(file, truth)
    except CannotWriteError as error:
        known = readable_runs(file, truth)
        warnings.warn(NothingRecordedWarning(error), stacklevel=3)
        return None, known
    return record, dict(record.known)


def _seeds(runs) -> list[int]:
    if isinstance(runs, Iterable):
        seeds = [check_integer("every seed in runs", seed, at_least=0) for seed in runs]
        if not seeds:
            raise ValueError("runs must hold at least one seed, it is empty")
        return list(dict.fromkeys(seeds))
    return list(range(check_integer("runs", runs, at_least=1)))


def compute_runs(
    truth: HiddenMarkovModel, tasks: Iterable[Task], executor: Executor | None
) -> Generator[Run]:
    """The runs of the tasks as they come; leaving early cancels the others.

    For callers that keep runs in a way of their own; others use `sweep`.
    """
    # Seed by seed, so that all configurations have about as many runs at any time; the longest
    # first, so that no processor is left with a long one while the others have nothing to do.
    tasks = sorted(tasks, key=lambda task: (task.seed, -task.configuration.effort))
    if not tasks:
        return
    with open_executor() if executor is None else nullcontext(executor) as executor:
        lost = yield from _compute_on(executor, truth, tasks)
    if lost:  # a pool of the standard library does not survive the death of a process
        yield from compute_runs(truth, lost, None)


def _compute_on(executor: Executor, truth: HiddenMarkovModel, tasks: list[Task]):
    """Yields runs; returns the tasks that a pool of processes broke over."""
    ahead, lost = deque(tasks), []
    under_way: dict[Future, Task] = {}
    try:
        while ahead or under_way:
            while ahead and len(under_way) < _UNDER_WAY:
                task = ahead.popleft()
                try:
                    future = executor.submit(
                        run_for, __version__, truth, task, task.configuration.entry
                    )
                    under_way[future] = task
                except BrokenProcessPool:
                    lost.append(task)
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                task = under_way.pop(future)
                try:
                    run = future.result()
                except BrokenProcessPool:
                    lost.append(task)
                except CancelledError:
                    raise ConnectionError("the executor lost its workers or scheduler") from None
                except Exception as error:
                    way, why = task.configuration, format_exception_only(error)[0].strip()
                    raise RunFailedError(
                        f"the run of {way.name}, T={way.length}, seed {task.seed} failed: {why}"
                    ) from error
                else:
                    yield run
    finally:
        for future in under_way:
            future.cancel()
    return lost
