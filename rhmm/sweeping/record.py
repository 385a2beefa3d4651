"""Runs on disk: a row for each, written as they come, so that a sweep goes on where it stopped.

CSV grows row by row. A Parquet file cannot: it is readable only when its footer is written. Runs
therefore go to a journal beside it (CSV again), and the whole is put together when the sweep ends
in any way; after a crash the next sweep finds the journal.

Only one sweep at a time writes a file: it holds a lock on what grows from before it reads until
nothing is left to write.
"""

import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from weakref import WeakSet

from rhmm.model import HiddenMarkovModel
from rhmm.storage import import_pyarrow
from rhmm.sweeping.rows import (
    header,
    line_of,
    read_csv,
    read_parquet,
    write_parquet,
)
from rhmm.sweeping.run import Run, Task

fcntl: ModuleType | None
try:
    fcntl = import_module("fcntl")
except ModuleNotFoundError:  # on Windows, where nothing keeps two sweeps apart
    fcntl = None


def load_runs(path, truth: HiddenMarkovModel) -> list[Run]:
    """The runs that a sweep over `truth` wrote to a ``.csv`` or ``.parquet`` file."""
    path = _checked(path)
    if path.suffix == ".csv":
        runs = read_csv(path, truth).runs
    else:
        try:  # the journal first: a sweep that ends meanwhile moves its runs to the Parquet file
            appended = read_csv(_journal(path), truth).runs
        except FileNotFoundError:
            if not path.exists():
                raise FileNotFoundError(f"there is no file {str(path)!r}") from None
            appended = []
        runs = (read_parquet(path, truth) if path.exists() else []) + appended
    return list({run.task: run for run in runs}.values())


def readable_runs(path, truth: HiddenMarkovModel) -> dict[Task, Run]:
    """The runs of a file that perhaps is not there, or not for us."""
    try:
        return {run.task: run for run in load_runs(path, truth)}
    except OSError:
        return {}


def save_runs(path, truth: HiddenMarkovModel, runs: Iterable[Run]) -> None:
    """Write `runs` to a ``.csv`` or ``.parquet`` file as a sweep does; replaces it in one step."""
    path = _checked(path)
    whole = path.with_name(path.name + ".new")
    try:
        if path.suffix == ".csv":
            lines = [header(truth), *(line_of(run, truth) for run in runs)]
            whole.write_bytes(b"".join(lines))
        else:
            write_parquet(whole, truth, runs)
        os.replace(whole, path)
    finally:
        whole.unlink(missing_ok=True)


class Record:
    """The file of one sweep: what it held before, and a place for what comes.

    To be used in ``with``, which makes a Parquet file whole at the end. Raises UnusableFileError
    for a file that is damaged or of another truth, and leaves it as it is; CannotWriteError if
    another sweep is writing to it.
    """

    def __init__(self, path, truth: HiddenMarkovModel):
        self._path, self._truth = _checked(path), truth
        if not self._path.parent.is_dir():
            raise ValueError(f"file must be in a directory that exists, not {str(self._path)!r}")
        self._grows = self._path
        if self._path.suffix == ".parquet":
            import_pyarrow()  # now, and not when the sweep is over
            self._grows = _journal(self._path)
        with _writing(self._path):
            self._out, is_new = _open_alone(self._grows)
        try:
            self.known: dict[Task, Run] = self._begin()
        except BaseException:
            self._close(remove=is_new)
            raise

    def _begin(self) -> dict[Task, Run]:
        """The runs that the file holds, read under the lock."""
        is_whole = self._grows != self._path and self._path.exists()
        runs = read_parquet(self._path, self._truth) if is_whole else []
        appended, size, self._with_checksums = read_csv(self._grows, self._truth)
        with _writing(self._grows):
            if self._out.seek(0, os.SEEK_END) > size:
                self._out.truncate(size)  # the line that an interrupted sweep did not finish
        if size == 0:
            self._write(header(self._truth))
        return {run.task: run for run in runs + appended}

    def append(self, run: Run) -> None:
        """Put `run` on disk now."""
        self._write(line_of(run, self._truth, self._with_checksums))
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
        if fcntl is not None and not self._out.closed:
            with suppress(OSError):  # a file system may have no locks
                fcntl.flock(self._out, fcntl.LOCK_UN)  # now, even if a child still has the file
            self._out.close()


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
    raise OSError("another program removes it again and again")


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


# Names of files


def _journal(path: Path) -> Path:
    return path.with_name(path.name + ".journal.csv")


def _checked(path) -> Path:
    path = Path(path)
    if path.suffix not in (".csv", ".parquet"):
        raise ValueError(f"file must end in .csv or .parquet, not {path.name!r}")
    return path
