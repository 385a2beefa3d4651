"""What a file holds before it is known what its numbers mean, and the roles of its columns."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from rhmm.reading.wrong import WrongFileError, WrongRow, listed

MOST_BYTES = 50 * 2**20
"""Of a file."""
MOST_NUMBERS = 25_000_000
"""Of all rows and columns, after unpacking: 200 MB."""

MISSING = {"", "nan", "na", "n/a", "null", "none"}
"""Cells without a number, in lower case."""

LABEL, SEQUENCE, TIME = "label", "sequence", "time"
KNOWN_NAMES = {
    LABEL: ("label", "labels", "state", "states", "true_state", "true state", "class"),
    SEQUENCE: ("sequence", "sequences", "recording", "session", "trial", "exp"),
    TIME: ("time", "times", "timestamp", "seconds", "t"),
}
"""Names of columns that are no numbers of an observation, in lower case."""


class Roles(NamedTuple):
    """What each column is for."""

    numbers: tuple[str, ...]
    """Columns whose numbers are the observations."""
    label: str | None
    sequence: str | None
    time: str | None
    ignored: tuple[str, ...]


class Asked(NamedTuple):
    """Which columns or arrays the caller names; None is to be detected, "" is none."""

    label: str | None = None
    sequence: str | None = None
    time: str | None = None
    columns: Sequence[str] | None = None
    array: str | None = None

    def role(self, role: str, names: Sequence[str]) -> str | None:
        """The name that has this role: the one that is asked for, or a well-known one."""
        asked = getattr(self, role)
        if asked is None:
            known = [name for name in names if name.lower() in KNOWN_NAMES[role]]
            return known[0] if known else None
        if asked and asked not in names:
            raise WrongFileError(
                f"there is no {role} column {asked!r}: choose one of {listed(names)}"
            )
        return asked or None

    def roles(self, names: Sequence[str]) -> Roles:
        """The roles of all columns."""
        twice = sorted({name for name in names if list(names).count(name) > 1})
        if twice:
            raise WrongFileError(
                f"several columns are called {twice[0]!r}: give each column a name of its own"
            )
        label, sequence, time = (self.role(role, names) for role in (LABEL, SEQUENCE, TIME))
        others = [name for name in names if name not in (label, sequence, time)]
        numbers = others if self.columns is None else list(self.columns)
        unknown = [name for name in numbers if name not in others]
        if unknown:
            raise WrongFileError(
                f"there is no column {unknown[0]!r} for numbers: choose from {listed(others)}"
            )
        if not numbers:
            raise WrongFileError(
                "no column is left for the observations: add columns with their numbers"
            )
        ignored = tuple(name for name in others if name not in numbers)
        return Roles(tuple(numbers), label, sequence, time, ignored)


@dataclass
class Content:
    """The rows of a file."""

    format: str
    unit: str
    """What a row is called: a line of text, or a row of a table."""
    numbers: np.ndarray
    """Shape (T, k) or (T, m, m); NaN where there is none."""
    rows: np.ndarray
    """The number of each row in the file, shape (T,)."""
    columns: tuple[str, ...] = ()
    labels: list[str] | None = None
    """One for each row, "" where there is none."""
    sequences: list[str] | None = None
    times: np.ndarray | None = None
    """In seconds, shape (T,)."""
    wrong: list[WrongRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    found: dict[str, Any] = field(default_factory=dict)
    """What the report says beside: names of columns, the separator."""


def check_size(count: float) -> None:
    """Refuse more numbers than fit into the memory of a shared machine."""
    if count > MOST_NUMBERS:
        raise WrongFileError(
            f"the file unpacks to {count:,.0f} numbers, and {MOST_NUMBERS:,} is the most: "
            "give fewer rows or columns"
        )


def seconds_of(texts: Sequence[str], rows: np.ndarray) -> tuple[np.ndarray, list[WrongRow]]:
    """Times from numbers or dates, shape (T,), and the rows that have neither.

    Dates are counted from the first one, and have its time zone where they name none. If the first
    one names none, those of the others are ignored.
    """
    seconds, wrong = np.full(len(texts), np.nan), []
    dates: dict[int, datetime] = {}
    for t, text in enumerate(texts):
        try:
            if text.strip().lower() not in MISSING:
                seconds[t] = float(text)
        except ValueError:
            try:
                dates[t] = datetime.fromisoformat(text.strip())
            except ValueError:
                reason = f"{text!r} is neither a number nor a date such as 2024-05-31 12:30"
                wrong.append(WrongRow(int(rows[t]), reason))
    if dates:
        first = next(iter(dates.values()))
        for t, date in dates.items():
            if first.tzinfo is None or date.tzinfo is None:
                date = date.replace(tzinfo=first.tzinfo)
            seconds[t] = (date - first).total_seconds()
    return seconds, wrong
