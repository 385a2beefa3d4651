"""Runs as rows of a file: a row holds the configuration, the seed, the measures and the estimates.

Everything is flat, with every digit; besides there is a fingerprint of the truth and the version of
the engine, so that runs of another truth or engine are refused. Checksums tell a damaged file from
a good one: a CSV file has one at the end of each row, a Parquet file one of all its bytes in its
footer. CSV files that were written before there were checksums are read without.
"""

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rhmm.model import HiddenMarkovModel
from rhmm.scoring import MEASURES
from rhmm.storage import checksum, import_pyarrow
from rhmm.sweeping.configuration import Configuration, all_options
from rhmm.sweeping.run import Run, nested
from rhmm.version import __version__

_ESTIMATES = ("transmat", "means", "sigmas")
_CHECKSUM = "checksum"
"""The name of the last column of a CSV file, and of the entry in the footer of a Parquet file."""
_LETTERS = 16
"""Of the checksum of a row."""


class UnusableFileError(ValueError):
    """The file is damaged, or holds the runs of another truth or engine."""


def fingerprint(truth: HiddenMarkovModel) -> str:
    """Sixteen letters that differ when the manifold, the emission or any digit of the parameters
    does."""
    digest, law = hashlib.sha256(repr(truth.manifold).encode()), truth.law_
    for value in (*truth.parameters_, law.covariances, law.degrees):
        if value is not None:  # the paper's emission has σ alone
            digest.update(np.ascontiguousarray(value, "<f8").tobytes())
    if law.covariances is not None:
        digest.update(law.emission.encode())
    return digest.hexdigest()[:16]


def _head() -> dict[str, type]:
    """The columns before the estimates, and what they hold."""
    return {
        **dict.fromkeys(("truth", "engine", "learner"), str),
        "length": int,
        **{option.name: str if option.choices else int for option in all_options()},
        "seed": int,
        **dict.fromkeys(MEASURES, float),
        "nbytes": int,
    }


def columns(truth: HiddenMarkovModel) -> list[str]:
    """The columns of the file of a sweep over `truth`."""
    names = list(_head())
    for name, shape in _shapes(truth).items():
        names += ["_".join([name, *map(str, index)]) for index in np.ndindex(shape)]
    return names


def _shapes(truth: HiddenMarkovModel) -> dict[str, tuple[int, ...]]:
    return {name: getattr(truth.parameters_, name).shape for name in _ESTIMATES}


def row_of(run: Run, truth: HiddenMarkovModel) -> dict:
    way = run.configuration
    head: dict[str, Any] = {
        "truth": fingerprint(truth),
        "engine": __version__,
        "learner": way.learner,
        "length": way.length,
        "seed": run.seed,
        **way.settings,
        **{name: getattr(run, name) for name in MEASURES},
    }
    estimates = (np.ravel(getattr(run, name)).tolist() for name in _ESTIMATES)
    values = chain((head.get(name) for name in _head()), *estimates)
    return dict(zip(columns(truth), values, strict=True))


def _runs(
    path: Path, truth: HiddenMarkovModel, names: list[str], rows: Iterable[dict]
) -> list[Run]:
    """The rows of a file with the columns `names`; refuses what is not ours."""
    ours = fingerprint(truth), __version__
    if names[:3] == ["truth", "engine", "method"]:
        raise UnusableFileError(
            f"file {str(path)!r} was written by rhmm 0.5: give another file, and the same sweep "
            "computes its runs again, with the same numbers"
        )
    if names[: len(_head())] != list(_head()):
        raise _damaged(path, "its columns are not those of a sweep")
    runs = []
    for number, row in enumerate(rows, start=1):
        if (row["truth"], row["engine"]) != ours:
            raise UnusableFileError(
                f"file {str(path)!r} holds runs of another truth or engine ({row['truth']}, rhmm "
                f"{row['engine']}; this is {ours[0]}, rhmm {ours[1]}): give another file"
            )
        try:
            runs.append(_run(row, truth))
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise _damaged(path, f"row {number}: {error}") from None
    if names != columns(truth):
        raise UnusableFileError(
            f"file {str(path)!r} is of a truth of another size: give another file"
        )
    return runs


def _run(row: dict, truth: HiddenMarkovModel) -> Run:
    options = {option.name: row[option.name] for option in all_options()}
    if any(row[name] is None for name in row if name not in options):
        raise ValueError("a value is missing")
    estimates = []
    for name, shape in _shapes(truth).items():
        indices = ("_".join([name, *map(str, index)]) for index in np.ndindex(shape))
        values = np.array([row[index] for index in indices], dtype=float)
        estimates.append(nested(values.reshape(shape).tolist()))
    return Run(
        configuration=Configuration(row["learner"], row["length"], **options),
        seed=row["seed"],
        **{name: row[name] for name in MEASURES},
        **dict(zip(_ESTIMATES, estimates, strict=True)),
    )


def _damaged(path: Path, why: str) -> UnusableFileError:
    return UnusableFileError(
        f"file {str(path)!r} is damaged ({why}); it was left as it is: "
        "move it away, or give another file"
    )


# CSV


def header(truth: HiddenMarkovModel, with_checksums: bool = True) -> bytes:
    """The first line of a CSV file."""
    return _line([*columns(truth), *[_CHECKSUM][:with_checksums]])


def line_of(run: Run, truth: HiddenMarkovModel, with_checksums: bool = True) -> bytes:
    """The line of a run in a CSV file."""
    line = _line(row_of(run, truth).values())
    return line[:-1] + b"," + _row_checksum(line[:-1]) + b"\n" if with_checksums else line


def _line(values: Iterable) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue().encode()


def _row_checksum(row: bytes) -> bytes:
    return checksum(row)[:_LETTERS].encode()


class Lines(NamedTuple):
    """What a CSV file holds."""

    runs: list[Run]
    size: int
    """Where its last whole line ends: what follows is torn."""
    with_checksums: bool
    """Whether its rows end with checksums; a file without any goes on without."""


def read_csv(path: Path, truth: HiddenMarkovModel) -> Lines:
    """The runs of the file, which is refused if a row is damaged."""
    content = path.read_bytes()
    size = content.rfind(b"\n") + 1
    if size == 0:
        if not header(truth).startswith(content):
            raise _damaged(path, "it does not begin with the columns of a sweep")
        return Lines([], 0, True)
    first, *lines = content[: size - 1].split(b"\n")
    with_checksums = first.endswith(b"," + _CHECKSUM.encode())
    if with_checksums:
        first = first.rpartition(b",")[0]
        lines = [_without_checksum(path, number, row) for number, row in enumerate(lines, start=1)]
        _check_torn(path, content[size:], first.count(b","))
    try:
        text = b"".join(line + b"\n" for line in (first, *lines)).decode()
        names, *rows = csv.reader(io.StringIO(text, newline=""))
    except (UnicodeDecodeError, csv.Error) as error:
        raise _damaged(path, str(error)) from None
    runs = _runs(path, truth, names, _parsed(path, names, rows))
    return Lines(runs, size, with_checksums)


def _without_checksum(path: Path, number: int, line: bytes) -> bytes:
    row, _, found = line.rpartition(b",")
    if found != _row_checksum(row):
        raise _damaged(path, f"the checksum of row {number} differs")
    return row


def _check_torn(path: Path, torn: bytes, commas: int) -> None:
    """Refuse what follows the last whole line if it is no beginning of a row.

    An interrupted sweep leaves such a beginning, which is written again. A row that lost only its
    end is longer, and a lost sector is not text.
    """
    is_longer = torn.count(b",") > commas and len(torn.rpartition(b",")[2]) > _LETTERS
    if is_longer or any(byte < ord(" ") for byte in torn):
        raise _damaged(path, "its last row has no end")


def _parsed(path: Path, names: list[str], lines: list[list[str]]) -> Iterator[dict]:
    for number, line in enumerate(lines, start=1):
        if len(line) != len(names):
            raise _damaged(path, f"row {number} has {len(line)} values for {len(names)} columns")
        try:
            yield {name: _value(name, text) for name, text in zip(names, line, strict=True)}
        except ValueError as error:
            raise _damaged(path, f"row {number}: {error}") from None


def _value(name: str, text: str):
    return None if text == "" else _head().get(name, float)(text)


# Parquet

_FORMAT = {"rhmm_format": "sweep 2"}
_NO_CHECKSUM = "rhmm-sha256-" + "0" * 64


def read_parquet(path: Path, truth: HiddenMarkovModel) -> list[Run]:
    """The runs of the file, which is refused if it is damaged."""
    pyarrow, parquet = import_pyarrow()
    content = path.read_bytes()
    is_sealed = _is_sealed(path, content)
    try:
        table = parquet.read_table(io.BytesIO(content))
        rows = table.to_pylist()
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise _damaged(path, str(error)) from None
    runs = _runs(path, truth, table.column_names, rows)
    if not is_sealed:  # a lost block of the footer can take runs with it
        raise _damaged(path, "its checksum is missing")
    return runs


def _is_sealed(path: Path, content: bytes) -> bool:
    """Whether the bytes of a Parquet file name their checksum, which then is right."""
    found = re.search(rb"rhmm-sha256-([0-9a-f]{64})", content)
    if found is None:
        return False
    blank = content[: found.start()] + _NO_CHECKSUM.encode() + content[found.end() :]
    if found[1] != checksum(blank).encode():
        raise _damaged(path, "its checksum differs")
    return True


def write_parquet(path: Path, truth: HiddenMarkovModel, runs: Iterable[Run]) -> None:
    pyarrow, parquet = import_pyarrow()
    types = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    schema = pyarrow.schema([(n, types[_head().get(n, float)]) for n in columns(truth)], _FORMAT)
    rows = [row_of(run, truth) for run in runs]
    out = io.BytesIO()
    with parquet.ParquetWriter(out, schema) as writer:
        writer.write_table(pyarrow.Table.from_pylist(rows, schema))
        writer.add_key_value_metadata({_CHECKSUM: _NO_CHECKSUM})
    content = out.getvalue()
    sealed = _NO_CHECKSUM[:-64] + checksum(content)
    path.write_bytes(content.replace(_NO_CHECKSUM.encode(), sealed.encode()))
