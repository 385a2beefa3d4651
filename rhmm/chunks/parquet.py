"""Chunks from Parquet files: each row group is one."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rhmm.chunks.source import Chunks, Piece, in_sequence
from rhmm.storage import import_pyarrow


class ParquetChunks(Chunks):
    """The rows of Parquet files, a point in each; the package pyarrow reads them.

    Parameters
    ----------
    paths
        A file, a folder of ``*.parquet`` files (in the order of their names), or a list of files.
    columns
        The names of the columns with the coordinates of a point, row by row if it is a matrix.
        None: all columns. A row with a missing value or NaN is a missing observation.
    one_sequence
        Whether all files together are one long sequence. Otherwise each file is a sequence.

    A process holds one row group at a time: about 100,000 rows make a good one.
    """

    def __init__(self, paths, *, columns: list[str] | None = None, one_sequence: bool = False):
        self.paths = _files(paths)
        self.columns, self.one_sequence = columns, one_sequence

    def pieces(self) -> Iterator[Piece]:
        if self.one_sequence:
            yield from in_sequence(
                (group for path in self.paths for group in self._groups(path)), whole=False
            )
        else:
            for path in self.paths:
                yield from in_sequence(self._groups(path), whole=False)

    def _groups(self, path: Path) -> Iterator[tuple[str, "RowGroup"]]:
        pyarrow, parquet = import_pyarrow()
        try:
            with parquet.ParquetFile(path) as file:
                count, names = file.metadata.num_row_groups, file.schema_arrow.names
        except pyarrow.ArrowInvalid as error:
            raise ValueError(f"X: {str(path)!r} is not a Parquet file ({error})") from None
        columns = names if self.columns is None else self.columns
        missing = [name for name in columns if name not in names]
        if missing:
            raise ValueError(f"columns: {str(path)!r} has no column {missing[0]!r}")
        for group in range(count):
            name = f"X (row group {group} of {path.name})"
            yield name, RowGroup(path, group, tuple(columns))


def _files(paths) -> list[Path]:
    if isinstance(paths, (str, Path)):
        path = Path(paths)
        found = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    else:
        found = [Path(path) for path in paths]
    if not found:
        raise ValueError(f"X: there is no .parquet file in {str(paths)!r}")
    for path in found:
        if not path.is_file():
            raise ValueError(f"X: there is no file {str(path)!r}")
    return found


class RowGroup(NamedTuple):
    path: Path
    group: int
    columns: tuple[str, ...]

    def load(self, point_shape: tuple[int, ...]) -> list[np.ndarray]:
        """The rows as one array (T, *point_shape), or (T, columns) if these do not fit."""
        pyarrow, parquet = import_pyarrow()
        # One thread: the processes of a pool are as many as there are processors.
        with parquet.ParquetFile(self.path) as file:
            table = file.read_row_group(self.group, list(self.columns), use_threads=False)
        rows = np.empty((table.num_rows, len(self.columns)))
        for place, name in enumerate(self.columns):
            column = table.column(name)
            try:
                rows[:, place] = column.cast(pyarrow.float64()).to_numpy()
            except pyarrow.ArrowException as error:
                raise ValueError(
                    f"columns: {name!r} of {str(self.path)!r} must hold numbers ({error})"
                ) from None
        fits = len(self.columns) == int(np.prod(point_shape))
        return [rows.reshape((len(rows), *point_shape)) if fits else rows]

    @property
    def nbytes(self) -> int:
        return 0
