"""Editing a true model: tables to type in, what is wrong with them, more or fewer states.

A truth is a dictionary of the fields in `experiment.TRUTH`. It may be half typed: blanks are None.
One that names no space lies in the default one, as in links.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dashboard.model.experiment import MODEL, Experiment
from dashboard.model.kinds import Invalid, is_number
from dashboard.model.model_checks import normalised
from dashboard.model.spaces.chart import Chart, Coordinates
from dashboard.model.spaces.registry import DEFAULT, SPACES
from dashboard.model.spaces.space import Space

Rows = tuple[tuple[float | None, ...], ...]

_STAYING = 0.6
_SHARE_OF_A_NEW_STATE = 0.1
_DIGITS = 12  # so that 0.4 · 0.9 is written 0.36 in a link


class Placed(NamedTuple):
    """A mean that was dropped on a map."""

    state: int
    chart: Chart
    x: float
    y: float


def space_of(truth: Mapping) -> Space:
    """The space that a true model lives in."""
    return SPACES[truth.get("space", DEFAULT.key)]


# Tables that a visitor types in


def transmat_columns(n: int) -> tuple[str, ...]:
    return tuple(f"to {i + 1}" for i in range(n))


def transmat_row_names(n: int) -> list[str]:
    return [f"from {i + 1}" for i in range(n)]


def state_row_names(n: int) -> list[str]:
    return [f"state {i + 1}" for i in range(n)]


def edited(rows: Rows, edits: Mapping[int, Mapping], columns: Sequence[str]) -> Rows:
    """The table after what was typed: for each row, the new values of some columns.

    No browser sends changes of cells that the table does not have: they are ignored. A cell that is
    given no number is blank.
    """
    position = {name: j for j, name in enumerate(columns)}
    changed = [list(row) for row in rows]
    for i, values in edits.items():
        for name, value in values.items():
            if 0 <= i < len(changed) and name in position:
                changed[i][position[name]] = value if is_number(value) else None
    return tuple(map(tuple, changed))


def state_columns(space: Space) -> tuple[str, ...]:
    return *space.coordinates, "σ", "π"


def state_rows(truth: Mapping) -> Rows:
    """One row for each state: the coordinates of its mean, σ and π."""
    return tuple(
        (*mean, sigma, start)
        for mean, sigma, start in zip(
            truth["means"], truth["sigmas"], truth["startprob"], strict=True
        )
    )


def from_state_rows(rows: Rows) -> dict:
    """The fields that a table of states sets."""
    return {
        "means": tuple(tuple(mean) for *mean, _, _ in rows),
        "sigmas": tuple(sigma for *_, sigma, _ in rows),
        "startprob": tuple(start for *_, start in rows),
    }


# What is wrong with it


def fits_together(truth: Mapping) -> bool:
    """Whether all fields are about the same number of states."""
    return len({len(truth[field]) for field in MODEL}) == 1


def problems(truth: Mapping) -> dict[str, str]:
    """A sentence for each field that is not valid by itself."""
    space, n = space_of(truth), len(truth["means"])
    found = {field: _problem(space, n, field, truth[field]) for field in MODEL}
    return {field: sentence for field, sentence in found.items() if sentence}


def _problem(space: Space, n: int, field: str, value) -> str | None:
    """What `Experiment` says of this value of a model with n states in this space."""
    try:
        Experiment.table()[field].checked(value, {"space": space.key, "means": (None,) * n})
    except Invalid as problem:
        return str(problem)
    return None


def is_law(law: Sequence) -> bool:
    """Whether these are probabilities that sum to 1."""
    return _problem(DEFAULT, len(law), "startprob", tuple(law)) is None


def mended_transmat(transmat: Rows) -> Rows:
    """Every row that is no law in its own proportions; the others as they are."""
    return tuple(row if is_law(row) else normalised(row) for row in transmat)


def drawable(draft: Mapping, last_valid: Mapping) -> tuple[Rows, tuple[float, ...]]:
    """Means and σ to draw: as they are typed, and as they last were where that cannot be drawn."""
    space = space_of(draft)
    before = last_valid if space_of(last_valid) is space else space.truth
    return (
        _valid_ones(space, "means", draft["means"], before["means"], space.truth["means"][0]),
        _valid_ones(space, "sigmas", draft["sigmas"], before["sigmas"], 1.0),
    )


def _valid_ones(
    space: Space, field: str, values: Sequence, last_valid: Sequence, otherwise
) -> tuple:
    before = (*last_valid, *(otherwise,) * len(values))  # a new state was nowhere before
    return tuple(
        value if _problem(space, 1, field, (value,)) is None else before[i]
        for i, value in enumerate(values)
    )


# More states, fewer states


def with_dropped(means: Rows, drawn: Sequence[Coordinates], drops: Iterable[Placed]) -> Rows:
    """The means after those that a visitor has dropped; `drawn` is where the map showed them."""
    moved = list(means)
    for state, chart, x, y in drops:
        if state < len(moved):
            moved[state] = chart.from_map(x, y, drawn[state])
    return tuple(moved)


def with_new_state(truth: Mapping) -> dict:
    """One state more, where there is room; the others give it a share of their transitions."""
    space, n = space_of(truth), len(truth["means"])
    sigma = _usual_sigma(space, truth["sigmas"])
    keep = 1.0 - _SHARE_OF_A_NEW_STATE
    mended = np.array(mended_transmat(truth["transmat"]), dtype=float)
    rows = [(*(keep * row).tolist(), _SHARE_OF_A_NEW_STATE) for row in mended]
    rows.append((*((1.0 - _STAYING) / n for _ in range(n)), _STAYING))
    return {
        "space": space.key,
        "means": (*truth["means"], _free_place(space, truth["means"], truth["sigmas"], sigma)),
        "sigmas": (*truth["sigmas"], sigma),
        "transmat": tuple(tuple(round(value, _DIGITS) for value in row) for row in rows),
        "startprob": (*truth["startprob"], 0.0),
    }


def without_state(truth: Mapping, state: int) -> dict:
    """One state less; what led to it is shared by the others in their proportions."""

    def rest(values):
        return (*values[:state], *values[state + 1 :])

    return {
        "space": space_of(truth).key,
        "means": rest(truth["means"]),
        "sigmas": rest(truth["sigmas"]),
        "transmat": tuple(normalised(rest(row)) for row in rest(truth["transmat"])),
        "startprob": normalised(rest(truth["startprob"])),
    }


def _usual_sigma(space: Space, sigmas: Sequence) -> float:
    valid = [sigma for sigma in sigmas if _problem(space, 1, "sigmas", (sigma,)) is None]
    return round(float(np.median(valid)), _DIGITS) if valid else 1.0


def _free_place(space: Space, means: Sequence, sigmas: Sequence, sigma: float) -> Coordinates:
    """Of the places that the space offers, the one that is furthest from all means in their σ."""
    places = space.points(space.rooms)
    nearest = np.full(len(places), np.inf)
    for mean, own in zip(means, sigmas, strict=True):
        if _problem(space, 1, "means", (mean,)) is None:
            unit = sigma + (own if _problem(space, 1, "sigmas", (own,)) is None else sigma)
            same = np.broadcast_to(space.points([mean])[0], places.shape)
            distances = space.manifold.dist(places, same)
            nearest = np.minimum(nearest, distances / unit)
    return space.rooms[int(nearest.argmax())]
