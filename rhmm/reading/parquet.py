"""Rows of a Parquet file; the package pyarrow reads it."""

import io

import numpy as np

from rhmm.reading.content import LABEL, SEQUENCE, TIME, Asked, Content, check_size, seconds_of
from rhmm.reading.wrong import WrongFileError, no_numbers
from rhmm.storage import import_pyarrow

_DAMAGED = "the Parquet file is damaged: save it again"
_LEAST_WIDTH = 5
"""As many numbers a row counts for at least: texts of many rows need memory too."""


def read_parquet(data: bytes, asked: Asked) -> Content:
    """The rows of a Parquet file."""
    pyarrow, parquet = import_pyarrow()
    try:
        file = parquet.ParquetFile(io.BytesIO(data))
        names = file.schema_arrow.names
        check_size(file.metadata.num_rows * max(len(names), _LEAST_WIDTH))
        roles = asked.roles(names)
        table = file.read()
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError):
        raise WrongFileError(_DAMAGED) from None
    numbers = np.empty((table.num_rows, len(roles.numbers)))
    for place, name in enumerate(roles.numbers):
        numbers[:, place] = _numbers(pyarrow, name, table.column(name))
    rows = np.arange(1, table.num_rows + 1)
    content = Content("parquet", "row", numbers, rows, columns=roles.numbers)
    if roles.label is not None:
        content.labels = _texts(table.column(roles.label))
    if roles.sequence is not None:
        content.sequences = _texts(table.column(roles.sequence))
    if roles.time is not None:
        content.times, content.wrong = seconds_of(_texts(table.column(roles.time)), rows)
    content.found = {LABEL: roles.label, SEQUENCE: roles.sequence, TIME: roles.time}
    if roles.ignored:
        content.notes.append(f"The columns {', '.join(roles.ignored)} were left out.")
    return content


def names_in_parquet(data: bytes) -> list[str]:
    """The names of the columns of a Parquet file."""
    pyarrow, parquet = import_pyarrow()
    try:
        return parquet.ParquetFile(io.BytesIO(data)).schema_arrow.names
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError):
        raise WrongFileError(_DAMAGED) from None


def _numbers(pyarrow, name: str, column) -> np.ndarray:
    kinds = pyarrow.types
    kind = column.type
    if kinds.is_dictionary(kind):
        kind = kind.value_type
    if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind)):
        raise no_numbers(name, f"values of type {str(kind)[:40]}")
    return column.cast(pyarrow.float64()).to_numpy()


def _texts(column) -> list[str]:
    try:
        return ["" if value is None else str(value) for value in column.to_pylist()]
    except UnicodeDecodeError:
        raise WrongFileError(_DAMAGED) from None
