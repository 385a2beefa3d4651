"""What a visitor sets on the Stream page: who learns, at what pace, and what happens on the way.

The true model and the seed are those of the experiment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dashboard.model.experiment import Experiment, window_for
from dashboard.model.fields import Control, Settings, setting
from dashboard.model.kinds import Choices, Invalid, WholeNumber
from dashboard.model.methods import VARIANTS, capitalised
from dashboard.model.spaces.registry import SPACES
from rhmm.worlds import Event, World, script_from_text, script_to_text

LEAST_PACE, MOST_PACE = 10, 100_000
"""Observations a second."""

MOST_EVENTS = 60
"""In one script: a link must stay short enough for every browser."""

_NOT_AT_FIRST = ("convex",)
"""Learners that a visitor can choose: the paper's windowed one is there already."""

_MOST_TEXT = 8_000
"""Letters of a script in a link."""


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
    """The learners that follow the stream, its pace, and the script of events."""

    learners: tuple[str, ...] = setting(
        tuple(key for key in VARIANTS if key not in _NOT_AT_FIRST),
        "follow",
        Choices("learner", tuple(VARIANTS)),
        control=Control(
            "pills",
            "Learners",
            "Each of them learns from every observation once. Another choice begins the same "
            "stream anew, so that all have seen the same.",
            tuple(VARIANTS),
            {key: capitalised(variant.name) for key, variant in VARIANTS.items()},
        ),
    )
    pace: int = setting(500, "pace", WholeNumber("The pace", LEAST_PACE, MOST_PACE))
    events: tuple[Event, ...] = setting((), "events", Script())


class Setup(NamedTuple):
    """All that a stream follows from: equal setups give equal streams, to the last digit."""

    space: str
    transmat: tuple[tuple[float, ...], ...]
    means: tuple[tuple[float, ...], ...]
    sigmas: tuple[float, ...]
    seed: int
    window: int
    learners: tuple[str, ...]
    events: tuple[Event, ...]

    @classmethod
    def of(cls, experiment: Experiment, endless: Endless) -> "Setup":
        """The stream that these settings ask for."""
        return cls(
            experiment.space,
            experiment.transmat,
            experiment.means,
            experiment.sigmas,
            experiment.seed,
            window_for(experiment.n_states, experiment.window),
            endless.learners,
            endless.events,
        )

    def world(self) -> World:
        """The endless chain; `Invalid` if its events cannot happen to this model."""
        space = SPACES[self.space]
        means = space.points(self.means)
        try:
            return World(
                space.manifold, self.transmat, means, self.sigmas,
                events=self.events, seed=self.seed,
            )  # fmt: skip
        except ValueError as problem:
            raise Invalid(f"These events cannot happen to this model: {problem}.") from None
