"""Rows of a CSV file."""

import codecs
import csv
from array import array
from collections.abc import Iterable, Iterator

import numpy as np

from rhmm.reading.content import (
    LABEL,
    MISSING,
    SEQUENCE,
    TIME,
    Asked,
    Content,
    Roles,
    check_size,
    seconds_of,
)
from rhmm.reading.wrong import WrongFileError, WrongRow, no_numbers

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "spaces"}
_SAMPLE = 50
"""Lines that decide which separator a file has."""
_COMMENT = "#"
_NO_NUMBER = object()


def read_csv(data: bytes, asked: Asked, separator: str | None = None) -> Content:
    """The rows of a CSV file; `separator` is a key of `SEPARATORS`."""
    lines, separator, notes = _lines(data, separator)
    table = _Table(separator)
    content = table.read(_rows(lines, separator, notes), asked)
    content.notes[:0] = notes
    content.found["separator"] = separator
    return content


def names_in_csv(data: bytes, separator: str | None = None) -> list[str]:
    """The names of the columns of a CSV file."""
    lines, separator, _ = _lines(data, separator)
    _, cells = next(_rows(lines, separator, []))
    return _Table(separator).names(cells)


def _lines(data: bytes, separator: str | None) -> tuple[list[str], str, list[str]]:
    """The lines of a CSV file, its separator, and words on its encoding."""
    text, notes = _decoded(data)
    lines = text.splitlines()
    sample = [line for line in lines if line.strip() and not line.startswith(_COMMENT)][:_SAMPLE]
    if not sample:
        raise WrongFileError("the file is empty: give one with a row for each observation")
    if separator is None:
        separator = _separator(sample)
    elif separator not in SEPARATORS:
        raise WrongFileError(
            f"the separator must be a {', '.join(SEPARATORS.values())}, not {separator!r}"
        )
    return lines, separator, notes


def _decoded(data: bytes) -> tuple[str, list[str]]:
    """The text, and a word on its encoding if it is not the usual one."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return data.decode("utf-16"), ["The text is in UTF-16."]
        except UnicodeDecodeError:
            raise WrongFileError(
                "the file begins as UTF-16 but is damaged: save it as CSV in UTF-8"
            ) from None
    if b"\0" in data:
        raise WrongFileError("the file is not plain text: save it as CSV in UTF-8")
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise WrongFileError(
            f"line {line} has a letter that is not in UTF-8: save the file as CSV in UTF-8"
        ) from None


def _separator(sample: list[str]) -> str:
    """The one that cuts most lines into the same number of cells, at least two.

    A comma may also be the decimal point: it is the last choice but for spaces.
    """
    for separator in (";", "\t", "|", ",", " "):
        widths = [len(cells) for cells in _cells(sample, separator)]
        usual = max(set(widths), key=widths.count)
        if usual > 1 and widths.count(usual) > len(widths) / 2:
            return separator
    return ","


def _cells(lines: Iterable[str], separator: str) -> Iterator[list[str]]:
    if separator == " ":
        return (line.split() for line in lines)
    return csv.reader(lines, delimiter=separator, skipinitialspace=True)


def _rows(lines: list[str], separator: str, notes: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line that has any, with its number."""
    blank = comments = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            blank += 1
        elif line.startswith(_COMMENT):
            comments += 1
        else:
            try:
                (cells,) = _cells([line], separator)
            except (csv.Error, ValueError):
                raise WrongFileError(
                    f"line {number} has a cell that is too long or not closed: check its quotes"
                ) from None
            yield number, cells
    if blank:
        notes.append(f"{_counted(blank, 'blank line')} left out.")
    if comments:
        notes.append(f"{_counted(comments, 'comment line')} left out.")


def _counted(count: int, what: str) -> str:
    return f"1 {what} was" if count == 1 else f"{count:,} {what}s were"


class _Table:
    """Collects the rows of a file."""

    def __init__(self, separator: str):
        self._decimal_comma = separator != ","
        self._values, self._rows = array("d"), array("q")
        self._texts: dict[str, list[str]] = {LABEL: [], SEQUENCE: [], TIME: []}
        self._wrong: list[WrongRow] = []
        self._no_numbers: dict[int, list[str]] = {}
        """Cells that are no numbers, by the place of their column."""

    def read(self, rows: Iterator[tuple[int, list[str]]], asked: Asked) -> Content:
        number, cells = next(rows)
        names = self.names(cells)
        roles = asked.roles(names)
        places = [names.index(name) for name in roles.numbers]
        others = {
            role: names.index(name)
            for role, name in zip(
                self._texts, (roles.label, roles.sequence, roles.time), strict=True
            )
            if name is not None
        }
        if not self._is_header(cells):
            self._add(number, cells, len(names), places, others)
        for number, cells in rows:
            self._add(number, cells, len(names), places, others)
        return self._content(roles)

    def names(self, cells: list[str]) -> list[str]:
        """The names of the columns, given the cells of the first row."""
        names = [cell.strip() for cell in cells] if self._is_header(cells) else [""] * len(cells)
        return [name or f"column {place}" for place, name in enumerate(names, start=1)]

    def _is_header(self, cells: list[str]) -> bool:
        return any(self._number(cell) is _NO_NUMBER for cell in cells)

    def _add(self, number: int, cells: list[str], width: int, places, others) -> None:
        self._rows.append(number)
        if len(cells) != width:
            self._wrong.append(WrongRow(number, f"it has {len(cells)} cells, and others {width}"))
            cells = [""] * width
        chosen = [cells[place] for place in places]
        try:
            if "_" in "".join(chosen):
                raise ValueError  # which Python takes for a part of a number
            self._values.extend(map(float, chosen))
        except ValueError:
            del self._values[(len(self._rows) - 1) * len(places) :]
            self._values.extend(self._carefully(number, chosen))
        for role, place in others.items():
            self._texts[role].append(cells[place].strip())
        if number % 1000 == 0:
            check_size(len(self._values))

    def _carefully(self, number: int, cells: list[str]) -> Iterator[float]:
        """The numbers of a row that is not just numbers."""
        reason = ""
        for place, cell in enumerate(cells):
            value = self._number(cell)
            if value is _NO_NUMBER:
                self._no_numbers.setdefault(place, []).append(cell)
                reason = reason or f"{cell[:40]!r} is not a number"
                value = float("nan")
            yield value
        if reason:
            self._wrong.append(WrongRow(number, reason))

    def _number(self, cell: str):
        cell = cell.strip()
        if cell.lower() in MISSING:
            return float("nan")
        if self._decimal_comma and "." not in cell:
            cell = cell.replace(",", ".", 1)
        try:
            return _NO_NUMBER if "_" in cell else float(cell)
        except ValueError:
            return _NO_NUMBER

    def _content(self, roles: Roles) -> Content:
        rows = np.array(self._rows, int)
        for place, cells in self._no_numbers.items():
            if len(cells) > len(rows) / 2:
                raise no_numbers(roles.numbers[place], f"text such as {cells[0][:40]!r}")
        wrong, times = self._wrong, None
        if roles.time is not None:
            times, without_time = seconds_of(self._texts[TIME], rows)
            wrong += without_time
        content = Content(
            format="csv",
            unit="line",
            numbers=np.array(self._values).reshape(len(rows), len(roles.numbers)),
            rows=rows,
            columns=roles.numbers,
            labels=None if roles.label is None else _known(self._texts[LABEL]),
            sequences=None if roles.sequence is None else self._texts[SEQUENCE],
            times=times,
            wrong=wrong,
            found={LABEL: roles.label, SEQUENCE: roles.sequence, TIME: roles.time},
        )
        if roles.ignored:
            content.notes.append(f"The columns {', '.join(roles.ignored)} were left out.")
        return content


def _known(labels: list[str]) -> list[str]:
    return ["" if label.lower() in MISSING else label for label in labels]
