"""Endless streams in processes beside the server.

A process runs many streams, in turns (`pacing`), and sends their news to the server ten times a
second; with many streams, less often. The server keeps of each stream only the news that its
visitor's browser has not fetched yet. A stream that no browser reads stands still.
"""

import queue
import secrets
import sys
import threading
import time
import traceback
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from dashboard.compute import kernels
from dashboard.compute.endless import EndlessStream, News, Place
from dashboard.compute.pacing import TICK, Paced
from dashboard.compute.pacing import serve as serve_tick
from dashboard.compute.worker_process import Lost, WorkerProcess, answers, question
from dashboard.model.endless import LEAST_PACE, MOST_PACE, Setup
from dashboard.model.followers import FOLLOWERS
from dashboard.model.methods import EM
from rhmm.sweeping.workers import processors
from rhmm.worlds import Event

_KEPT = 20
"""News that wait for a browser, at most: of a slow one the oldest are dropped."""

_MOST_STEPS = 1_000
"""Single steps that wait, at most."""

_SPEAKING = 0.005
"""Seconds between two news of a stream, for each stream that flows."""


class Report(NamedTuple):
    """What a process says of one stream."""

    news: News
    playing: bool
    pace: float
    """Observations a second that the visitor has asked for."""
    reached: float
    """Observations a second, of late."""
    sharing: int
    """Streams that flow in the same process."""


class LiveStream:
    """A visitor's stream as the server knows it. It ends when no session keeps it."""

    def __init__(self, setup: Setup, pace: int, streams: "StreamWorkers"):
        self.setup = setup
        self.token = secrets.token_urlsafe(16)
        """Random, so that no other visitor can guess it: a browser reads the stream by it."""
        self.script: tuple[Event, ...] = setup.events
        """All events so far, those that the visitor has added included."""
        self.failed = False
        """Whether nothing more will come."""
        self.waiting: deque[Report] = deque(maxlen=_KEPT)
        self._notify: Callable[[], None] = lambda: None
        self._process = streams.least_loaded()
        self._process.streams[self.token] = self
        self._early: list[tuple[str, Any]] | None = [("open", (setup, pace))]
        """Orders that wait for the compiler; None when it has finished."""
        self._ordering = threading.Lock()
        weakref.finalize(self, self._process.order, self.token, "close", None)
        parts = _parts_of(setup)
        if all(part.is_there for part in parts):
            self._begin()
        else:
            me = weakref.ref(self)
            threading.Thread(target=_begin_after, args=(parts, me), daemon=True).start()

    def _begin(self) -> None:
        with self._ordering:
            early, self._early = self._early or [], None
            for what, value in early:
                self._process.order(self.token, what, value)

    def order(self, what: str, value: Any = None) -> None:
        """Ask the process for something, see `_Stream.obey`."""
        with self._ordering:
            if self._early is not None:
                self._early.append((what, value))
            else:
                self._process.order(self.token, what, value)

    def close(self) -> None:
        """End it: what it would say no browser wants any more."""
        self.order("close")
        self.failed = True
        self._notify()

    def read_by(self, notify: Callable[[], None] | None) -> None:
        """Let `notify` be called when there is news, in any thread; None: no browser reads it."""
        self.waiting.clear()
        self._notify = notify or (lambda: None)
        self.order("read", notify is not None)

    def arrived(self, report: Report) -> None:
        """Take news from the process."""
        self.script = report.news.script
        self.waiting.append(report)
        self._notify()

    def fail(self) -> None:
        """The process has died."""
        self.failed = True
        self._notify()


def _parts_of(setup: Setup) -> list[kernels.Part]:
    """The kernels that a stream needs."""
    space = kernels.space_for(setup.source.manifold)
    methods = [*(FOLLOWERS[key].variant.learner.key for key in setup.learners), EM]
    return [kernels.Part(space, method) for method in dict.fromkeys(methods)]


def _begin_after(parts: list[kernels.Part], stream: "weakref.ref[LiveStream]") -> None:
    """Wait for the compiler, which has processes of its own, and begin if it is still wanted."""
    kernels.compilers().wait(parts, lambda done, total: None)
    wanted = stream()
    if wanted is not None:
        wanted._begin()


class _Process:
    """One process with its streams, and the threads that speak and listen to it.

    Orders go through a queue: the last one of a stream may come from the garbage collector, in the
    middle of whatever its thread is doing, and must neither wait nor mix with another order.
    """

    def __init__(self) -> None:
        self.streams: WeakValueDictionary[str, LiveStream] = WeakValueDictionary()
        self._worker = WorkerProcess(__name__)
        self._orders: queue.SimpleQueue = queue.SimpleQueue()
        for work in (self._speak, self._listen):
            threading.Thread(target=work, daemon=True, name="rhmm streams").start()

    @property
    def is_alive(self) -> bool:
        return self._worker.is_alive

    def order(self, token: str, what: str, value: Any) -> None:
        self._orders.put((token, what, value))

    def close(self) -> None:
        self._orders.put(None)
        self._worker.close()

    def _speak(self) -> None:
        with suppress(Lost):
            while (order := self._orders.get()) is not None:
                self._worker.send(order)

    def _listen(self) -> None:
        with suppress(Lost):
            while True:
                self._hand_on(*self._worker.receive())
        self._orders.put(None)  # else the other thread would wait for orders to a dead process
        for stream in list(self.streams.values()):
            stream.fail()

    def _hand_on(self, token: str, report: Report | None) -> None:
        """A function of its own: the thread must keep no stream while it waits."""
        stream = self.streams.get(token)
        if stream is not None and report is not None:
            stream.arrived(report)
        elif stream is not None:
            stream.fail()


class StreamWorkers:
    """As many processes as `count`, each started when a stream needs it."""

    def __init__(self, count: int):
        self._count = count
        self._lock = threading.Lock()
        self._processes: list[_Process] = []

    def open(self, setup: Setup, pace: int) -> LiveStream:
        """A new stream. It stands still until a browser reads it."""
        return LiveStream(setup, pace, self)

    def least_loaded(self) -> _Process:
        """The process with the fewest streams; a new one if there may be more."""
        with self._lock:
            self._processes = [one for one in self._processes if one.is_alive]
            idle = next((one for one in self._processes if not len(one.streams)), None)
            if idle is None and len(self._processes) < self._count:
                idle = _Process()
                self._processes.append(idle)
            return idle or min(self._processes, key=lambda one: len(one.streams))

    def find(self, token: str) -> LiveStream | None:
        """The stream with this token, if it lives."""
        with self._lock:
            found = (one.streams.get(token) for one in self._processes)
            stream = next((one for one in found if one is not None), None)
        return None if stream is None or stream.failed else stream

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            while self._processes:
                self._processes.pop().close()


_workers = StreamWorkers(max(1, processors() - 1))


def workers() -> StreamWorkers:
    """The processes of this server: one processor is left to the pages, if there are two."""
    return _workers


# In the process


class _Stream(Paced):
    """A stream and what its visitor does with it."""

    def __init__(self, setup: Setup, pace: float):
        self.own = EndlessStream(setup)
        super().__init__(self, pace)
        self.own.set_pace(pace)
        self.wanted = True
        """Whether the visitor wants it to flow; it does only while a browser reads it."""
        self.read = self.playing = False
        self.is_broken = False
        self.spoke = 0.0
        self.has_news = True

    def advance(self, most: int) -> int:
        """Move the stream on. A failure of one stream does not end the others."""
        self.has_news = True
        try:
            return self.own.advance(most)
        except Exception:
            _complain()
            self.is_broken, self.playing = True, False
            return most

    def obey(self, what: str, value: Any) -> None:
        """Do what the visitor has asked for, or say that the browser comes or goes (``read``)."""
        self.has_news = True
        match what:
            case "pace":
                self.pace = min(MOST_PACE, max(LEAST_PACE, value))
                self.own.set_pace(self.pace)
                self.reached = min(self.reached, self.pace)
            case "play":
                self.wanted = bool(value)
            case "step":
                self.wanted = False
                self.steps = min(_MOST_STEPS, self.steps + value)
            case "read":
                self.read = bool(value)
            case "happen":
                self.own.happen(value)
            case "refit":
                self.own.refit()
            case "drop":
                number, places = value
                self.own.drop(number, [Place(*place) for place in places])
        self.playing = self.wanted and self.read
        if self.playing:
            self.steps = 0

    def report(self, sharing: int) -> Report:
        self.has_news = False
        return Report(self.own.news(), self.wanted, self.pace, self.reached, sharing)


def serve() -> None:
    """Run streams until the input closes."""
    send = answers()
    orders: queue.SimpleQueue = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    Runner(send, orders).run()


def _complain() -> None:
    """Tell the log of the server what went wrong in this process."""
    traceback.print_exc(file=sys.stderr)


def _listen(orders: queue.SimpleQueue) -> None:
    with suppress(EOFError):
        while True:
            orders.put(question())
    orders.put(None)


class Runner:
    """All streams of a process."""

    def __init__(self, send: Callable[[object], None], orders: queue.SimpleQueue):
        self._send = send
        self._orders = orders
        self._streams: dict[str, _Stream] = {}

    def run(self) -> None:
        """Work in ticks until the server has gone."""
        last = time.monotonic()
        with suppress(BrokenPipeError, EOFError):
            while True:
                self._obey_all(last + TICK)
                now = time.monotonic()
                serve_tick(self._streams.values(), now - last)
                last = now
                self._speak(now)

    def _obey_all(self, until: float) -> None:
        """Take orders until the next tick; without streams, for as long as it takes."""
        while True:
            flows = any(one.flows or one.has_news for one in self._streams.values())
            patience = max(0.0, until - time.monotonic()) if flows else None
            try:
                order = self._orders.get(timeout=patience)
            except queue.Empty:
                return
            if order is None:
                raise EOFError
            self._obey(*order)

    def _obey(self, token: str, what: str, value: Any) -> None:
        if what == "open":
            try:
                self._streams[token] = _Stream(*value)
            except Exception:
                _complain()
                self._send((token, None))
        elif what == "close":
            self._streams.pop(token, None)
        elif token in self._streams:
            self._streams[token].obey(what, value)

    def _speak(self, now: float) -> None:
        flowing = sum(one.flows for one in self._streams.values())
        every = max(TICK, _SPEAKING * flowing)
        for token, one in list(self._streams.items()):
            if one.is_broken:
                del self._streams[token]
                self._send((token, None))
            elif one.read and one.has_news and now - one.spoke >= 0.9 * every:
                one.spoke = now
                self._send((token, one.report(flowing)))
