"""Runs of sweeps kept on this server's disk, so that no visitor waits for the same run twice.

It is a cache only: if the disk fails, runs are not kept, but they are still computed and shown.
"""

import os
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path

from platformdirs import user_cache_path

import rhmm
from rhmm import RiemannianHMM, Run
from rhmm.sweeping import Task, fingerprint
from rhmm.sweeping.record import CannotWriteError, Record, readable_runs
from rhmm.sweeping.rows import UnusableFileError

_KEPT_FILES = 200
_KEPT_BYTES = 500_000_000
_OWN_FILES = 16 * "[0-9a-f]" + "-[0-9]*.csv"  # a fingerprint and a version: no other files match
_NO_FOLDER = "Runs cannot be kept: this server has no folder that it may write to. "
_NOT_ALL = "Not all runs could be kept on this server’s disk: what was computed is shown."


class RunCache:
    """The kept runs of one truth and length: those `known` from before, and a place for new ones.

    Use it in ``with``, which locks the file against other writers. `note` is a sentence for the
    visitor about what could not be read or kept; empty if all is well.
    """

    def __init__(self, truth: RiemannianHMM, length: int):
        self.known: dict[Task, Run] = {}
        self.note = ""
        self._record: Record | None = None
        self._open = ExitStack()
        try:
            file = _file_for(truth, length)
        except OSError:
            self.note = _NO_FOLDER
            return
        try:
            self._record = self._open.enter_context(self._record_in(file, truth))
            self.known = dict(self._record.known)
        except OSError:
            with suppress(UnusableFileError):
                self.known = readable_runs(file, truth)
            self.note += _NOT_ALL

    def _record_in(self, file: Path, truth: RiemannianHMM) -> Record:
        try:
            return Record(file, truth)
        except UnusableFileError:
            aside = _free_name(file)
            file.replace(aside)
        self.note = f"Runs kept from before could not be read; they were moved to {aside.name}. "
        return Record(file, truth)

    def keep(self, run: Run) -> None:
        """Write the run to disk; if that fails, only `note` says so."""
        if self._record is None:
            return
        try:
            self._record.append(run)
        except CannotWriteError:
            self._close()  # another line must not follow one that was cut off
            self.note += _NOT_ALL

    def _close(self) -> None:
        self._record = None
        self._open.close()

    def __enter__(self) -> "RunCache":
        return self

    def __exit__(self, *_) -> None:
        self._close()


def _file_for(truth: RiemannianHMM, length: int) -> Path:
    """The file for this truth and length of chains.

    Each length has its own file because a file is always read whole.
    """
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{fingerprint(truth)}-{rhmm.__version__}-T{length}.csv"
    file.touch()  # so that other servers do not count it among the oldest
    with suppress(FileNotFoundError):  # another server may remove the same files
        _remove_the_oldest(folder, file)
    return file


def _remove_the_oldest(folder: Path, wanted: Path) -> None:
    """Keep the latest files that are few and small enough together; `wanted` always stays."""
    others = [(file, file.stat()) for file in folder.glob(_OWN_FILES) if file != wanted]
    others.sort(key=lambda other: other[1].st_mtime, reverse=True)
    total = wanted.stat().st_size
    for kept, (file, about) in enumerate(others, start=2):
        total += about.st_size
        if kept > _KEPT_FILES or total > _KEPT_BYTES:
            file.unlink()


def _free_name(file: Path) -> Path:
    names = (f"{file.stem}{f'-{number}' if number > 1 else ''}" for number in count(1))
    places = (file.with_name(f"{name}.unreadable") for name in names)
    return next(place for place in places if not place.exists())


def _folder() -> Path:
    """RHMM_CACHE if it is set, else where this system keeps caches."""
    chosen = os.environ.get("RHMM_CACHE")
    if chosen:
        return Path(chosen)
    try:
        return user_cache_path("rhmm", appauthor=False)
    except RuntimeError as error:
        raise FileNotFoundError("this server's user has no home folder") from error
