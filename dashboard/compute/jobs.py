"""Work in the background: a few jobs at a time, shared by all visitors who ask for the same.

`turns` decides which job works. A job ends early when no visitor looks at it any more. Its thread
computes or waits for a process that does; kernels release the interpreter's lock, so pages stay
quick while jobs run.

Jobs have daemon threads of their own instead of a `ThreadPoolExecutor`, whose threads are joined
when the interpreter ends: Ctrl-C would wait for a job, or for the compiler, to the end.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, NamedTuple, Protocol
from weakref import WeakValueDictionary

from dashboard.compute.turns import Ticket, Turns
from rhmm.sweeping.workers import processors

KEPT = 32
"""Finished results that stay in memory for the next visitor who asks."""

PATIENCE = 75.0
"""Seconds without a look after which a watcher counts as gone: browsers let a hidden page look
only once a minute."""

FOREVER = "the server itself"
"""A watcher that never counts as gone."""

TURN = 2.0
"""Seconds that a job works at least before it gives way to another one."""

_LOOK = 0.2
"""Seconds between two looks of a waiting job whether a visitor still wants it."""


_elsewhere = threading.local()


def count_work_elsewhere(seconds: float) -> None:
    """Say how long another process has worked so far for the job of this thread."""
    _elsewhere.seconds = seconds


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

    @property
    def effort(self) -> float:
        """About how many microseconds of one processor it takes."""

    def __hash__(self) -> int: ...


class Cancelled(Exception):
    """No watcher wants the result any more."""


class Expected(Exception):
    """A failure that is no fault of the program: a sentence for the reader."""


class _Interrupted(Exception):
    """Another job has the slot now; this one begins again when its turn comes."""


class Job:
    """One request, computed in a thread of its own; a `known` result is shown until it is done.

    When it gives way to another job it stops at a report and goes on from there. A job that
    `resumes` is left instead and begins again later: its computation has kept what was done.
    """

    def __init__(
        self, request: Request, compute: Compute, turns: Turns, known=None, resumes: bool = False
    ):
        self.request = request
        self.known = known
        self.cancelled = False
        self.error: Exception | None = None
        self._compute = compute
        self._turns = turns
        self._ticket = Ticket(1e-6 * request.effort, self._present)
        self._resumes = resumes
        self._progress = Progress(known, "Queued", 0.0)
        self._share_before_turn = 0.0
        self._turn_began = 0.0
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._watchers: dict[str, float] = {}
        self._thread = threading.Thread(target=self._work, daemon=True, name="rhmm job")

    @property
    def progress(self) -> Progress:
        """How far it is; while it waits, its place in the queue."""
        place = self._turns.place(self._ticket)
        return self._progress._replace(doing=f"Queued, place {place}") if place else self._progress

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

    def _present(self) -> list[str]:
        """The watchers who have looked lately."""
        now = time.monotonic()
        with self._lock:
            return [
                watcher
                for watcher, seen in self._watchers.items()
                if watcher == FOREVER or now - seen < PATIENCE
            ]

    def _stop_if_unwanted(self) -> None:
        if not self._present():
            raise Cancelled

    def _report(self, result, doing: str, share: float) -> None:
        self._stop_if_unwanted()
        self._progress = Progress(self.known or result, doing, share)
        # a job that begins again must have got further, else it might never be done
        may_stop = not self._resumes or share > self._share_before_turn
        self._count_work()
        if may_stop and self._turns.give_way(self._ticket):
            if self._resumes:
                raise _Interrupted
            self._wait_for_turn()

    def _wait_for_turn(self) -> None:
        while not self._ticket.called.wait(_LOOK):
            self._stop_if_unwanted()

    def _count_work(self) -> None:
        """Tell the turns what was done: processor time of this thread, which does nothing else,
        and of the process that works for it, if there is one.

        A job that resumes works in other processes: there the time that passes counts.
        """
        if self._resumes:
            turn = time.monotonic() - self._turn_began
            self._ticket.worked = self._ticket.worked_before + turn
        else:
            self._ticket.worked = time.thread_time() + getattr(_elsewhere, "seconds", 0.0)

    def _work(self) -> None:
        try:
            self._turns.enter(self._ticket)
            self._progress = Progress(self._computed(), "Done", 1.0)
        except Cancelled:
            self.cancelled = True
        except Exception as error:  # the page must tell any failure instead of waiting for ever
            self.error = error
            if not isinstance(error, Expected):
                logging.getLogger(__name__).exception("a job failed: %r", self.request)
        finally:
            if self._ticket.called.is_set():
                self._count_work()
            self._turns.leave(self._ticket)
            self._over.set()

    def _computed(self) -> Any:
        """The result, after as many turns as it takes."""
        while True:
            self._wait_for_turn()
            self._share_before_turn = self._progress.share
            self._turn_began = time.monotonic()
            try:
                return self._compute(self.request, self._report)
            except _Interrupted:
                continue


class JobQueue:
    """Hands out jobs: the one that exists for a request, or a new one.

    Known results are shown at once; their jobs compute them again behind the picture. `turn` and
    `resumes` say after how many seconds a job may have to give way to another one, and how. A queue
    that does not keep results forgets a job when no visitor's session holds it any more. `turns`
    are those of another queue, if both share its slots.
    """

    def __init__(
        self,
        compute: Compute,
        slots: int | None = None,
        known: Mapping[Request, Any] | None = None,
        turn: float = TURN,
        resumes: bool = False,
        keeps: bool = True,
        turns: Turns | None = None,
    ):
        self.turns = turns or Turns(slots or processors(), turn)
        self._compute = compute
        self._known = dict(known or {})
        self._resumes = resumes
        self._lock = threading.Lock()
        # a job that works is held by its thread, whatever the queue does
        self._jobs: MutableMapping[Request, Job] = {} if keeps else WeakValueDictionary()
        self._wanted_by: MutableMapping[str, Job] = {} if keeps else WeakValueDictionary()

    def request(self, request: Request, watcher: str) -> Job:
        """The job for this request; the watcher gives up any other job it had asked for."""
        with self._lock:
            job = self._jobs.get(request)
            if job is None or job.cancelled or job.error:
                known = self._known.get(request)
                job = Job(request, self._compute, self.turns, known, self._resumes)
                job.watch(watcher)
                job.start()
            job.watch(watcher)
            self._jobs.pop(request, None)  # the latest stands last
            self._jobs[request] = job
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
