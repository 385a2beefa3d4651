"""Runs kept on this server's disk: what was computed once, by anybody, comes from there.

The disk is a cache only: whatever is wrong with it costs the keeping, never a run.
"""

import os
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path

import rhmm
from rhmm import RiemannianHMM, Run
from rhmm.sweeping import Task, fingerprint
from rhmm.sweeping.record import CannotWriteError, Record, UnusableFileError, readable_runs

_KEPT_FILES = 200
_OWN_FILES = 16 * "[0-9a-f]" + "-[0-9]*.csv"  # a fingerprint and a version: never those of others
_NO_FOLDER = "Runs cannot be kept: this server has no folder that it may write to. "
_NOT_ALL = "Not all runs could be kept on this server’s disk: what was computed is shown."


class KeptRuns:
    """Runs of one truth and length: those `known` from before, and a place for others.

    To be used in ``with``; while that lasts, nobody else writes to the same file. `note` tells
    whoever looks at the runs what could not be read or kept, if something could not.
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
        """Put the run on disk, if that can be done."""
        if self._record is None:
            return
        try:
            self._record.append(run)
        except CannotWriteError:
            self._close()  # what is left of its line must not be followed by another
            self.note += _NOT_ALL

    def _close(self) -> None:
        self._record = None
        self._open.close()

    def __enter__(self) -> "KeptRuns":
        return self

    def __exit__(self, *_) -> None:
        self._close()


def _file_for(truth: RiemannianHMM, length: int) -> Path:
    """Of one length of chains, since all of a file is read. Makes room for it if it is new."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{fingerprint(truth)}-{rhmm.__version__}-T{length}.csv"
    file.touch()  # it is used, and none of the oldest for other servers
    with suppress(FileNotFoundError):  # which may remove the same as this one
        others = [other for other in folder.glob(_OWN_FILES) if other != file]
        others.sort(key=lambda other: other.stat().st_mtime)
        for old in others[: max(0, len(others) + 1 - _KEPT_FILES)]:
            old.unlink()
    return file


def _free_name(file: Path) -> Path:
    names = (f"{file.stem}{f'-{number}' if number > 1 else ''}" for number in count(1))
    places = (file.with_name(f"{name}.unreadable") for name in names)
    return next(place for place in places if not place.exists())


def _folder() -> Path:
    """RHMM_CACHE if it is set, else where this system keeps caches."""
    chosen = os.environ.get("RHMM_CACHE")
    if chosen:
        return Path(chosen)
    caches = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(caches or Path.home() / ".cache") / "rhmm"
    except RuntimeError as error:
        raise FileNotFoundError("whoever runs this server has no home") from error
