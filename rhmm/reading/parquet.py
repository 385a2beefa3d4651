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
        schema = file.schema_arrow
        check_size(_n_rows(file.metadata) * max(len(schema.names), _LEAST_WIDTH))
        roles = asked.roles(schema.names)
        for name in roles.numbers:
            _check_numbers(pyarrow, name, schema.field(name).type)
        texts = [name for name in (roles.label, roles.sequence, roles.time) if name is not None]
        for name in texts:
            _check_words(pyarrow, name, schema.field(name).type)
        columns = [*roles.numbers, *texts]
        check_size(_unpacked_bytes(file.metadata, columns) / 8)
        # A short file can repeat a long text in every row: as a dictionary it is unpacked once.
        listed = [name for name in texts if _is_text(pyarrow, schema.field(name).type)]
        file = parquet.ParquetFile(io.BytesIO(data), read_dictionary=listed)
        table = file.read(columns)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError):
        raise WrongFileError(_DAMAGED) from None
    numbers = np.empty((table.num_rows, len(roles.numbers)))
    for place, name in enumerate(roles.numbers):
        numbers[:, place] = table.column(name).cast(pyarrow.float64()).to_numpy()
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


def _n_rows(metadata) -> int:
    """How many rows the file says that it has, in all or in its groups."""
    groups = (metadata.row_group(k).num_rows for k in range(metadata.num_row_groups))
    return max(metadata.num_rows, sum(groups))


def _unpacked_bytes(metadata, columns: list[str]) -> int:
    """How many bytes the file says that these columns have when they are not compressed."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    chunks = (group.column(k) for group in groups for k in range(group.num_columns))
    return sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema in columns)


def _plain(pyarrow, kind):
    """What a column of this type holds: if it is a dictionary, what that does."""
    return kind.value_type if pyarrow.types.is_dictionary(kind) else kind


def _is_text(pyarrow, kind) -> bool:
    kinds = pyarrow.types
    tests = (kinds.is_string, kinds.is_large_string, kinds.is_binary, kinds.is_large_binary)
    return any(test(kind) for test in tests)


def _is_number(pyarrow, kind) -> bool:
    kinds = pyarrow.types
    return kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind)


def _check_numbers(pyarrow, name: str, kind) -> None:
    """Refuse a column for numbers that holds something else."""
    kind = _plain(pyarrow, kind)
    if not _is_number(pyarrow, kind):
        raise no_numbers(name, f"values of type {str(kind)[:40]}")


def _check_words(pyarrow, name: str, kind) -> None:
    """Refuse a column for labels, sequences or times whose cells hold no single word or number."""
    kinds, kind = pyarrow.types, _plain(pyarrow, kind)
    is_other = kinds.is_boolean(kind) or kinds.is_temporal(kind) or kinds.is_null(kind)
    if not (_is_text(pyarrow, kind) or _is_number(pyarrow, kind) or is_other):
        raise WrongFileError(
            f"the column {name!r} holds values of type {str(kind)[:40]}: choose one with a word, a "
            "number or a date in each row"
        )


def _texts(column) -> list[str]:
    try:
        if not hasattr(column.type, "value_type"):
            return [_text(value) for value in column.to_pylist()]
        texts: list[str] = []
        for chunk in column.chunks:
            known = [*map(_text, chunk.dictionary.to_pylist()), ""]
            texts += [known[-1 if place is None else place] for place in chunk.indices.to_pylist()]
        return texts
    except UnicodeDecodeError:
        raise WrongFileError(_DAMAGED) from None


def _text(value) -> str:
    return "" if value is None else str(value)
