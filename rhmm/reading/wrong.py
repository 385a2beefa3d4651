"""What is wrong with a file: one sentence, and every wrong row by its number."""

from collections.abc import Sequence
from typing import NamedTuple


class WrongRow(NamedTuple):
    """A row that cannot be used."""

    number: int
    """As an editor counts lines, or a table its rows: from 1."""
    reason: str
    """The end of a sentence."""


class WrongFileError(ValueError):
    """A file that cannot be read as observations; the message says what to do."""

    def __init__(self, message: str, rows: Sequence[WrongRow] = ()):
        super().__init__(message)
        self.rows = tuple(rows)


def wrong_rows(unit: str, rows: Sequence[WrongRow], total: int) -> WrongFileError:
    """The error that names the first of several wrong rows, and holds them all."""
    rows = sorted(rows)
    first = rows[0]
    if len(rows) == 1:
        message = f"{unit} {first.number} is wrong ({first.reason}): correct it"
    else:
        message = (
            f"{len(rows):,} of {total:,} {unit}s are wrong, the first is {unit} {first.number} "
            f"({first.reason}): correct them"
        )
    return WrongFileError(
        f"{message}, or leave the cells empty to mark a missing observation", rows
    )


def no_numbers(column: str, found: str) -> WrongFileError:
    """The error for a column of numbers that holds something else."""
    return WrongFileError(
        f"the column {column!r} holds {found}: say that it is the label, the sequence or the time, "
        "or name the columns with numbers"
    )


def listed(names: Sequence[str], most: int = 12) -> str:
    """Names for a sentence, not more than a reader wants."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
