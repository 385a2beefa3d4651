"""Editing a true model: tables to type in, what is wrong with them, more or fewer states.

A truth is a dictionary of the fields in `experiment.TRUTH`. It may be half typed: blanks are None.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from dashboard.model.experiment import TRUTH, Experiment, normalised
from dashboard.model.kinds import Invalid
from dashboard.model.space import DISK

STATE_COLUMNS = ("x", "y", "σ", "π")

Rows = tuple[tuple[float | None, ...], ...]

_STAYING = 0.6
_SHARE_OF_A_NEW_STATE = 0.1
_DIGITS = 12  # so that 0.4 · 0.9 is written 0.36 in a link
_NEW_RADII = (0.0, 0.25, 0.5, 0.75)
_NEW_ANGLES = 16


# Tables that a visitor types in


def transmat_columns(n: int) -> tuple[str, ...]:
    return tuple(f"to {i + 1}" for i in range(n))


def transmat_row_names(n: int) -> list[str]:
    return [f"from {i + 1}" for i in range(n)]


def state_row_names(n: int) -> list[str]:
    return [f"state {i + 1}" for i in range(n)]


def edited(rows: Rows, edits: Mapping[int, Mapping], columns: Sequence[str]) -> Rows:
    """The table after what was typed: for each row, the new values of some columns."""
    position = {name: j for j, name in enumerate(columns)}
    changed = [list(row) for row in rows]
    for i, values in edits.items():
        for name, value in values.items():
            changed[i][position[name]] = value
    return tuple(map(tuple, changed))


def state_rows(truth: Mapping) -> Rows:
    """One row of x, y, σ and π for each state."""
    return tuple(
        (*mean, sigma, start)
        for mean, sigma, start in zip(
            truth["means"], truth["sigmas"], truth["startprob"], strict=True
        )
    )


def from_state_rows(rows: Rows) -> dict:
    """The fields that a table of states sets."""
    return {
        "means": tuple((x, y) for x, y, _, _ in rows),
        "sigmas": tuple(sigma for _, _, sigma, _ in rows),
        "startprob": tuple(start for _, _, _, start in rows),
    }


# What is wrong with it


def fits_together(truth: Mapping) -> bool:
    """Whether all fields are about the same number of states."""
    return len({len(truth[field]) for field in TRUTH}) == 1


def problems(truth: Mapping) -> dict[str, str]:
    """A sentence for each field that is not valid by itself."""
    n = len(truth["means"])
    found = {field: _problem(n, field, truth[field]) for field in TRUTH}
    return {field: sentence for field, sentence in found.items() if sentence}


def _problem(n: int, field: str, value) -> str | None:
    """What `Experiment` says of this value when all other fields are valid."""
    even = (1.0 / n,) * n
    valid = {
        "means": tuple((0.1 * i, 0.0) for i in range(n)),
        "sigmas": (1.0,) * n,
        "transmat": (even,) * n,
        "startprob": even,
    }
    try:
        Experiment(**valid | {field: value})
    except Invalid as problem:
        return str(problem)
    return None


def is_law(law: Sequence) -> bool:
    """Whether these are probabilities that sum to 1."""
    return _problem(len(law), "startprob", tuple(law)) is None


def mended_transmat(transmat: Rows) -> Rows:
    """Every row that is no law in its own proportions; the others as they are."""
    return tuple(row if is_law(row) else normalised(row) for row in transmat)


def drawable(draft: Mapping, last_valid: Mapping) -> tuple[Rows, tuple[float, ...]]:
    """Means and σ to draw: as they are typed, and as they last were where that cannot be drawn."""
    return (
        _valid_ones("means", draft["means"], last_valid["means"], (0.0, 0.0)),
        _valid_ones("sigmas", draft["sigmas"], last_valid["sigmas"], 1.0),
    )


def _valid_ones(field: str, values: Sequence, last_valid: Sequence, otherwise) -> tuple:
    before = (*last_valid, *(otherwise,) * len(values))  # a new state was nowhere before
    return tuple(
        value if _problem(1, field, (value,)) is None else before[i]
        for i, value in enumerate(values)
    )


# More states, fewer states


def with_dropped(means: Rows, drops: Iterable[Mapping]) -> Rows:
    """The means after those that a canvas has dropped: of each, its state and where it is now."""
    places = {drop["state"]: (drop["x"], drop["y"]) for drop in drops}
    return tuple(places.get(i, mean) for i, mean in enumerate(means))


def with_new_state(truth: Mapping) -> dict:
    """One state more, where there is room; the others give it a share of their transitions."""
    n = len(truth["means"])
    sigma = _usual_sigma(truth["sigmas"])
    keep = 1.0 - _SHARE_OF_A_NEW_STATE
    rows = [
        (*(keep * value for value in row), _SHARE_OF_A_NEW_STATE)
        for row in mended_transmat(truth["transmat"])
    ]
    rows.append((*((1.0 - _STAYING) / n for _ in range(n)), _STAYING))
    return {
        "means": (*truth["means"], _free_place(truth["means"], truth["sigmas"], sigma)),
        "sigmas": (*truth["sigmas"], sigma),
        "transmat": tuple(tuple(round(value, _DIGITS) for value in row) for row in rows),
        "startprob": (*truth["startprob"], 0.0),
    }


def without_state(truth: Mapping, state: int) -> dict:
    """One state less; what led to it is shared by the others in their proportions."""

    def rest(values):
        return (*values[:state], *values[state + 1 :])

    return {
        "means": rest(truth["means"]),
        "sigmas": rest(truth["sigmas"]),
        "transmat": tuple(normalised(rest(row)) for row in rest(truth["transmat"])),
        "startprob": normalised(rest(truth["startprob"])),
    }


def _usual_sigma(sigmas: Sequence) -> float:
    valid = [sigma for sigma in sigmas if _problem(1, "sigmas", (sigma,)) is None]
    return round(float(np.median(valid)), _DIGITS) if valid else 1.0


def _free_place(means: Rows, sigmas: Sequence, sigma: float) -> tuple[float, float]:
    """Of some places not too far out, the one that is furthest from all means in their σ."""
    angles = 2.0 * np.pi * np.arange(_NEW_ANGLES) / _NEW_ANGLES
    places = np.array([(r * np.cos(a), r * np.sin(a)) for r in _NEW_RADII for a in angles]).round(2)
    nearest = np.full(len(places), np.inf)
    for mean, own in zip(means, sigmas, strict=True):
        if _problem(1, "means", (mean,)) is None:
            unit = sigma + (own if _problem(1, "sigmas", (own,)) is None else sigma)
            distances = DISK.dist(places, np.broadcast_to(mean, places.shape))
            nearest = np.minimum(nearest, distances / unit)
    x, y = places[nearest.argmax()].tolist()
    return x, y
