"""What a visitor sets on the Stream page: what flows, the learners, the pace, and what happens.

The observations are those of the experiment: a chain without end or a recording.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dashboard.model.analysis import HeldRecording
from dashboard.model.experiment import Experiment, window_for
from dashboard.model.fields import Control, Settings, setting
from dashboard.model.followers import FOLLOWERS
from dashboard.model.kinds import Choice, Choices, Invalid, WholeNumber
from dashboard.model.methods import capitalised
from dashboard.model.model_checks import MOST_STATES
from dashboard.model.spaces.registry import SPACES
from rhmm import Manifold
from rhmm.worlds import (
    BlockStream,
    Event,
    NewState,
    Playback,
    World,
    register_event,
    script_from_text,
    script_to_text,
)

LEAST_PACE, MOST_PACE = 10, 100_000
"""Observations a second."""

MOST_EVENTS = 60
"""In one script: a link must stay short enough for every browser."""

STOP, AGAIN = "stop", "again"

MOST_BYTES = 100_000_000
"""Of a file that can be streamed: it is copied to the process that runs the stream."""

_NOT_AT_FIRST = ("convex", "counting")
"""Learners that a visitor can choose: two of the paper's kind say little more than one, and all
learners know the number of states unless one is to show what that is worth."""

_MOST_TEXT = 8_000
"""Letters of a script in a link."""


@register_event
@dataclass(frozen=True, kw_only=True)
class Refit(Event):
    """EM is fitted to the latest observations. Nothing happens to the stream itself."""

    name = "refit"
    label = "EM is fitted"

    def check_fields(self) -> None:
        """It has none of its own."""

    @property
    def ends(self) -> int:
        """How many observations after `at` it is over."""
        return 0


@dataclass(frozen=True)
class Script:
    """Events, each with its time, in the order in which they happen."""

    def read(self, text: str) -> tuple[Event, ...]:
        if len(text) > _MOST_TEXT:
            raise ValueError(text)
        return script_from_text(text)

    def write(self, value: Sequence[Event]) -> str:
        return script_to_text(value)

    def check(self, value) -> tuple[Event, ...]:
        events = tuple(value) if isinstance(value, list | tuple) else (None,)
        if not all(isinstance(event, Event) and event.at is not None for event in events):
            raise Invalid("Every event needs a time.")
        if len(events) > MOST_EVENTS:
            raise Invalid(f"There can be at most {MOST_EVENTS} events.")
        return events


@dataclass(frozen=True)
class Endless(Settings):
    """The learners that follow a stream, its pace, and the script of events."""

    at_end: str = setting(
        STOP,
        "end",
        Choice("What comes at the end", (STOP, AGAIN)),
        control=Control(
            "radio",
            "At its end",
            "The stream ends with the recording, or the recording begins again; the learners then "
            "go on with what they know.",
            (STOP, AGAIN),
            {STOP: "Stop", AGAIN: "Begin again"},
        ),
    )
    learners: tuple[str, ...] = setting(
        tuple(key for key in FOLLOWERS if key not in _NOT_AT_FIRST),
        "follow",
        Choices("learner", tuple(FOLLOWERS)),
        control=Control(
            "pills",
            "Learners",
            "Each of them learns from every observation once. Another choice begins the same "
            "stream anew, so that all have seen the same.",
            tuple(FOLLOWERS),
            {key: capitalised(one.name) for key, one in FOLLOWERS.items()},
        ),
    )
    pace: int = setting(500, "pace", WholeNumber("The pace", LEAST_PACE, MOST_PACE))
    events: tuple[Event, ...] = setting((), "events", Script())


class Chain(NamedTuple):
    """A chain that is drawn from a true model, which its events change."""

    space: str
    transmat: tuple[tuple[float, ...], ...]
    means: tuple[tuple[float, ...], ...]
    sigmas: tuple[float, ...]

    @property
    def n_states(self) -> int:
        """How many states learners look for."""
        return len(self.means)

    @property
    def manifold(self) -> Manifold:
        return SPACES[self.space].manifold

    def opened(self, events: Sequence[Event], seed: int) -> World:
        means = SPACES[self.space].points(self.means)
        return World(
            self.manifold, self.transmat, means, self.sigmas, events=events, seed=seed
        )  # fmt: skip


class Played(NamedTuple):
    """A recording that is played, once or again and again."""

    held: HeldRecording
    n_states: int
    """How many states learners look for."""
    repeats: bool

    @property
    def manifold(self) -> Manifold:
        return self.held.recording.manifold

    @property
    def has_labels(self) -> bool:
        return self.held.recording.labels is not None

    def opened(self, events: Sequence[Event], seed: int) -> Playback:
        return Playback(self.held.recording, events=events, seed=seed, repeat=self.repeats)


class Setup(NamedTuple):
    """All that a stream follows from: equal setups give equal streams, to the last digit."""

    source: Chain | Played
    seed: int
    window: int
    learners: tuple[str, ...]
    events: tuple[Event, ...]

    @classmethod
    def of(
        cls, experiment: Experiment, endless: Endless, whole: HeldRecording | None = None
    ) -> "Setup":
        """The stream that these settings ask for. `whole` is a visitor's own file, of which the
        experiment may have the beginning alone; `Invalid` if it is too large."""
        source: Chain | Played
        wanted = experiment.window
        if experiment.is_recorded:
            held = experiment.held if whole is None else _checked(whole)
            source = Played(held, experiment.n_states, endless.at_end == AGAIN)
            wanted = min(wanted, max(held.n_observed // 4, 1))
        else:
            source = Chain(
                experiment.space, experiment.transmat, experiment.means, experiment.sigmas
            )
        window = window_for(source.n_states, wanted)
        return cls(source, experiment.seed, window, endless.learners, endless.events)

    def opened(self) -> BlockStream:
        """The observations; `Invalid` if its events cannot happen to them."""
        if isinstance(self.source, Chain):
            check_births(self.source.n_states, self.events)
        try:
            return self.source.opened(self.events, self.seed)
        except ValueError as problem:
            what = "recording" if isinstance(self.source, Played) else "model"
            raise Invalid(f"These events cannot happen to this {what}: {problem}.") from None


def check_births(n_states: int, events: Sequence[Event]) -> None:
    """`Invalid` if events lead from so many states to more than a canvas has marks for."""
    if n_states + sum(isinstance(event, NewState) for event in events) > MOST_STATES:
        raise Invalid(f"There can be at most {MOST_STATES} states, those that appear included.")


def _checked(whole: HeldRecording) -> HeldRecording:
    """The visitor's own recording as a canvas can show it; `Invalid` if it cannot be streamed."""
    if whole.recording.points.nbytes > MOST_BYTES:
        raise Invalid(
            f"More than {MOST_BYTES // 10**6} MB cannot be streamed: your file ends early here."
        )
    return whole.on_canvas()
