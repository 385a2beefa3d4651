"""Processes of this machine as an executor.

Like `concurrent.futures.ProcessPoolExecutor`, with two differences that a server needs. A worker
never imports the ``__main__`` of its parent: that would run a script that has no guard once more,
and under ``streamlit run`` the page itself. And a worker that is killed takes nothing with it: its
task goes to a new one.
"""

import json
import os
import pickle
import subprocess
import sys
import traceback
import warnings
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import IO, cast

from rhmm.exceptions import ConvergenceWarning, DegenerateWarning
from rhmm.threads import processors
from rhmm.validation import check_integer

_MOST_DEATHS = 3
_MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**27)}
"""For glibc: keep freed memory of this size. It would go back to the system after each task, and to
get it again page by page takes as long as EM on the observations of a chunk."""


class WorkerPool(Executor):
    """Runs functions of importable modules in `workers` processes (as many as `processors`)."""

    def __init__(self, workers: int | None = None):
        count = processors() if workers is None else check_integer("workers", workers, at_least=1)
        self._calls: SimpleQueue[tuple[Future, bytes] | None] = SimpleQueue()
        self._closed = False
        self._closing = Lock()
        self._workers = [_Worker() for _ in range(count)]
        # Daemons: a server that ends in the middle of a sweep does not wait for the sweep.
        self._threads = [Thread(target=self._feed, args=(w,), daemon=True) for w in self._workers]
        for thread in self._threads:
            thread.start()

    def submit(self, function, /, *args, **kwargs) -> Future:
        """Have a worker call ``function(*args, **kwargs)``."""
        future: Future = Future()
        call = pickle.dumps((function, args, kwargs))
        with self._closing:  # a call that came after a shutdown began would wait for ever
            if self._closed:
                raise RuntimeError("this pool has been shut down")
            self._calls.put((future, call))
        return future

    def _feed(self, worker: "_Worker") -> None:
        while (item := self._calls.get()) is not None:
            future, call = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(worker.run(call))
            except Exception as error:
                future.set_exception(error)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers: after what was submitted, or with `cancel_futures` at once.

        Returns when they have ended, also without `wait`: no other code would end them.
        """
        with self._closing:
            if self._closed:
                return
            self._closed = True
        if cancel_futures:
            self._cancel_waiting()
            self._end_workers()
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()
        self._end_workers()

    def _cancel_waiting(self) -> None:
        with suppress(Empty):
            while (item := self._calls.get_nowait()) is not None:
                future, _ = item
                future.cancel()
                future.set_running_or_notify_cancel()  # this wakes the threads that wait for it

    def _end_workers(self) -> None:
        for worker in self._workers:
            worker.end()


class _Worker:
    """One process, started when it is first needed and again when it has died."""

    def __init__(self):
        self._process: ServingProcess | None = None
        self._ended = False
        self._changing = Lock()

    def run(self, call: bytes):
        for _ in range(_MOST_DEATHS):
            process = self._running()
            try:
                pickle.dump(call, process.input)
                process.input.flush()
                answer = pickle.load(process.output)
            except (EOFError, OSError, ValueError, pickle.UnpicklingError):
                with self._changing:
                    self._close()  # it died: a new one begins the task anew
                continue
            returned, value = pickle.loads(answer)
            if returned:
                return value
            raise value
        raise BrokenExecutor(f"{_MOST_DEATHS} worker processes died of the same task")

    def _running(self) -> "ServingProcess":
        with self._changing:
            if self._ended:
                raise BrokenExecutor("the pool has been shut down")
            if self._process is None or self._process.popen.poll() is not None:
                self._close()
                self._process = ServingProcess(__name__)
            return self._process

    def end(self) -> None:
        with self._changing:
            self._ended = True
            self._close()

    def _close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None


class ServingProcess:
    """A process that runs the function `serve` of a module, and the pipes to it and from it."""

    def __init__(self, module: str):
        program = (
            "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
            f"from {module} import serve; serve()"
        )
        self.popen = subprocess.Popen(
            [sys.executable, "-c", program, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the parent, which ends its workers
            env=_MALLOC | os.environ,
        )
        self.input = cast(IO[bytes], self.popen.stdin)
        self.output = cast(IO[bytes], self.popen.stdout)

    def close(self) -> None:
        self.popen.kill()
        for pipe in (self.input, self.output):
            with suppress(OSError):  # the pipe may still hold what was not sent
                pipe.close()
        self.popen.wait()


def serve() -> None:
    """What a worker does: answer calls from its input until that closes."""
    if hasattr(os, "nice"):
        os.nice(10)  # give way to other work on this machine, a server's pages above all
    for remark in (ConvergenceWarning, DegenerateWarning):
        warnings.simplefilter("ignore", remark)  # a sweep tells by its measures how good a run is
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a task prints must not mix with the answers
    while True:
        try:
            call = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            function, args, kwargs = pickle.loads(call)
            answer = pickle.dumps((True, function(*args, **kwargs)))
        except Exception as error:
            error.add_note(f"in a worker process:\n{traceback.format_exc()}")
            answer = pickle.dumps((False, error))
        try:
            pickle.dump(answer, answers)  # wrapped, as calls are: neither side can read half of one
            answers.flush()
        except BrokenPipeError:
            os._exit(0)  # the parent has gone
