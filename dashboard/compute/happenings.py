"""Events that a visitor asks for by a button: what exactly happens is drawn at random, and then
stands in the script like any other event.
"""

from collections.abc import Callable, Sequence

import numpy as np

from dashboard.model.kinds import Invalid
from dashboard.model.spaces.chart import Coordinates
from dashboard.model.spaces.space import Space
from rhmm.worlds import (
    Event,
    Missing,
    MoveMean,
    NewState,
    NewTransitions,
    Outliers,
    SlowTurn,
    StateAway,
    StuckSensor,
    Truth,
    Turn,
)

_STAYS = (0.3, 0.6, 0.9)
"""How likely the states of another A are to stay."""


def event_asked_for(
    kind: str, space: Space | None, truth: Truth | None, rng: np.random.Generator
) -> Event:
    """An event of this kind that can happen to the truth; `Invalid` if there is none.

    A recording has neither a space of the dashboard nor a truth.
    """
    if kind in _DISTURBANCES:
        return _DISTURBANCES[kind]
    make = _MAKERS.get(kind)
    if make is None or space is None or truth is None:
        raise Invalid("There is no such event.")
    return make(space, truth, rng)


def move_to(space: Space, state: int, place: Sequence[float]) -> MoveMean:
    """The mean of a state moves to the point with these coordinates; `Invalid` if it is none."""
    point = space.points([space.check(place, f"mean {state + 1}")])[0]
    return MoveMean(state=state, mean=tuple(np.ravel(point).tolist()))


def _jump(space: Space, truth: Truth, rng: np.random.Generator) -> Event:
    angle = 5.0 * int(rng.integers(12, 31))  # from 60° to 150°
    return Turn(angle=angle if rng.random() < 0.5 else -angle)


def _slow_turn(space: Space, truth: Truth, rng: np.random.Generator) -> Event:
    return SlowTurn(angle=180.0 if rng.random() < 0.5 else -180.0, length=10_000)


def _transitions(space: Space, truth: Truth, rng: np.random.Generator) -> Event:
    n = truth.n_states
    if n == 1:
        raise Invalid("With one state there is no other A.")
    now = float(np.diag(truth.full_transmat).mean())
    stay = rng.choice([stay for stay in _STAYS if abs(stay - now) > 0.1])
    rows = (1.0 - stay) * rng.dirichlet(np.ones(n - 1), n).round(2)
    transmat = np.zeros((n, n))
    for i in range(n):
        transmat[i, np.arange(n) != i] = rows[i].round(2)
        transmat[i, i] = 1.0 - transmat[i].sum()
    return NewTransitions(transmat=tuple(map(tuple, transmat.round(2).tolist())))


def _away(space: Space, truth: Truth, rng: np.random.Generator) -> Event:
    there = np.flatnonzero(truth.exists)
    if len(there) == 1:
        raise Invalid("The last state cannot go.")
    return StateAway(state=int(rng.choice(there)), length=5_000)


def _new_state(space: Space, truth: Truth, rng: np.random.Generator) -> Event:
    rooms = space.points(space.rooms)
    distances = space.manifold.squared_distances(rooms, truth.means).min(axis=0)
    place: Coordinates = tuple(np.ravel(rooms[int(distances.argmax())]).tolist())
    return NewState(mean=place, sigma=float(np.median(truth.sigmas)))


_MAKERS: dict[str, Callable[[Space, Truth, np.random.Generator], Event]] = {
    Turn.name: _jump,
    SlowTurn.name: _slow_turn,
    NewTransitions.name: _transitions,
    StateAway.name: _away,
    NewState.name: _new_state,
    Outliers.name: lambda space, truth, rng: Outliers(share=0.1, length=1_000),
}

_DISTURBANCES: dict[str, Event] = {
    Missing.name: Missing(share=0.5, length=2_000),
    StuckSensor.name: StuckSensor(length=500),
}
"""Events that need no truth."""

HAPPENINGS = (*_MAKERS, *_DISTURBANCES)
"""The kinds of events that a button asks for, in the order of the page."""

HAPPENINGS_OF_RECORDINGS = tuple(_DISTURBANCES)
"""Those that can happen to a recording."""
