"""Read a file of observations, and say what was found in it."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rhmm.reading.arrays import names_in_npz, read_npy, read_npz
from rhmm.reading.content import MOST_BYTES, Asked, Content, check_size
from rhmm.reading.parquet import names_in_parquet, read_parquet
from rhmm.reading.report import Report
from rhmm.reading.spaces import (
    LAYOUTS,
    POINTS,
    SIGNAL,
    Meaning,
    checked_points,
    manifold_of,
    meaning,
    unfolded,
)
from rhmm.reading.text import names_in_csv, read_csv
from rhmm.reading.windows import Window, most_frequent, window_covariances
from rhmm.reading.wrong import WrongFileError, WrongRow, wrong_rows
from rhmm.recording import Recording

ENDINGS = (".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet")
_BEGINNINGS = {
    b"\x93NUMPY": (".npy",),
    b"PAR1": (".parquet",),
    b"PK\x03\x04": (".npz",),
    b"\x1f\x8b": (),
    b"\x80": (),
}
"""How binary files begin, and the endings that fit: a compressed file or a pickle fits none."""
_COUNTERS = ("column 1", "index", "Unnamed: 0", "__index_level_0__")
"""Names of a first column that only counts rows."""
_MOST_LABELS = 200
_WHOLE = re.compile(r"-?[0-9]{1,18}")
"""Labels that are whole numbers, which are sorted by their size."""


class Reading(NamedTuple):
    """What was read."""

    recording: Recording
    report: Report


def read(
    source: str | Path | bytes,
    *,
    name: str | None = None,
    space: str | None = None,
    layout: str | None = None,
    window: Window | None = None,
    columns: Sequence[str] | None = None,
    label: str | None = None,
    sequence: str | None = None,
    time: str | None = None,
    array: str | None = None,
    separator: str | None = None,
) -> Reading:
    """Read observations from a CSV, NPY, NPZ or Parquet file of at most 50 MB.

    What is not given is detected, and the report says what was found. A row with NaN or an empty
    cell is a missing observation.

    Parameters
    ----------
    source, name
        The path of the file; or its bytes, with the name that tells its format.
    space
        ``"hyperbolic"``, ``"spd"``, ``"log-euclidean"`` or ``"euclidean"``.
    layout
        How the numbers of a row make an observation, see `LAYOUTS`.
    window
        How a raw signal is cut into windows whose covariances are the observations; giving one
        says that the file is a signal.
    columns, label, sequence, time
        Names of columns: with the numbers, and with the label, the sequence and the time of each
        row. An empty name says that there is none. In an NPZ file the last three are arrays.
    array
        The array of an NPZ file with the observations.
    separator
        Of a CSV file: a comma, semicolon, tab, bar or space.

    A file that cannot be used is a `WrongFileError`, a ValueError whose one sentence says what to
    do; its `rows` names every wrong row.
    """
    if window is not None:
        window, layout = window.checked(), SIGNAL
    data, ending = _loaded(source, name)
    content = _content(data, ending, Asked(label, sequence, time, columns, array), separator)
    if columns is None:
        _leave_out_counter(content)
    _check_rows(content)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers may be as large as they like
        found = meaning(content.numbers, content.columns, space, layout)
        if found.layout == SIGNAL:
            window = (window or Window()).checked()
            recording = _from_signal(content, found, window)
        else:
            recording = _from_points(content, found)
    notes = tuple(content.notes)
    report = Report(content.format, *found, columns=content.columns, window=window, notes=notes)
    return Reading(recording, replace(report, **content.found))


def names_in(source: str | Path | bytes, *, name: str | None = None, separator=None) -> list[str]:
    """The names of the columns of a file, or of the arrays of an NPZ file: what `read` takes.

    It needs no numbers to be right, so that a column of text can be named as the label. A file
    without any names is a `WrongFileError`, as for `read`; an NPY file has none and no error.
    """
    data, ending = _loaded(source, name)
    if ending == ".npy":
        return []
    if ending == ".npz":
        return names_in_npz(data)
    if ending == ".parquet":
        return names_in_parquet(data)
    return names_in_csv(data, separator)


def _content(data: bytes, ending: str, asked: Asked, separator: str | None) -> Content:
    """The rows of the file, by its format."""
    if ending == ".npy":
        return read_npy(data, asked)
    if ending == ".npz":
        return read_npz(data, asked)
    if ending == ".parquet":
        return read_parquet(data, asked)
    return read_csv(data, asked, separator)


def _loaded(source: str | Path | bytes, name: str | None) -> tuple[bytes, str]:
    """The bytes of the file, and its ending, which fits them."""
    if isinstance(source, bytes):
        if name is None:
            raise ValueError("name must say what the bytes are, such as 'data.csv'")
        data, ending = source, Path(name).suffix.lower()
        _check_bytes(len(data))
    else:
        path = Path(source)
        ending = path.suffix.lower()
        if path.is_file():
            _check_bytes(path.stat().st_size)
        data = path.read_bytes() if ending in ENDINGS else b""
    if ending not in ENDINGS:
        raise WrongFileError(
            f"files ending in {ending or 'nothing'!r} cannot be read: save the data as .csv, .npy, "
            ".npz or .parquet"
        )
    if not data.strip():
        raise WrongFileError("the file is empty: give one with a row for each observation")
    _check_beginning(data, ending)
    return data, ending


def _check_bytes(size: int) -> None:
    if size > MOST_BYTES:
        raise WrongFileError(
            f"the file has {size / 2**20:,.1f} MB, and {MOST_BYTES // 2**20} MB is the most: give "
            "fewer rows, or save it as .npy"
        )


def _check_beginning(data: bytes, ending: str) -> None:
    binary = ending in (".npy", ".npz", ".parquet")
    for beginning, endings in _BEGINNINGS.items():
        if not data.startswith(beginning) or ending in endings:
            continue
        fitting = f"rename it to end in {endings[0]}" if endings else "save it as plain CSV or NPY"
        raise WrongFileError(f"the file ends in {ending} but holds something else: {fitting}")
    if binary and not any(ending in e and data.startswith(b) for b, e in _BEGINNINGS.items()):
        raise WrongFileError(
            f"the file ends in {ending} but holds something else: save it again, or rename it"
        )


def _leave_out_counter(content: Content) -> None:
    """Leave out a first column that only counts the rows, as pandas writes it."""
    numbers = content.numbers
    if numbers.ndim != 2 or len(content.columns) < 2 or content.columns[0] not in _COUNTERS:
        return
    counted = numbers[:, 0] - np.arange(len(numbers))
    if len(numbers) > 1 and counted[0] in (0.0, 1.0) and (counted == counted[0]).all():
        content.notes.append("The first column only counts the rows and was left out.")
        content.numbers, content.columns = numbers[:, 1:], content.columns[1:]


def _check_rows(content: Content) -> None:
    check_size(content.numbers.size)
    if len(content.rows) < 2:
        count = "one row" if len(content.rows) else "no row"
        raise WrongFileError(
            f"the file has {count} of numbers: a sequence needs at least two observations"
        )
    if np.isnan(content.numbers.reshape(len(content.rows), -1)).any(axis=1).all():
        _refuse(content, [])
        raise WrongFileError(
            "every row has a missing number, so nothing is left: fill in the numbers"
        )


def _refuse(content: Content, wrong: list[WrongRow]) -> None:
    """Raise an error that names these rows and those that could not be read, if there are any."""
    if content.wrong or wrong:
        raise wrong_rows(content.unit, [*content.wrong, *wrong], len(content.rows))


def _sequences(content: Content) -> tuple[list[str], np.ndarray]:
    """The name of each sequence, and where the S sequences begin and the last ends: (S + 1,)."""
    total = len(content.rows)
    if content.sequences is None:
        return ["1"], np.array([0, total])
    _refuse(
        content,
        [
            WrongRow(int(row), "it names no sequence")
            for row, name in zip(content.rows, content.sequences, strict=True)
            if name.lower() in ("", "nan")
        ],
    )
    names, begins = [], [0]
    for key, group in itertools.groupby(content.sequences):
        names.append(key)
        begins.append(begins[-1] + sum(1 for _ in group))
    seen: set[str] = set()
    for name, begin in zip(names, begins, strict=False):
        if name in seen:
            raise WrongFileError(
                f"the rows of sequence {name!r} are apart, they go on in {content.unit} "
                f"{content.rows[begin]}: sort the rows by sequence"
            )
        seen.add(name)
    return names, np.array(begins)


def _note_times(content: Content, begins: np.ndarray) -> None:
    """Say where time goes back within a sequence: another recording may begin there."""
    if content.times is None:
        return
    back = np.flatnonzero(np.diff(content.times) < 0) + 1
    back = back[~np.isin(back, begins)]
    if len(back):
        content.notes.append(
            f"Time goes back {len(back):,} times within sequences, first at {content.unit} "
            f"{content.rows[back[0]]}; if another recording begins there, add a column 'sequence'."
        )


def _labels(content: Content) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """The place of each row's label among their names, and the names."""
    if content.labels is None:
        return None, ()
    names = list(dict.fromkeys(label for label in content.labels if label))
    if not names:
        content.notes.append("No row has a label.")
        return None, ()
    if len(names) > _MOST_LABELS:
        raise WrongFileError(
            f"the labels have {len(names):,} different values, {_MOST_LABELS} is the most: choose "
            "another column for them, or none"
        )
    if all(_WHOLE.fullmatch(name) for name in names):
        names.sort(key=int)
    place = {"": -1} | {name: i for i, name in enumerate(names)}
    return np.array([place[label] for label in content.labels]), tuple(names)


def _from_points(content: Content, found: Meaning) -> Recording:
    numbers = content.numbers
    if found.layout != POINTS and numbers.ndim == 2:
        numbers = unfolded(numbers, found.layout)
    manifold = manifold_of(found.space, numbers.shape[-1])
    points, wrong, notes = checked_points(manifold, numbers, content.rows)
    _refuse(content, wrong)
    content.notes += notes
    names, begins = _sequences(content)
    _note_times(content, begins)
    labels, label_names = _labels(content)
    return Recording(
        manifold, points, np.diff(begins), tuple(names), labels, label_names, content.times
    )


def _from_signal(content: Content, found: Meaning, window: Window) -> Recording:
    signal, length = content.numbers, window.length
    if signal.ndim != 2:
        raise WrongFileError(f"{LAYOUTS[SIGNAL]} is expected: give an array of shape (T, m)")
    manifold = manifold_of(found.space, signal.shape[1])
    infinite = content.rows[np.isinf(signal).any(axis=1)]
    _refuse(content, [WrongRow(int(row), "its numbers must be finite") for row in infinite])
    names, begins = _sequences(content)
    _note_times(content, begins)
    pieces = [window.firsts(b, e) for b, e in itertools.pairwise(begins)]
    firsts = np.concatenate(pieces)
    if len(firsts) < 2:
        raise WrongFileError(
            f"{len(signal):,} samples give {len(firsts)} windows of {length}: choose shorter ones"
        )
    check_size(len(firsts) * signal.shape[1] ** 2)
    covariances = window_covariances(signal, firsts, window)
    _note_windows(content, names, begins, pieces, covariances, window)
    usable = ~np.isnan(covariances).any(axis=(1, 2))
    usable[usable] = manifold.belongs(covariances[usable])
    covariances[~usable] = np.nan
    if not usable.any():
        raise WrongFileError(
            "no window has a covariance, since numbers are missing or too large, or all channels "
            "are constant: choose shorter windows or other columns"
        )
    labels, label_names = _labels(content)
    kept = [s for s, piece in enumerate(pieces) if len(piece)]
    return Recording(
        manifold,
        covariances,
        np.array([len(pieces[s]) for s in kept]),
        tuple(names[s] for s in kept),
        None if labels is None else most_frequent(labels, firsts, length, len(label_names)),
        label_names,
        None if content.times is None else content.times[firsts],
    )


def _note_windows(content: Content, names, begins, pieces, covariances, window: Window) -> None:
    """Say how many windows there are, and what became of the other samples."""
    values = np.linalg.eigvalsh(covariances[~np.isnan(covariances).any(axis=(1, 2))])
    notes = content.notes
    if len(values):
        worst = float((values[:, -1] / values[:, 0]).max())
        notes.append(
            f"{len(covariances):,} windows of {window.length} samples, a new one every "
            f"{window.step}; condition numbers up to {worst:,.0f}."
        )
    short = [name for name, piece in zip(names, pieces, strict=True) if not len(piece)]
    if short:
        shown = ", ".join(short[:10]) + (" …" if len(short) > 10 else "")
        notes.append(f"Sequences shorter than a window were left out: {shown}.")
    ends = [
        piece[-1] + window.length if len(piece) else begin
        for piece, begin in zip(pieces, begins[:-1], strict=True)
    ]
    spare = int((begins[1:] - np.array(ends)).sum())
    if spare:
        notes.append(
            f"{spare:,} samples at the ends of sequences fill no window and were left out."
        )
    lost = int(np.isnan(covariances).any(axis=(1, 2)).sum())
    if lost:
        notes.append(
            f"{lost:,} windows are missing observations: a number in them is missing or too large, "
            "or all their channels are constant."
        )
