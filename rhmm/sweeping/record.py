"""Runs on disk: a row for each, written as they come, so that a sweep goes on where it stopped.

A row holds the configuration, the seed, the measures and the estimates, flat, with every digit;
besides a fingerprint of the truth and the version of the engine, so that runs of another are never
taken for ours. CSV grows row by row. A Parquet file cannot: it is readable only when its footer is
written. Runs therefore go to a journal beside it (CSV again), and the whole is put together when
the sweep ends in any way; after a crash the next sweep finds the journal.

Only one sweep at a time writes a file: it holds a lock on what grows from before it reads until
nothing is left to write.
"""

import csv
import hashlib
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from itertools import chain
from pathlib import Path
from weakref import WeakSet

import numpy as np

import rhmm
from rhmm.hmm import RiemannianHMM
from rhmm.sweeping.configuration import Configuration
from rhmm.sweeping.run import Run, Task, nested

try:
    import fcntl
except ModuleNotFoundError:  # on Windows, where nothing keeps two sweeps apart
    fcntl = None

_OPTIONS = tuple(field.name for field in fields(Configuration))
_MEASURES = Run._fields[1:-3]
_ESTIMATES = Run._fields[-3:]
_HEAD = ("truth", "engine", *_OPTIONS, *_MEASURES)
_TEXT = ("truth", "engine", "method", "transition_update", "memory", "init")
_WHOLE = ("length", "window", "seed", "nbytes")


def fingerprint(truth: RiemannianHMM) -> str:
    """Sixteen letters that differ when the manifold or any digit of the parameters does."""
    digest = hashlib.sha256(repr(truth.manifold).encode())
    for value in truth.parameters_:
        digest.update(np.ascontiguousarray(value, "<f8").tobytes())
    return digest.hexdigest()[:16]


def load_runs(path, truth: RiemannianHMM) -> list[Run]:
    """The runs that a sweep over `truth` wrote to a ``.csv`` or ``.parquet`` file."""
    path = _checked(path)
    if path.suffix == ".csv":
        runs = _read_csv(path, truth)[0]
    else:
        try:  # the journal first: a sweep that ends meanwhile moves its runs to the Parquet file
            appended, _ = _read_csv(_journal(path), truth)
        except FileNotFoundError:
            if not path.exists():
                raise FileNotFoundError(f"there is no file {str(path)!r}") from None
            appended = []
        runs = (_read_parquet(path, truth) if path.exists() else []) + appended
    return list({run.task: run for run in runs}.values())


def readable_runs(path, truth: RiemannianHMM) -> dict[Task, Run]:
    """The runs of a file that perhaps is not there, or not for us."""
    try:
        return {run.task: run for run in load_runs(path, truth)}
    except OSError:
        return {}


def save_runs(path, truth: RiemannianHMM, runs: Iterable[Run]) -> None:
    """Write `runs` to a ``.csv`` or ``.parquet`` file as a sweep does; replaces it in one step."""
    path = _checked(path)
    whole = path.with_name(path.name + ".new")
    try:
        if path.suffix == ".csv":
            lines = [_line(columns(truth)), *(_line(_row(run, truth).values()) for run in runs)]
            whole.write_bytes(b"".join(lines))
        else:
            _write_parquet(whole, truth, runs)
        os.replace(whole, path)
    finally:
        whole.unlink(missing_ok=True)


class Record:
    """The file of one sweep: what it held before, and a place for what comes.

    To be used in ``with``, which makes a Parquet file whole at the end. Raises UnusableFileError
    for a file that is damaged or of another truth, and leaves it as it is; CannotWriteError if
    another sweep is writing to it.
    """

    def __init__(self, path, truth: RiemannianHMM):
        self._path, self._truth = _checked(path), truth
        if not self._path.parent.is_dir():
            raise ValueError(f"file must be in a directory that exists, not {str(self._path)!r}")
        self._grows = self._path
        if self._path.suffix == ".parquet":
            _import_pyarrow()  # now, and not when the sweep is over
            self._grows = _journal(self._path)
        with _writing(self._path):
            self._out, is_new = _open_alone(self._grows)
        try:
            self.known: dict[Task, Run] = self._begin()
        except BaseException:
            self._close(remove=is_new)
            raise

    def _begin(self) -> dict[Task, Run]:
        """What was there before; only now, since nobody else writes any more."""
        is_whole = self._grows != self._path and self._path.exists()
        runs = _read_parquet(self._path, self._truth) if is_whole else []
        appended, size = _read_csv(self._grows, self._truth)
        with _writing(self._grows):
            if self._out.seek(0, os.SEEK_END) > size:
                self._out.truncate(size)  # the line that an interrupted sweep did not finish
        if size == 0:
            self._write(_line(columns(self._truth)))
        return {run.task: run for run in runs + appended}

    def append(self, run: Run) -> None:
        """Put `run` on disk now."""
        self._write(_line(_row(run, self._truth).values()))
        self.known[run.task] = run

    def _write(self, line: bytes) -> None:
        with _writing(self._grows):
            if self._out.write(line) != len(line):
                raise OSError("there is room for a part of a line only")

    def __enter__(self) -> "Record":
        return self

    def __exit__(self, kind, error: BaseException | None, traceback) -> None:
        if self._out.closed:  # this is a fork of the process that writes
            return
        try:
            self._make_whole()
        except CannotWriteError as trouble:  # the journal stays, so that nothing is lost
            if error is None or isinstance(error, StopIteration):
                raise
            error.add_note(str(trouble))  # what went wrong first is what matters
        finally:
            self._close()

    def _make_whole(self) -> None:
        if self._grows != self._path:
            with _writing(self._path):
                save_runs(self._path, self._truth, self.known.values())
                self._close(remove=True)

    def _close(self, remove: bool = False) -> None:
        """Let others write; what is to be removed is gone before they can."""
        if fcntl is None:
            self._out.close()  # Windows removes no file that is open
        if remove:
            self._grows.unlink(missing_ok=True)
        if not self._out.closed:
            with suppress(OSError):  # of a file system that has no locks
                fcntl.flock(self._out, fcntl.LOCK_UN)  # now, also if a child still has the file
            self._out.close()


class UnusableFileError(ValueError):
    """The file is damaged, or holds the runs of another truth or engine."""


class CannotWriteError(OSError):
    """The disk is full, another sweep has the file, or it cannot be written to otherwise."""


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotWriteError(f"cannot write to {str(path)!r}: {error}") from error


# One at a time


_open: WeakSet[io.FileIO] = WeakSet()


def _open_alone(path: Path) -> tuple[io.FileIO, bool]:
    """The file, to append to, locked until it is closed; and whether it was made for that."""
    for _ in range(100):
        was_there = path.exists()
        out = path.open("ab", buffering=0)
        try:
            _lock(out)
            if _is_still(out, path):
                _open.add(out)
                return out, not was_there and out.seek(0, os.SEEK_END) == 0
        except BaseException:
            out.close()
            raise
        out.close()  # a journal that its sweep removed before we had the lock
    raise OSError("somebody removes it again and again")


def _lock(out: io.FileIO) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(out, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise OSError("another sweep is writing to it") from None
    except OSError:  # a file system that has no locks
        pass


def _is_still(out: io.FileIO, path: Path) -> bool:
    try:
        return fcntl is None or os.path.samestat(os.fstat(out.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _leave_to_parent() -> None:
    """In a fork, say a worker of a pool: else it would keep the lock when its parent is killed."""
    for out in list(_open):
        out.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


# Rows


def columns(truth: RiemannianHMM) -> list[str]:
    """The columns of the file of a sweep over `truth`."""
    names = list(_HEAD)
    for name, shape in _shapes(truth).items():
        names += ["_".join([name, *map(str, index)]) for index in np.ndindex(shape)]
    return names


def _shapes(truth: RiemannianHMM) -> dict[str, tuple[int, ...]]:
    return {name: getattr(truth.parameters_, name).shape for name in _ESTIMATES}


def _row(run: Run, truth: RiemannianHMM) -> dict:
    head = fingerprint(truth), rhmm.__version__, *asdict(run.configuration).values()
    measures = (getattr(run, name) for name in _MEASURES)
    estimates = (np.ravel(getattr(run, name)).tolist() for name in _ESTIMATES)
    return dict(zip(columns(truth), chain(head, measures, *estimates), strict=True))


def _runs(path: Path, truth: RiemannianHMM, names: list[str], rows: Iterable[dict]) -> list[Run]:
    """The rows of a file with the columns `names`; refuses what is not ours."""
    if tuple(names[: len(_HEAD)]) != _HEAD:
        raise _damaged(path, "its columns are not those of a sweep")
    ours = fingerprint(truth), rhmm.__version__
    runs = []
    for number, row in enumerate(rows, start=1):
        if (row["truth"], row["engine"]) != ours:
            raise UnusableFileError(
                f"file {str(path)!r} holds runs of another truth or engine ({row['truth']}, rhmm "
                f"{row['engine']}; this is {ours[0]}, rhmm {ours[1]}): give another file"
            )
        try:
            runs.append(_run(row, truth))
        except (ValueError, KeyError, TypeError) as error:
            raise _damaged(path, f"row {number}: {error}") from None
    if names != columns(truth):
        raise UnusableFileError(
            f"file {str(path)!r} is of a truth of another size: give another file"
        )
    return runs


def _run(row: dict, truth: RiemannianHMM) -> Run:
    if any(row[name] is None for name in row if name not in _OPTIONS):
        raise ValueError("a value is missing")
    estimates = []
    for name, shape in _shapes(truth).items():
        indices = ("_".join([name, *map(str, index)]) for index in np.ndindex(shape))
        values = np.array([row[index] for index in indices], dtype=float)
        estimates.append(nested(values.reshape(shape).tolist()))
    configuration = Configuration(**{name: row[name] for name in _OPTIONS})
    return Run(configuration, *(row[name] for name in _MEASURES), *estimates)


def _damaged(path: Path, why: str) -> UnusableFileError:
    return UnusableFileError(
        f"file {str(path)!r} is damaged ({why}); it was left as it is: "
        "move it away, or give another file"
    )


# CSV


def _line(values: Iterable) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue().encode()


def _read_csv(path: Path, truth: RiemannianHMM) -> tuple[list[Run], int]:
    """The runs of the file, and where its last whole line ends: what follows is torn."""
    content = path.read_bytes()
    size = content.rfind(b"\n") + 1
    if size == 0:
        if not _line(columns(truth)).startswith(content):
            raise _damaged(path, "it does not begin with the columns of a sweep")
        return [], 0
    try:
        names, *lines = csv.reader(io.StringIO(content[:size].decode(), newline=""))
    except (UnicodeDecodeError, csv.Error) as error:
        raise _damaged(path, str(error)) from None
    return _runs(path, truth, names, _parsed(path, names, lines)), size


def _parsed(path: Path, names: list[str], lines: list[list[str]]) -> Iterator[dict]:
    for number, line in enumerate(lines, start=1):
        if len(line) != len(names):
            raise _damaged(path, f"row {number} has {len(line)} values for {len(names)} columns")
        try:
            yield {name: _value(name, text) for name, text in zip(names, line, strict=True)}
        except ValueError as error:
            raise _damaged(path, f"row {number}: {error}") from None


def _value(name: str, text: str):
    if text == "":
        return None
    if name in _TEXT:
        return text
    return int(text) if name in _WHOLE else float(text)


# Parquet


def _journal(path: Path) -> Path:
    return path.with_name(path.name + ".journal.csv")


def _read_parquet(path: Path, truth: RiemannianHMM) -> list[Run]:
    pyarrow, parquet = _import_pyarrow()
    try:
        table = parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise _damaged(path, str(error)) from None
    return _runs(path, truth, table.column_names, table.to_pylist())


def _write_parquet(path: Path, truth: RiemannianHMM, runs: Iterable[Run]) -> None:
    pyarrow, parquet = _import_pyarrow()
    types = [
        pyarrow.string() if n in _TEXT else pyarrow.int64() if n in _WHOLE else pyarrow.float64()
        for n in columns(truth)
    ]
    schema = pyarrow.schema(list(zip(columns(truth), types, strict=True)))
    rows = [_row(run, truth) for run in runs]
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema), path)


def _import_pyarrow():
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "a .parquet file needs the package pyarrow; a .csv file needs nothing"
        ) from None
    return pyarrow, parquet


def _checked(path) -> Path:
    path = Path(path)
    if path.suffix not in (".csv", ".parquet"):
        raise ValueError(f"file must end in .csv or .parquet, not {path.name!r}")
    return path
