"""Work in the background: a few jobs at a time, shared by all visitors who ask for the same.

A job ends early when no visitor looks at it any more. Kernels release the interpreter's lock, so
pages stay quick while jobs run.

Jobs have daemon threads of their own instead of a `ThreadPoolExecutor`, whose threads are joined
when the interpreter ends: Ctrl-C would wait for a job, or for the compiler, to the end.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from rhmm.sweeping.workers import processors

KEPT = 32
"""Finished results that stay in memory for the next visitor who asks."""

PATIENCE = 75.0
"""Seconds without a look after which a watcher counts as gone: browsers let a hidden page look
only once a minute."""

FOREVER = "the server itself"
"""A watcher that never counts as gone."""


class Progress(NamedTuple):
    """How far a job is: the result so far, what is being done, and the share of it done."""

    result: Any
    doing: str
    share: float


Report = Callable[[Any, str, float], None]
"""What a computation calls with the fields of `Progress`; it may raise `Cancelled`."""

Compute = Callable[[Any, Report], Any]
"""From a request to its result."""


class Request(Protocol):
    """What a visitor can ask for; equal requests share a job."""

    def in_words(self) -> str:
        """One line that says what is asked for."""

    def __hash__(self) -> int: ...


class Cancelled(Exception):
    """No watcher wants the result any more."""


class Expected(Exception):
    """A failure that is no fault of the program: a sentence for the reader."""


class Job:
    """One request, computed in a thread of its own; a `known` result is shown until it is done."""

    def __init__(self, request: Request, compute: Compute, slots: threading.Semaphore, known=None):
        self.request = request
        self.known = known
        self.progress = Progress(known, "Queued", 0.0)
        self.cancelled = False
        self.error: Exception | None = None
        self._compute = compute
        self._slots = slots
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._watchers: dict[str, float] = {}
        self._thread = threading.Thread(target=self._work, daemon=True, name="rhmm job")

    @property
    def over(self) -> bool:
        """Finished, cancelled or failed."""
        return self._over.is_set()

    @property
    def finished(self) -> bool:
        return self.over and not self.cancelled and self.error is None

    def start(self) -> None:
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Wait for the end at most so long; says whether it has come."""
        return self._over.wait(seconds)

    def watch(self, watcher: str) -> None:
        """Note that this watcher still wants the result."""
        with self._lock:
            self._watchers[watcher] = time.monotonic()

    def leave(self, watcher: str) -> None:
        """Note that this watcher does not want the result any more."""
        with self._lock:
            self._watchers.pop(watcher, None)

    @property
    def wanted_forever(self) -> bool:
        with self._lock:
            return FOREVER in self._watchers

    def _wanted(self) -> bool:
        now = time.monotonic()
        with self._lock:
            seen_lately = any(now - seen < PATIENCE for seen in self._watchers.values())
        return seen_lately or self.wanted_forever

    def _report(self, result, doing: str, share: float) -> None:
        if not self._wanted():
            raise Cancelled
        self.progress = Progress(self.known or result, doing, share)

    def _work(self) -> None:
        try:
            while not self._slots.acquire(timeout=0.2):
                if not self._wanted():
                    raise Cancelled
            try:
                result = self._compute(self.request, self._report)
                self.progress = Progress(result, "Done", 1.0)
            finally:
                self._slots.release()
        except Cancelled:
            self.cancelled = True
        except Exception as error:  # the page must tell any failure instead of waiting for ever
            self.error = error
            if not isinstance(error, Expected):
                logging.getLogger(__name__).exception("a job failed: %r", self.request)
        finally:
            self._over.set()


class JobQueue:
    """Hands out jobs: the one that exists for a request, or a new one.

    Known results are shown at once; their jobs compute them again behind the picture.
    """

    def __init__(
        self,
        compute: Compute,
        slots: int | None = None,
        known: Mapping[Request, Any] | None = None,
    ):
        self._compute = compute
        self._known = dict(known or {})
        self._slots = threading.Semaphore(slots or processors())
        self._lock = threading.Lock()
        self._jobs: OrderedDict[Request, Job] = OrderedDict()
        self._wanted_by: dict[str, Job] = {}

    def request(self, request: Request, watcher: str) -> Job:
        """The job for this request; the watcher gives up any other job it had asked for."""
        with self._lock:
            job = self._jobs.get(request)
            if job is None or job.cancelled or job.error:
                job = Job(request, self._compute, self._slots, self._known.get(request))
                job.watch(watcher)
                job.start()
                self._jobs[request] = job
            job.watch(watcher)
            self._jobs.move_to_end(request)
            self._forget_the_oldest()
            before = self._wanted_by.get(watcher)
            self._wanted_by[watcher] = job
        if before is not None and before is not job:
            before.leave(watcher)
        return job

    def find(self, request: Request) -> Job | None:
        """The job that has or will have a result for this request, without asking for it."""
        with self._lock:
            job = self._jobs.get(request)
        return None if job is None or job.cancelled or job.error else job

    def results(self) -> list:
        """All results that are finished and still kept."""
        with self._lock:
            return [job.progress.result for job in self._jobs.values() if job.finished]

    def leave(self, watcher: str) -> None:
        """Note that the watcher wants nothing from this queue any more."""
        with self._lock:
            job = self._wanted_by.pop(watcher, None)
        if job is not None:
            job.leave(watcher)

    def _forget_the_oldest(self) -> None:
        over = {r: job for r, job in self._jobs.items() if job.over and not job.wanted_forever}
        finished = [request for request, job in over.items() if job.finished]
        for request in over.keys() - set(finished[-KEPT:]):
            del self._jobs[request]
        gone = [w for w, job in self._wanted_by.items() if job not in self._jobs.values()]
        for watcher in gone:
            del self._wanted_by[watcher]
