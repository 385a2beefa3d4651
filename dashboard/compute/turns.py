"""Decides which job works next: the least served visitor first, and short jobs before long ones.

Jobs share a few slots. Of the jobs that wait, the one with the lowest *score* gets the next slot.
The score is in seconds: what its visitor has used of late, plus what the job still needs, minus
how long it has waited. So a visitor who has used little comes before one who has used much, a short
job before a long one, and every job is served in the end.

Two rules keep long jobs from blocking short ones. Long jobs never take the last slot, if there are
two or more. And a job that has worked for a while gives way, at one of its reports, to a job with a
lower score; it goes on when its turn comes again.
"""

import threading
import time
from collections.abc import Callable, Collection

LONG = 3.0
"""Seconds of work that make a job a long one."""

_MOST_COUNTED = 30.0
"""No job counts as longer than this: it would wait too long for its first turn."""

_HALF_LIFE = 60.0
"""Seconds after which half of what a visitor has used is forgotten."""

_FORGOTTEN = 0.01
"""Seconds of use that are not worth remembering."""


class Ticket:
    """A job's claim to a slot: how many seconds it should take, and who wants its result."""

    def __init__(self, seconds: float, visitors: Callable[[], Collection[str]]):
        self.seconds = seconds
        self.visitors = visitors
        self.called = threading.Event()
        """Set while the job has a slot."""
        self.worked = 0.0
        """Seconds that the job has worked so far; the job itself keeps count."""
        self.worked_before = 0.0
        """The same when its turn began."""
        self.charged = 0.0
        """How many of them its visitors have been charged."""
        self.waits_since = 0.0

    @property
    def is_long(self) -> bool:
        """Whether it should take long, or has taken long against all expectation."""
        return max(self.seconds, self.worked) > LONG


class Turns:
    """Hands out slots. A job works for at least `least_turn` seconds before it gives way.

    Seconds of work are those that jobs count themselves: on a busy machine a short job may take
    long, and must not pass for a long one.
    """

    def __init__(self, slots: int, least_turn: float, clock: Callable[[], float] = time.monotonic):
        self._slots = slots
        self._slots_for_long = max(1, slots - 1)
        self._least_turn = least_turn
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: list[Ticket] = []
        self._working: list[Ticket] = []
        self._used: dict[str, tuple[float, float]] = {}
        """For each visitor: seconds used, and when that was written down."""

    def enter(self, ticket: Ticket) -> None:
        """Wait for a slot: `ticket.called` is set when it is there."""
        with self._lock:
            ticket.waits_since = self._clock()
            self._waiting.append(ticket)
            self._fill()

    def leave(self, ticket: Ticket) -> None:
        """The job is over, or not wanted any more."""
        with self._lock:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            elif ticket in self._working:
                self._charge(ticket)
                self._working.remove(ticket)
                self._fill()

    def give_way(self, ticket: Ticket) -> bool:
        """Whether a working job lost its slot to one with a lower score, and waits again."""
        with self._lock:
            self._charge(ticket)
            if ticket.worked - ticket.worked_before < self._least_turn:
                return False
            first = self._next(instead_of=ticket)
            if first is None or self._score(first) >= self._score(ticket):
                return False
            ticket.called.clear()
            ticket.waits_since = self._clock()
            self._working.remove(ticket)
            self._fill()
            self._waiting.append(ticket)
            self._fill()
            return True

    def place(self, ticket: Ticket) -> int:
        """1 for the job that comes next, 2 for the one after it; 0 for one that does not wait."""
        with self._lock:
            if ticket not in self._waiting:
                return 0
            return 1 + sorted(self._waiting, key=self._score).index(ticket)

    def used(self, visitor: str) -> float:
        """Seconds that this visitor has used of late: long ago counts little."""
        seconds, at = self._used.get(visitor, (0.0, 0.0))
        return seconds * 0.5 ** ((self._clock() - at) / _HALF_LIFE)

    def _score(self, ticket: Ticket) -> float:
        used = min(map(self.used, ticket.visitors()), default=0.0)
        needed = min(_MOST_COUNTED, max(0.0, ticket.seconds - ticket.worked))
        waited = 0.0 if ticket.called.is_set() else self._clock() - ticket.waits_since
        return used + needed - waited

    def _next(self, instead_of: Ticket | None = None) -> Ticket | None:
        """The waiting job that comes first; without `instead_of` it needs a free slot."""
        others = [ticket for ticket in self._working if ticket is not instead_of]
        if len(others) >= self._slots:
            return None
        long_ones = sum(ticket.is_long for ticket in others)
        may_begin = [
            ticket
            for ticket in self._waiting
            if not ticket.is_long or long_ones < self._slots_for_long
        ]
        return min(may_begin, key=self._score, default=None)

    def _fill(self) -> None:
        """Give free slots to those who come first."""
        while (ticket := self._next()) is not None:
            self._waiting.remove(ticket)
            self._working.append(ticket)
            ticket.worked_before = ticket.worked
            ticket.called.set()

    def _charge(self, ticket: Ticket) -> None:
        """Write down what the job has used since it was charged last."""
        seconds = ticket.worked - ticket.charged
        ticket.charged = ticket.worked
        visitors = ticket.visitors()
        for visitor in visitors:
            used = self.used(visitor) + seconds / len(visitors)
            self._used[visitor] = (used, self._clock())
        for visitor in [v for v in self._used if self.used(v) < _FORGOTTEN]:
            del self._used[visitor]
