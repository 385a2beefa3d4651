"""Scripts of events that each show one thing, ready to be chosen."""

from typing import NamedTuple

from rhmm.worlds import (
    Event,
    Missing,
    NewTransitions,
    Outliers,
    SlowTurn,
    StateAway,
    StuckSensor,
    Turn,
)


class Scenario(NamedTuple):
    """A script: its name, and what there is to see."""

    name: str
    about: str
    events: tuple[Event, ...]


_UNIFORM = 0.05
"""How likely each other state is in a chain that stays where it is."""


def scenarios(n_states: int) -> dict[str, Scenario]:
    """All of them by their names, for a model of so many states, in the order of a page."""
    stay = 1.0 - _UNIFORM * (n_states - 1)
    sticky = tuple(
        tuple(stay if i == j else _UNIFORM for j in range(n_states)) for i in range(n_states)
    )
    jumps = (Turn(at=5_000, angle=90.0), Turn(at=15_000, angle=-120.0))
    drift = (SlowTurn(at=4_000, angle=360.0, length=20_000),)
    storm: tuple[Event, ...] = (
        Turn(at=4_000, angle=30.0),
        Outliers(at=8_000, share=0.1, length=1_000),
        NewTransitions(at=12_000, transmat=sticky),
        Missing(at=16_000, share=0.5, length=2_000),
        StuckSensor(at=20_000, length=500),
        SlowTurn(at=24_000, angle=180.0, length=10_000),
    )
    listed = [
        Scenario("Nothing happens", "The truth stays as it is: a long memory wins.", ()),
        Scenario("Two jumps", "All means jump by 90°, and later by 120° the other way.", jumps),
        Scenario("Slow drift", "All means turn once around the middle, a little at a time.", drift),
    ]
    if n_states > 1:
        away = (
            StateAway(at=4_000, state=n_states - 1, length=8_000),
            StateAway(at=18_000, state=0, length=8_000),
        )
        listed.append(Scenario("States come and go", "One state is away, then another.", away))
        listed.append(Scenario("All weathers", "One event of many kinds after the other.", storm))
    return {scenario.name: scenario for scenario in listed}


def scenario_of(events: tuple[Event, ...], n_states: int) -> str | None:
    """The name of the scenario that these events are, if there is one."""
    return next((s.name for s in scenarios(n_states).values() if s.events == events), None)
