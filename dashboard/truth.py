"""Set the truth: what was typed, what is wrong with it, and what a true model implies.

A truth is a dictionary of the fields in `experiment.TRUTH`. It may be half typed: blanks are None.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st

from dashboard import present
from dashboard.experiment import (
    TRUTH,
    Experiment,
    Invalid,
    indexed,
    normalised,
    window_for,
)
from dashboard.runs import DISK, true_model
from rhmm.parameters import closed_classes, stationary_law

STATE_COLUMNS = ("x", "y", "σ", "π")

SIMULATED = 20_000
"""Observations behind the best possible accuracy."""

Rows = tuple[tuple[float | None, ...], ...]

_BLOCKS = 20
_STAYING = 0.6
_SHARE_OF_A_NEW_STATE = 0.1
_DIGITS = 12  # so that 0.4 · 0.9 is written 0.36 in a link
_NEW_RADII = (0.0, 0.25, 0.5, 0.75)
_NEW_ANGLES = 16


# Tables that people type in


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
    """What `Experiment` says of this value beside fields that are beyond doubt."""
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
    return _problem(len(law), "startprob", tuple(law)) is None


def sum_in_words(law: Sequence) -> tuple[str, str]:
    """The sum of a row, and a check mark or what is wrong with it."""
    given = [value for value in law if value is not None]
    total = f"{sum(given):.10g}"
    if is_law(law):
        return "1", "✓"
    if len(given) < len(law):
        return total, "a blank"
    if min(law) < 0:
        return total, "a negative"
    gap = 1.0 - sum(law)
    size = f"{abs(gap):.10f}".rstrip("0").rstrip(".")
    return total, f"{size} {'missing' if gap > 0 else 'too much'}"


def sums_table(transmat: Rows, row_height: int) -> str:
    """The sums of the rows as HTML, each as high as the row of the editor that it stands beside."""
    cell = f'style="height: {row_height}px"'
    rows = []
    for row in transmat:
        total, remark = sum_in_words(row)
        mark = f" {remark}" if remark == "✓" else f"<br><small>{remark}</small>"
        rows.append(f"<tr><td {cell}>{total}{mark}</td></tr>")
    return (
        '<table class="truth-sums" aria-label="Sums of the rows of A">'
        f'<thead><tr><th scope="col" {cell}>Sum</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


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


# What it implies


class Ceiling(NamedTuple):
    accuracy: float
    standard_error: float


def time_shares(transmat: Sequence) -> np.ndarray | None:
    """The stationary law; None if where the chain ends up depends on where it starts."""
    matrix = np.array(transmat)
    return stationary_law(matrix) if len(closed_classes(matrix)) == 1 else None


def dwell_time(stay: float) -> str:
    """The expected number of observations before the chain leaves a state."""
    if stay >= 1.0:  # a row may sum to a little more than 1
        return "never leaves"
    stays = 1.0 / (1.0 - stay)
    return f"{stays:.2f}" if stays < 1_000 else f"{stays:,.0f}"


def chain_table(experiment: Experiment) -> dict[str, list[str]]:
    shares = time_shares(experiment.transmat)
    return {
        "State": [str(i + 1) for i in range(experiment.n_states)],
        "Share of time": ["depends on the start"] * experiment.n_states
        if shares is None
        else [present.percent(share) for share in shares],
        "Expected stay": [dwell_time(row[i]) for i, row in enumerate(experiment.transmat)],
    }


def separations(experiment: Experiment) -> np.ndarray:
    """d(c_i, c_j) divided by the average of σ_i and σ_j, shape (N, N)."""
    means, sigmas = np.array(experiment.means), np.array(experiment.sigmas)
    n = len(means)
    distances = DISK.dist(np.repeat(means, n, axis=0), np.tile(means, (n, 1))).reshape(n, n)
    return distances / (0.5 * (sigmas[:, None] + sigmas))


def separations_table(experiment: Experiment) -> dict[str, list[str]]:
    values = separations(experiment)
    n = len(values)
    columns = {"Mean": [indexed("c", i) for i in range(n)]}
    for j in range(n):
        columns[indexed("c", j)] = ["–" if i == j else f"{values[i, j]:.2f}" for i in range(n)]
    return columns


def separations_in_words(experiment: Experiment) -> str:
    """Which two states are hardest to tell apart, and what the unit is."""
    values = separations(experiment) + np.diag([np.inf] * experiment.n_states)
    i, j = np.unravel_index(values.argmin(), values.shape)
    nearest = f"{indexed('c', int(i))} and {indexed('c', int(j))}"
    if values[i, j] < 2.0:
        return f"{nearest} are nearest: at {values[i, j]:.2f}, their σ-circles overlap."
    return f"{nearest} are nearest: even their σ-circles do not overlap."


@st.cache_data(max_entries=128, show_spinner=False)
def ceiling(startprob, transmat, means, sigmas) -> Ceiling:
    """The accuracy of the smoother that knows the truth, with its standard error by blocks.

    Neighbours in time depend on each other; blocks much longer than that hardly do.
    """
    truth = Experiment(startprob=startprob, transmat=transmat, means=means, sigmas=sigmas,
                       window=window_for(len(means), Experiment.window))  # fmt: skip
    model = true_model(truth)
    points, states = model.sample(SIMULATED, random_state=0)
    blocks = (model.predict(points) == states).reshape(_BLOCKS, -1).mean(axis=1)
    return Ceiling(float(blocks.mean()), float(blocks.std(ddof=1) / math.sqrt(_BLOCKS)))


def ceiling_in_words(best: Ceiling) -> str:
    share, error = present.percent(best.accuracy), 100.0 * best.standard_error
    if error:
        share += " ± less than 0.01" if error < 0.005 else f" ± {error:.2f}"
    return (
        f"Somebody who knows this model and sees all observations names **{share}** of the hidden "
        "states correctly. "
        "Nobody can do better on average."
    )


def floor_in_words(experiment: Experiment) -> str:
    """What one gets without looking at the data."""
    if experiment.n_states == 1:
        return "With a single state there is nothing to tell apart."
    shares = time_shares(experiment.transmat)
    if shares is None:
        return "Where this chain ends up depends on chance: the simulation is one such case."
    return (
        f"Always naming state {shares.argmax() + 1}, without looking, is right "
        f"{present.percent(shares.max())} of the time."
    )
