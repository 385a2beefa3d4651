"""What the numbers of a row mean: which space they are points of, and how they are laid out."""

import re
from collections.abc import Callable, Sequence
from math import isqrt
from typing import NamedTuple

import numpy as np

from rhmm.manifolds import SPD, Euclidean, Hyperbolic, LogEuclideanSPD, Manifold
from rhmm.reading.wrong import WrongFileError, WrongRow
from rhmm.validation import check_choice

SPACES: dict[str, Callable[[int], Manifold]] = {
    "hyperbolic": Hyperbolic,
    "spd": SPD,
    "log-euclidean": LogEuclideanSPD,
    "euclidean": Euclidean,
}
"""Spaces that a file can hold points of."""

POINTS, FULL, UPPER, LOWER, SIGNAL = "points", "full", "upper", "lower", "signal"
LAYOUTS = {
    POINTS: "the coordinates of a point",
    FULL: "all entries of a matrix, row by row",
    UPPER: "the upper triangle of a matrix, row by row",
    LOWER: "the lower triangle of a matrix, row by row",
    SIGNAL: "a sample of a signal, one channel a column",
}
"""How the numbers of a row make an observation."""

LARGEST_MATRICES = {"spd": 20, "log-euclidean": 64}
"""The most rows of a matrix. The Gaussian of larger ones on `SPD` takes minutes to prepare."""
_MATRICES = tuple(LARGEST_MATRICES)
_PIECE = 10_000
"""Observations that are checked at a time: checks need a few times the memory of what they see."""
_ENOUGH_ROWS = 0.5
"""The share of rows that must fit a space for it to be detected; the others are wrong rows."""
_ASYMMETRY = 1e-6
"""Entries that differ by less, as a share of the largest, are equal but for rounding."""


class Meaning(NamedTuple):
    """What the rows of a file are."""

    space: str
    """A key of `SPACES`."""
    layout: str
    """A key of `LAYOUTS`."""


def meaning(
    numbers: np.ndarray, columns: Sequence[str], space: str | None, layout: str | None
) -> Meaning:
    """What rows of shape (T, k) or (T, m, m) are; what is None is detected."""
    if space is not None:
        check_choice("space", space, tuple(SPACES))
    if layout is not None:
        check_choice("layout", layout, tuple(LAYOUTS))
    whole = numbers[np.isfinite(numbers.reshape(len(numbers), -1)).all(axis=1)]
    if numbers.ndim == 3:
        if space not in (None, *_MATRICES) or layout not in (None, FULL):
            raise WrongFileError(
                f"the array holds matrices of shape {numbers.shape[1:]}: choose the space 'spd'"
            )
        return Meaning(space or "spd", FULL)
    if layout == SIGNAL:
        return Meaning(_matrices(space), SIGNAL)
    if layout in (FULL, UPPER, LOWER):
        return Meaning(_matrices(space), layout)
    if layout == POINTS:
        return Meaning(space or _space_of_points(whole), POINTS)
    if space is None:
        return _detected(whole, columns)
    if space in _MATRICES:
        return Meaning(space, _matrix_layout(whole, columns))
    return Meaning(space, POINTS)


def _matrices(space: str | None) -> str:
    if space not in (None, *_MATRICES):
        raise WrongFileError(
            f"matrices are no points of the space {space!r}: choose 'spd' or 'log-euclidean'"
        )
    return space or "spd"


def _detected(whole: np.ndarray, columns: Sequence[str]) -> Meaning:
    """Matrices if the rows are some, since few other numbers are; then points of the ball."""
    k = whole.shape[1]
    if k > 1 and _layout_that_fits(whole, columns) is not None:
        return Meaning("spd", _matrix_layout(whole, columns))
    if k <= 3:
        return Meaning(_space_of_points(whole), POINTS)
    return Meaning("spd", SIGNAL)


def _space_of_points(whole: np.ndarray) -> str:
    inside = np.linalg.norm(whole, axis=1) < 1.0
    is_ball = whole.shape[1] > 1 and len(whole) and inside.mean() > _ENOUGH_ROWS
    return "hyperbolic" if is_ball else "euclidean"


def _matrix_layout(whole: np.ndarray, columns: Sequence[str]) -> str:
    fitting = _layout_that_fits(whole, columns)
    possible = _possible_layouts(whole.shape[1])
    if not possible:
        raise WrongFileError(
            f"{whole.shape[1]} numbers in a row make no symmetric matrix: give m² of them, "
            "m(m+1)/2 for one triangle, or a window if they are channels of a signal"
        )
    return fitting or possible[0]


def _possible_layouts(k: int) -> list[str]:
    layouts = [FULL] if isqrt(k) ** 2 == k else []
    return layouts + ([UPPER, LOWER] if size_of(k, UPPER) is not None else [])


def _layout_that_fits(whole: np.ndarray, columns: Sequence[str]) -> str | None:
    """The layout under which most rows are positive definite matrices, if there is one."""
    named = _named_layout(columns)
    best, most = None, _ENOUGH_ROWS
    for layout in _possible_layouts(whole.shape[1]):
        matrices = unfolded(whole[:2_000], layout)
        share = _positive(matrices).mean() if len(matrices) else 0.0
        if share > most or (share >= most and layout == named):
            best, most = layout, share
    return best


def _named_layout(columns: Sequence[str]) -> str | None:
    """The triangle that names such as ``m12`` or ``c_1_2`` tell."""
    ends = [re.search(r"(\d)\D?(\d)$", name) for name in columns]
    pairs = [(int(end[1]), int(end[2])) for end in ends if end is not None]
    if len(pairs) < len(columns) or not pairs:
        return None
    if all(i <= j for i, j in pairs):
        return UPPER
    return LOWER if all(i >= j for i, j in pairs) else FULL


def _positive(matrices: np.ndarray) -> np.ndarray:
    skew = np.abs(matrices - np.swapaxes(matrices, 1, 2)).max(axis=(1, 2), initial=0.0)
    largest = np.abs(matrices).max(axis=(1, 2), initial=0.0)
    return (skew <= _ASYMMETRY * largest) & (np.linalg.eigvalsh(matrices)[:, 0] > 0)


def size_of(k: int, layout: str) -> int | None:
    """The m of an m×m matrix that k numbers make, if they do."""
    m = isqrt(k) if layout == FULL else (isqrt(8 * k + 1) - 1) // 2
    return m if (m * m if layout == FULL else m * (m + 1) // 2) == k else None


def unfolded(numbers: np.ndarray, layout: str) -> np.ndarray:
    """Matrices (T, m, m) from rows (T, k) in one of the layouts of a matrix."""
    m = size_of(numbers.shape[1], layout)
    if m is None:
        raise WrongFileError(
            f"{numbers.shape[1]} numbers in a row are not {LAYOUTS[layout]}: choose another layout"
        )
    if layout == FULL:
        return numbers.reshape(-1, m, m)
    i, j = np.triu_indices(m) if layout == UPPER else np.tril_indices(m)
    matrices = np.empty((len(numbers), m, m))
    matrices[:, i, j] = matrices[:, j, i] = numbers
    return matrices


def manifold_of(space: str, size: int) -> Manifold:
    """The space of that size."""
    most = LARGEST_MATRICES.get(space, size)
    if size > most:
        other = ", or the space 'log-euclidean'" if space == "spd" else ""
        raise WrongFileError(
            f"matrices of {size}×{size} are too large for the space {space!r}, {most}×{most} is "
            f"the most: choose fewer channels{other}"
        )
    return SPACES[space](size)


def checked_points(
    manifold: Manifold, points: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, list[WrongRow], list[str]]:
    """Points (T, *point_shape), the rows that hold none, and notes on what was changed.

    A row with NaN is missing, and becomes NaN as a whole.
    """
    points, wrong, notes = points.copy(), [], []
    flat = points.reshape(len(points), -1)
    missing = np.isnan(flat).any(axis=1)
    partly = missing & ~np.isnan(flat).all(axis=1)
    if missing.any():
        notes.append(_on_missing(rows[missing], int(partly.sum())))
    flat[missing] = np.nan
    finite = np.isfinite(flat).all(axis=1)
    for t in np.flatnonzero(~finite & ~missing):
        wrong.append(WrongRow(int(rows[t]), "its numbers must be finite"))
    good, are_rounded = np.zeros(len(points), bool), False
    for begin in range(0, len(points), _PIECE):
        here = slice(begin, begin + _PIECE)
        whole, piece = finite[here], points[here]
        if points.ndim == 3:
            wrong += _asymmetric(piece, whole, rows[here])
            matrices = piece[whole]
            turned = np.swapaxes(matrices, 1, 2)
            are_rounded |= not np.array_equal(matrices, turned)
            piece[whole] = 0.5 * (matrices + turned)
        good[here][whole] = manifold.belongs(piece[whole])
    if are_rounded and not wrong:
        notes.append("The halves of some matrices differ by rounding; their mean was taken.")
    named = {row.number for row in wrong}
    for t in np.flatnonzero(finite & ~good):
        if int(rows[t]) not in named:
            wrong.append(WrongRow(int(rows[t]), manifold.why_not(points[t])))
    return points, wrong, notes


def _asymmetric(matrices: np.ndarray, finite: np.ndarray, rows: np.ndarray) -> list[WrongRow]:
    """Rows whose matrices are not symmetric by more than rounding."""
    wrong = []
    skew = np.abs(matrices - np.swapaxes(matrices, 1, 2))
    largest = np.abs(matrices).max(axis=(1, 2))
    for t in np.flatnonzero(finite & (skew.max(axis=(1, 2)) > _ASYMMETRY * largest)):
        i, j = sorted(np.unravel_index(skew[t].argmax(), skew[t].shape))
        reason = (
            f"entry ({i + 1}, {j + 1}) is {matrices[t, i, j]:.6g} and entry ({j + 1}, {i + 1}) is "
            f"{matrices[t, j, i]:.6g}, but the matrix must be symmetric"
        )
        wrong.append(WrongRow(int(rows[t]), reason))
    return wrong


def _on_missing(rows: np.ndarray, partly: int) -> str:
    count = len(rows)
    subject = "1 observation is" if count == 1 else f"{count:,} observations are"
    some = f", {partly:,} of them for some numbers only" if partly else ""
    shown = ", ".join(map(str, rows[:20])) + (" …" if count > 20 else "")
    return f"{subject} missing{some} (rows {shown})."
