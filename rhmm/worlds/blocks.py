"""A stream of observations in blocks of 50, with a script of events.

What disturbs a block is drawn from a random generator of its own, seeded by the seed of the stream
and the number of the block, so the same script gives the same observations bit for bit, in whatever
pieces they are taken and whether events were planned or added live.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rhmm.manifolds import Manifold
from rhmm.validation import check_integer
from rhmm.worlds.event import BLOCK, Disturbance, Event
from rhmm.worlds.truth import Truth


class Part(NamedTuple):
    """The next n observations of a stream."""

    X: np.ndarray
    """Shape (n, *point_shape); NaN where an observation is missing."""
    states: np.ndarray
    """The true states, shape (n,); −1 where none is known."""
    ceiling: np.ndarray
    """The most probable state under the true parameters of the moment given all observations up to
    then, shape (n,): what no learner beats on average. It knows which observations are disturbed,
    and takes them as missing. −1 where no true parameters are known."""
    log_density: np.ndarray
    """One-step predictive log densities of that filter, shape (n,); 0 where it takes an observation
    as missing."""
    intact: np.ndarray
    """Which observations are neither missing nor disturbed, shape (n,)."""


class BlockStream(ABC):
    """Observations in blocks, and what happens to them."""

    def __init__(self, manifold: Manifold, events: Iterable[Event], seed):
        self.manifold = manifold
        self._seed = check_integer("seed", seed, at_least=0)
        self._produced = 0
        self._script: list[Event] = []
        """All events, in the order in which they begin."""
        self._ahead: list[Event] = []
        """Those that are not over."""
        for event in events:
            if not isinstance(event, Event) or event.at is None:
                raise ValueError(f"events must be events with a time each, not {event!r}")
            self._plan(event)
        self._rehearse()
        self._latest = np.full(manifold.point_shape, np.nan)
        self._rest = _joined(manifold, [])
        """What was drawn and not taken yet: less than a block."""

    @property
    def n_taken(self) -> int:
        """Observations taken so far."""
        return self._produced - len(self._rest.states)

    @property
    @abstractmethod
    def truth(self) -> Truth | None:
        """The parameters of the moment: those of the latest observation that was drawn; None if
        they are not known."""

    @property
    @abstractmethod
    def until_end(self) -> float:
        """Observations that are left of the present sequence."""

    @property
    def events(self) -> tuple[Event, ...]:
        """The whole script so far, live events included: a stream with it is the same."""
        return tuple(self._script)

    def add(self, event: Event) -> Event:
        """Let something happen while the stream runs; returns the event with the time it got.

        An event without a time happens before the next block that is not drawn yet. A ValueError
        says why an event cannot happen; the stream then goes on without it.
        """
        if not isinstance(event, Event):
            raise ValueError(f"event must be an event such as Turn(angle=90), not {event!r}")
        if event.at is None:
            event = event.moved_to(-(-self._produced // BLOCK) * BLOCK)
        if time_of(event) < self._produced:
            raise ValueError(f"at must be {self._produced} or later, not {event.at}")
        before = self._script, self._ahead
        self._plan(event)
        try:
            self._rehearse()
        except ValueError:
            self._script, self._ahead = before
            raise
        return event

    def _plan(self, event: Event) -> None:
        self._script = sorted([*self._script, event], key=time_of)
        self._ahead = sorted([*self._ahead, event], key=time_of)

    @abstractmethod
    def _rehearse(self) -> None:
        """Refuse a script that cannot happen, by a ValueError."""

    def take(self, n: int) -> Part:
        """The next n observations, with what is true about them; fewer if no more come."""
        n = check_integer("n", n, at_least=1)
        parts, count = [self._rest], len(self._rest.states)
        while count < n:
            part = self._next_blocks(-(-(n - count) // BLOCK))
            if part is None:
                break
            parts.append(part)
            count += len(part.states)
        drawn = _joined(self.manifold, parts)
        self._rest = Part(*(field[n:].copy() for field in drawn))
        return Part(*(field[:n] for field in drawn))

    @abstractmethod
    def _next_blocks(self, most: int) -> Part | None:
        """The next blocks of 50 observations, one or more but at most so many, or what is left;
        None if nothing is."""

    def _disturb(self, X: np.ndarray) -> np.ndarray:
        """Disturb the next block X in place; returns which of its observations are, shape (50,)."""
        spoiled = np.zeros(BLOCK, bool)
        if self._ahead:
            rng = np.random.default_rng((self._seed, self._produced // BLOCK, 1))
            for event in self._ahead:
                if isinstance(event, Disturbance) and time_of(event) <= self._produced:
                    spoiled |= event.disturb(self.manifold, self.truth, X, self._latest, rng)
        return spoiled

    def _note(self, X: np.ndarray) -> np.ndarray:
        """Keep the latest observation of blocks X; returns which are missing, shape (n,)."""
        unknown = np.isnan(X).reshape(len(X), -1).any(axis=1)
        if not unknown.all():
            self._latest = X[np.flatnonzero(~unknown)[-1]].copy()
        return unknown

    def _forget_past(self) -> None:
        """Keep only events that are not over."""
        self._ahead = [e for e in self._ahead if self._produced - time_of(e) < e.ends]


def time_of(event: Event) -> int:
    """When an event of a stream happens."""
    assert event.at is not None  # a stream gives each event a time
    return event.at


def _joined(manifold: Manifold, parts: list[Part]) -> Part:
    nothing = Part(
        np.empty((0, *manifold.point_shape)), np.empty(0, np.int64), np.empty(0, np.int64),
        np.empty(0), np.empty(0, bool),
    )  # fmt: skip
    return Part(*(np.concatenate(fields) for fields in zip(nothing, *parts, strict=True)))
