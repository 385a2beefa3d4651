"""How two ways of doing the same thing are timed against each other."""

import gc
import math
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

Clock = Callable[[], float]
"""Does the work once and returns the seconds that count; NaN if this run must not count."""

_ROUNDS = (5, 100)
_SECONDS = 4.0


class Race(NamedTuple):
    """Two or more ways to do the same work, already checked to agree."""

    ours: Clock
    peers: dict[str, Clock]
    """Ways the other library offers; the fastest of them is the one to beat."""


class Comparison(NamedTuple):
    name: str
    """What ``--only`` calls it."""
    what: str
    target: float | None
    """How many times faster than the peer we mean to be, or None: shown for information."""
    prepare: Callable[[], Race]
    """Makes the data, checks that both sides compute the same, returns what to time."""


class Result(NamedTuple):
    name: str
    what: str
    ours: float
    peer: float
    peer_name: str
    ratio: float
    target: float | None
    rounds: int


def seconds(work: Callable[[], object]) -> Clock:
    """The time that one call of `work` takes."""

    def clock() -> float:
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin

    return clock


def marginal(work: Callable[[int], object], few: int, many: int) -> Clock:
    """The time that one more iteration takes: ``work(many)`` minus ``work(few)``, for each."""

    def clock() -> float:
        longer = seconds(lambda: work(many))()
        return (longer - seconds(lambda: work(few))()) / (many - few)

    return clock


def run(comparison: Comparison) -> Result:
    """Medians of alternating runs, after one run of each that does not count.

    That first run compiles or loads kernels and fills caches. The sides take turns, so that
    whatever else the machine does meets both.
    """
    race = comparison.prepare()
    clocks = [race.ours, *race.peers.values()]
    for clock in clocks:
        clock()
    least, most = _ROUNDS
    rounds: list[list[float]] = []
    gc.collect()
    gc.disable()
    try:
        begin = time.perf_counter()
        while len(rounds) < least or (
            len(rounds) < most and time.perf_counter() - begin < _SECONDS
        ):
            rounds.append([clock() for clock in clocks])
    finally:
        gc.enable()
    ours, *peers = (_median(column) for column in zip(*rounds, strict=True))
    peer, peer_name = min(zip(peers, race.peers, strict=True))
    return Result(
        comparison.name,
        comparison.what,
        ours,
        peer,
        peer_name,
        peer / ours,
        comparison.target,
        len(rounds),
    )


def _median(column: tuple[float, ...]) -> float:
    counted = [value for value in column if not math.isnan(value)]
    return statistics.median(counted) if counted else math.inf
