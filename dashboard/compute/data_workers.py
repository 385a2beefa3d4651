"""Processes beside the server that read visitors' files and learn from recordings.

Both may take a minute and much memory, and the kernels of a space may have to be compiled first. In
a process of its own that holds up no page, and the visitor who cancels need not wait for the end of
a step: the process is ended. A process starts when it is needed, and one stays for the next call.
"""

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from dashboard.compute import jobs
from dashboard.compute.jobs import Expected, Report
from dashboard.compute.worker_process import Lost, WorkerProcess, answers, question
from rhmm import ConvergenceWarning, DegenerateWarning

_LOOK = 0.1
"""Seconds between two looks whether the visitor still wants the result."""
_PACE = 0.2
"""Seconds between two reports of a process."""

_MEMORY = 3 * 2**30
"""Bytes that a process may hold. The largest files that pages take need a third of it. What asks
for more fails in its process, before the machine runs out of memory for all visitors."""
_TOO_MUCH = "this needs more memory than one visitor may have: give fewer observations"

Watch = Callable[[str, float], None]
"""What a function calls now and then with what it is doing, and the share of it that is done."""


class News(NamedTuple):
    """What a process says of a call."""

    doing: str
    share: float
    seconds: float
    """Of work, since the call."""
    over: bool = False
    result: Any = None
    error: Exception | None = None


class DataWorkers:
    """Processes that each answer one call at a time; as many as there are calls at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[WorkerProcess] = []
        self._busy: set[WorkerProcess] = set()
        self._closed = False

    def call(self, function: Callable, arguments: tuple, report: Report) -> Any:
        """``function(*arguments, watch)`` in a process; `report` may raise to end it."""
        worker = self._take()
        try:
            result = _followed(worker, function, arguments, report)
        except Lost:
            raise Expected(
                "the process that worked on it has died, perhaps for lack of memory: give fewer "
                "observations"
            ) from None
        finally:
            self._give_back(worker)
        return result

    def close(self) -> None:
        """End all processes, whatever they are doing."""
        with self._lock:
            self._closed = True
            for worker in (*self._free, *self._busy):
                worker.close()
            self._free.clear()

    def _take(self) -> WorkerProcess:
        with self._lock:
            free = self._free.pop() if self._free else None
            worker = WorkerProcess(__name__) if free is None or not free.is_alive else free
            self._busy.add(worker)
        return worker

    def _give_back(self, worker: WorkerProcess) -> None:
        with self._lock:
            self._busy.remove(worker)
            if self._closed or self._free:  # one is enough to wait for the next call
                worker.close()
            elif worker.is_alive:
                self._free.append(worker)


def _followed(worker: WorkerProcess, function: Callable, arguments: tuple, report: Report) -> Any:
    """The answer of a process to a call. One that is not wanted any more ends."""
    worker.send((function, arguments))
    heard: SimpleQueue[News | None] = SimpleQueue()
    threading.Thread(target=_hear, args=(worker, heard), daemon=True).start()
    told = News("Preparing", 0.0, 0.0)
    waits = False  # whether the process waits for our answer
    while True:
        try:
            report(None, told.doing, told.share)
        except BaseException:
            worker.close()
            raise
        if waits:
            worker.send(True)
            waits = False
        try:
            news = heard.get(timeout=_LOOK)
        except Empty:
            continue
        if news is None:
            raise Lost
        jobs.count_work_elsewhere(news.seconds)
        if news.error is not None:
            raise news.error
        if news.over:
            return news.result
        told, waits = news, True


def _hear(worker: WorkerProcess, heard: SimpleQueue) -> None:
    """Put what a process says into a queue, where one can wait for it for a while."""
    news = None
    with suppress(Lost):
        while news is None or not (news.over or news.error):
            news = worker.receive()
            heard.put(news)
        return
    heard.put(None)


# In the process


def serve() -> None:
    """Answer calls that come by the input until it closes."""
    if hasattr(os, "nice"):
        os.nice(5)  # pages come first
    _limit_memory()
    for remark in (ConvergenceWarning, DegenerateWarning):
        warnings.simplefilter("ignore", remark)  # the page says itself what became of a fit
    send = answers()
    with suppress(EOFError, BrokenPipeError):  # the server has gone
        while True:
            _answer(question(), send)


def _limit_memory() -> None:
    if sys.platform == "win32":  # which has no such limits
        return
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = _MEMORY if most == resource.RLIM_INFINITY else min(_MEMORY, most)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, most))


def _answer(asked: tuple[Callable, tuple], send: Callable[[News], None]) -> None:
    """Answer one call. What it is about may be private: nothing of it stays here."""
    function, arguments = asked
    begin = time.process_time()
    next_report = 0.0

    def watch(doing: str, share: float) -> None:
        nonlocal next_report
        if time.monotonic() < next_report:
            return
        send(News(doing, share, time.process_time() - begin))
        question()  # the answer comes when it is this job's turn
        next_report = time.monotonic() + _PACE

    try:
        news = News("Done", 1.0, 0.0, over=True, result=function(*arguments, watch))
    except (EOFError, BrokenPipeError):
        raise
    except MemoryError:
        news = News("", 0.0, 0.0, error=Expected(_TOO_MUCH))
    except Exception as error:
        news = News("", 0.0, 0.0, error=error)
    send(news._replace(seconds=time.process_time() - begin))


_workers: DataWorkers | None = None


def start() -> None:
    """Let calls go to processes of this server."""
    global _workers
    _workers = DataWorkers()


def stop() -> None:
    """End them."""
    global _workers
    if _workers is not None:
        _workers.close()
    _workers = None


def call(function: Callable, arguments: tuple, report: Report) -> Any:
    """``function(*arguments, watch)``, beside the server if its processes were started."""
    if _workers is None:
        return function(*arguments, lambda doing, share: report(None, doing, share))
    return _workers.call(function, arguments, report)
