"""Processes beside the server that compute short runs.

A run calls thousands of kernels. Each releases the interpreter's lock and must take it back: in a
thread of a server whose pages are busy that costs up to five milliseconds a time, and a run of a
quarter of a second takes several seconds. In a process of its own it takes as long as it should,
and holds up no page.

Long runs stay in threads: one that gives way to another waits in the middle of its work, and would
keep its process and the memory of it meanwhile. So do runs for which no process is free, and those
of learners that were registered in the server alone.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from dashboard.compute import jobs, kernels, runs
from dashboard.compute.jobs import Cancelled, Report
from dashboard.compute.runs import ExperimentRun
from dashboard.compute.turns import LONG
from dashboard.compute.worker_process import Lost, WorkerProcess, answers, question
from dashboard.model.experiment import Experiment
from rhmm.learners.registry import LEARNERS
from rhmm.sweeping.workers import processors

PACE = 0.1
"""Seconds between two reports of a run: pages look at it less often."""


class News(NamedTuple):
    """What a worker says of a run: all fields of it that have changed since it spoke last."""

    changes: dict[str, Any]
    """Of the `ExperimentRun`; `methods` are only the new ones."""
    doing: str
    share: float
    seconds: float
    """Of work, since the run began."""
    error: Exception | None = None
    over: bool = False


def can_compute(experiment: Experiment) -> bool:
    """Whether the run is a short one of learners and a space that every process knows."""
    kinds = [LEARNERS[key].estimator for key in experiment.methods]
    kinds.append(type(experiment.observed_in.manifold))
    return 1e-6 * experiment.effort <= LONG and all(
        kind.__module__.partition(".")[0] == "rhmm" for kind in kinds
    )


class RunWorkers:
    """As many processes as `count`. Each computes one run at a time."""

    def __init__(self, count: int):
        self._lock = threading.Lock()
        self._free: list[_Worker] = [_Worker() for _ in range(count)]
        self._closed = False

    def compute(
        self, experiment: Experiment, report: Report, same_data: ExperimentRun | None = None
    ) -> ExperimentRun:
        """`runs.compute`, in a process if one is free and the run is fit for it."""
        runs.compile_kernels(runs.empty_run(experiment), report)
        worker = self._take() if can_compute(experiment) else None
        if worker is not None:
            try:
                return worker.compute(experiment, report, same_data)
            except Lost:
                pass
            finally:
                self._give_back(worker)
        return runs.compute(experiment, report, same_data)

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            self._closed = True
            while self._free:
                self._free.pop().close()

    def _take(self) -> "_Worker | None":
        with self._lock:
            return self._free.pop() if self._free else None

    def _give_back(self, worker: "_Worker") -> None:
        with self._lock:
            if self._closed:
                worker.close()
            else:
                self._free.append(worker if worker.is_alive else _Worker())


class _Worker(WorkerProcess):
    """One process that computes a run at a time."""

    def __init__(self) -> None:
        super().__init__(__name__)

    def compute(
        self, experiment: Experiment, report: Report, same_data: ExperimentRun | None
    ) -> ExperimentRun:
        """`runs.compute` in this process; `Lost` if it dies."""
        run = runs.empty_run(experiment)
        self.send((experiment, same_data))
        while True:
            news = self.receive()
            jobs.count_work_elsewhere(news.seconds)
            methods = run.methods + news.changes.pop("methods", ())
            run = run._replace(**news.changes, methods=methods)
            if news.error is not None:
                raise news.error
            if news.over:
                return run
            try:
                report(run, news.doing, news.share)
            except BaseException:
                self.send(False)
                self.receive()  # it says that it has stopped
                raise
            self.send(True)


# In the process


def serve() -> None:
    """Compute runs that come by the input until it closes."""
    send = answers()
    first = Experiment()
    for part in kernels.parts_of(first.space, first.algorithms):
        if part.is_there:
            part.load()

    with suppress(EOFError, BrokenPipeError):  # the server has gone
        while True:
            _answer(question(), send, question)


def _answer(
    asked: tuple[Experiment, ExperimentRun | None],
    send: Callable[[News], None],
    may_go_on: Callable[[], bool],
) -> None:
    """Compute one run; after all but the last news `may_go_on` says whether it is still wanted.

    Its data may be private: nothing of them stays here.
    """
    experiment, same_data = asked
    begin = time.process_time()
    told = runs.empty_run(experiment)

    def news(run: ExperimentRun, doing: str, share: float, over: bool = False) -> News:
        nonlocal told
        changes = {
            name: value
            for name, value, before in zip(run._fields, run, told, strict=True)
            if value is not before
        }
        changes["methods"] = run.methods[len(told.methods) :]
        told = run
        return News(changes, doing, share, time.process_time() - begin, over=over)

    def report(run: ExperimentRun, doing: str, share: float) -> None:
        send(news(run, doing, share))
        if not may_go_on():
            raise Cancelled

    try:
        send(news(runs.compute(experiment, report, same_data, PACE), "Done", 1.0, over=True))
    except (EOFError, BrokenPipeError):
        raise
    except Exception as error:
        send(News({}, "", 0.0, time.process_time() - begin, error))


_workers: RunWorkers | None = None


def start() -> None:
    """Start the processes of this server."""
    global _workers
    _workers = RunWorkers(processors())


def stop() -> None:
    """End them."""
    global _workers
    if _workers is not None:
        _workers.close()
    _workers = None


def compute(
    experiment: Experiment, report: Report, same_data: ExperimentRun | None = None
) -> ExperimentRun:
    """`runs.compute`, beside the server if its processes were started."""
    if _workers is None:
        return runs.compute(experiment, report, same_data)
    return _workers.compute(experiment, report, same_data)
