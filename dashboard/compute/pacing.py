"""Shares the time of one process among streams: each at its own pace, none starved.

A stream owes observations: its pace times the time that has passed. In each tick the stream that
was served least goes first, a piece at a time, until all owe nothing or the tick is over. What is
still owed then is forgiven: a stream that cannot keep its pace is slower, and never catches up.
"""

import math
import time
from collections.abc import Callable, Iterable
from typing import Protocol

TICK = 0.1
"""Seconds."""

BUSY = 0.9
"""The share of a tick that is worked; in the rest the process listens."""

_LONGEST = 0.25
"""Seconds that count at most: a process that was held up does not catch up."""

_PIECES = 0.001, 0.008
"""Seconds that a piece takes at least, and at most while others wait for it."""

_ALONE = 0.04
"""Seconds that a piece of a stream may take that is alone; with others, its share of that."""

_HEAD_START = 0.02
"""Seconds that a stream which joins, or has stood, is ahead of the others at most."""

_WEIGHT = 0.2
"""Of the latest tick in the pace that was reached."""


class Advancing(Protocol):
    """What a paced stream moves on."""

    def advance(self, most: int) -> int:
        """Take at most so many observations; returns how many it took, 0 while none can come."""


class Paced:
    """A stream with a pace, in the hands of `serve`."""

    def __init__(self, stream: Advancing, pace: float):
        self.stream = stream
        self.pace = pace
        self.playing = True
        self.steps = 0
        """Single observations that the visitor has asked for while it stands."""
        self.served = 0.0
        """Seconds of work, or as many as the least served stream had when this one joined."""
        self.owed = 0.0
        self.reached = pace
        """Observations a second, of late."""
        self._stands = False
        """Whether nothing could come in this tick."""
        self._at_first = 0.0
        """What it owed at the beginning of this tick."""
        self._part_owed = 0.0
        """Less than an observation, from the tick before."""
        self._cost = 1e-4
        """Seconds that an observation takes."""

    @property
    def flows(self) -> bool:
        """Whether it has something to do."""
        return self.playing or self.steps > 0

    def owe(self, seconds: float) -> None:
        """So much time has passed."""
        self.owed = self.steps
        if self.playing:
            self.owed += self._part_owed + self.pace * min(seconds, _LONGEST)
        self._at_first = self.owed
        self._stands = False

    def work(self, clock: Callable[[], float], longest: float) -> None:
        """Take a piece of what it owes, of so many seconds at most."""
        begin = clock()
        most = max(1, min(math.floor(self.owed), int(longest / self._cost)))
        taken = self.stream.advance(most)
        seconds = clock() - begin
        self.served += seconds
        if not taken:
            self.owed, self.steps, self._stands = 0.0, 0, True
            return
        self._cost += _WEIGHT * (seconds / taken - self._cost)
        self.owed -= taken
        self.steps = max(0, self.steps - taken)

    def settle(self, seconds: float) -> None:
        """The tick is over: forgive what is still owed, and note the pace that was reached."""
        if self.playing and seconds > 0.0 and not self._stands:
            pace = (self._at_first - self.owed) / seconds
            self.reached += _WEIGHT * (min(pace, self.pace) - self.reached)
        self._part_owed = self.owed % 1.0


def serve(
    streams: Iterable[Paced],
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
    worked: Callable[[], float] = time.thread_time,
) -> None:
    """One tick: `seconds` have passed since the last one.

    `worked` is the processor time that streams are charged: on a busy machine a piece may take long
    through no fault of its stream.
    """
    flowing = [one for one in streams if one.flows]
    if not flowing:
        return
    served = [one.served for one in flowing]
    least = max(min(served), max(served) - _HEAD_START)
    end = clock() + BUSY * TICK
    for one in flowing:
        one.served = max(one.served, least)  # one that stood still has no claim to that time
        one.owe(seconds)
    hungry = [one for one in flowing if one.owed >= 1.0]
    while hungry and (left := end - clock()) > 0.0:
        one = min(hungry, key=lambda each: each.served)
        shortest, usual = _PIECES
        longest = max(usual, _ALONE / len(hungry))
        one.work(worked, max(shortest, min(left, longest)))
        if one.owed < 1.0:
            hungry.remove(one)
    for one in flowing:
        one.settle(seconds)
