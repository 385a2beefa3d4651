"""Sweeps for the Δ trade-off page: what to compute, and computing it in the background."""

import logging
import os
import time
from collections.abc import Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NamedTuple

import rhmm
from dashboard.experiment import MOST_WINDOW, Experiment, Invalid, least_window, quoted
from dashboard.jobs import Expected, Report
from dashboard.runs import true_model
from rhmm import Configuration, Run, open_executor, sweep
from rhmm.sweeping import fingerprint, load_runs
from rhmm.sweeping.workers import processors
from rhmm.table import WINDOWS as PAPER_WINDOWS

MOST_RUNS = 50
MOST_DELTAS = 20

LEARNERS = {
    "streaming": {"method": "streaming"},
    "paper": {"method": "windowed", "transition_update": "paper"},
    "convex": {"method": "windowed", "transition_update": "convex"},
    "fixed": {"method": "streaming", "memory": "fixed"},
}
"""The online learners that a sweep can compare, by their names in a link."""

QUERY = ("deltas", "learners", "runs")
"""Names in a link."""

RIVALS = ("em", "kmeans", "ceiling")

_TICK = 0.25
_KEPT_FILES = 200
_OWN_FILES = 16 * "[0-9a-f]" + "-[0-9]*.csv"  # a fingerprint and a version: never those of others
_FAREWELL = 2.0


@dataclass(frozen=True)
class Plan:
    """Which Δ, which online learners, how many seeds. EM, K-means and the ceiling come along."""

    windows: tuple[int, ...] = PAPER_WINDOWS
    learners: tuple[str, ...] = ("streaming", "paper")
    runs: int = 5

    def __post_init__(self):
        if not self.windows:
            raise Invalid("windows", "Choose at least one Δ.")
        if not self.learners:
            raise Invalid("learners", "Choose at least one algorithm.")
        if not isinstance(self.runs, int) or not 1 <= self.runs <= MOST_RUNS:
            raise Invalid("runs", f"The number of seeds must be between 1 and {MOST_RUNS}.")
        unknown = [name for name in self.learners if name not in LEARNERS]
        if unknown:
            known = ", ".join(LEARNERS)
            raise Invalid("learners", f"“{quoted(unknown[0])}” is not one of: {known}.")
        if not all(2 <= window <= MOST_WINDOW for window in self.windows):
            raise Invalid("windows", f"Every Δ must be between 2 and {MOST_WINDOW:,}.")
        object.__setattr__(self, "windows", tuple(sorted(set(self.windows))))
        if len(self.windows) > MOST_DELTAS:
            raise Invalid("windows", f"Choose at most {MOST_DELTAS} values of Δ.")
        order = [name for name in LEARNERS if name in self.learners]
        object.__setattr__(self, "learners", tuple(order))

    def to_query(self) -> dict[str, str]:
        """What differs from the default, for a link."""
        plain, query = Plan(), {}
        if self.windows != plain.windows:
            query["deltas"] = ",".join(map(str, self.windows))
        if self.learners != plain.learners:
            query["learners"] = ",".join(self.learners)
        if self.runs != plain.runs:
            query["runs"] = str(self.runs)
        return query

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> tuple["Plan", list[Invalid]]:
        """The plan of a link, each unreadable part at its default with a sentence."""
        plan, problems = cls(), []
        for key, field, read in (
            ("deltas", "windows", lambda text: tuple(map(int, text.split(",")))),
            ("learners", "learners", lambda text: tuple(text.split(","))),
            ("runs", "runs", int),
        ):
            if key in query:
                try:
                    plan = replace(plan, **{field: read(query[key])})
                except Invalid as problem:
                    problems.append(Invalid(field, f"In the link: {problem}"))
                except ValueError:
                    text = f"The link's {key} “{quoted(query[key])}” is unclear."
                    problems.append(Invalid(field, text))
        return plan, problems


@dataclass(frozen=True)
class Sweep:
    """A plan for a truth: what a background job computes."""

    experiment: Experiment
    """Of which the truth and the length count, see `of`."""
    asked: tuple[int, ...]
    """Every Δ that is wanted, also those that this chain is too short for."""
    learners: tuple[str, ...]
    runs: int

    @classmethod
    def of(cls, experiment: Experiment, plan: Plan) -> "Sweep":
        """The plan, with the experiment's own Δ and algorithm among the others.

        Experiments that differ in nothing else have the same sweep.
        """
        plain = replace(
            experiment, seed=0, window=min(200, experiment.length), algorithm="streaming",
            transition_update="paper",
        )  # fmt: skip
        asked = {*plan.windows, experiment.window}
        learners = {*plan.learners, experiment.learner}
        ordered = tuple(name for name in LEARNERS if name in learners)
        return cls(plain, tuple(sorted(asked)), ordered, plan.runs)

    def windows(self) -> list[int]:
        """The Δ's that this chain is long enough for."""
        least = least_window(self.experiment.n_states)
        return [w for w in self.asked if least <= w <= self.experiment.length]

    def left_out(self) -> list[int]:
        return sorted({*self.asked} - {*self.windows()})

    def configurations(self) -> list[Configuration]:
        length = self.experiment.length
        return [
            *(
                Configuration(length=length, window=window, **LEARNERS[name])
                for name in self.learners
                for window in self.windows()
            ),
            *(Configuration(method, length) for method in RIVALS),
        ]

    @property
    def total(self) -> int:
        return len(self.configurations()) * self.runs

    @property
    def seconds(self) -> float:
        """About how long it takes on this machine."""
        effort = sum(configuration.effort for configuration in self.configurations())
        more_states = max(1.0, self.experiment.n_states / 3)  # efforts are those of three states
        return 1e-6 * effort * more_states * self.runs / _processors()

    def in_words(self) -> str:
        count = len(self.configurations())
        return f"{self.total:,} runs: {count} ways to learn, {self.runs} seeds each."


class Outcome(NamedTuple):
    """The runs that are done, and what went wrong on the way, if something did."""

    runs: tuple[Run, ...] = ()
    note: str = ""


class Unreachable(Expected):
    """The cluster that this server is told to use is not there."""


def compute(wish: Sweep, report: Report) -> Outcome:
    """Run the sweep, reporting what is done and how long the rest will take.

    Runs are kept in a file for each truth: what was computed once, by anybody, comes from there.
    """
    truth = true_model(wish.experiment)
    file, note = _file_for(truth)
    arrived: SimpleQueue = SimpleQueue()
    done: list[Run] = []
    report(Outcome((), note), "Starting", 0.0)
    with _sweeping(arrived, truth, wish, file):
        begin, known, over = time.monotonic(), None, False
        while not over:
            try:
                item = arrived.get(timeout=_TICK)
                over = not isinstance(item, Run)
                if not over:
                    done.append(item)
                    if not arrived.empty():
                        continue
            except Empty:
                known = len(done) if known is None else known  # the first pause: all else is new
            words = _left(wish, done, known, begin)
            report(Outcome(tuple(done), note), words, len(done) / wish.total)
    if isinstance(item, Exception):
        raise item
    if file is not None and not _are_kept(file, truth, item):
        note += "Not all runs could be kept on this server’s disk: what was computed is shown."
    return Outcome(tuple(item), note)


def _are_kept(file: Path, truth, runs: list[Run]) -> bool:
    try:
        return set(runs) <= set(load_runs(file, truth))
    except (OSError, ValueError):  # removed or damaged meanwhile
        return False


@contextmanager
def _sweeping(arrived: SimpleQueue, truth, wish: Sweep, file: Path | None):
    """A sweep in a thread of its own; when the with ends, it has given up and left the file.

    It runs on processors of this machine, or on the cluster that whoever runs the server has
    chosen. No visitor may choose the address: Dask runs what it is sent.
    """
    with ExitStack() as stack:
        try:
            scheduler = os.environ.get("RHMM_SCHEDULER") or None
            executor = stack.enter_context(open_executor(scheduler, _processors()))
        except (ConnectionError, ValueError, ModuleNotFoundError) as error:
            # to visitors the address is nothing; whoever runs the server must know what is wrong
            logging.getLogger(__name__).warning("RHMM_SCHEDULER cannot be used: %s", error)
            raise Unreachable("the cluster that this server uses does not answer.") from error
        thread = Thread(
            target=_sweep_into, args=(arrived, truth, wish, executor, file), daemon=True
        )
        thread.start()
        try:
            yield
        finally:
            stack.close()
            thread.join(_FAREWELL)


def _processors() -> int:
    """All but one, which is left to the pages: a click must not wait for a sweep."""
    return max(1, processors() - 1)


def _sweep_into(arrived: SimpleQueue, truth, wish: Sweep, executor, file: Path | None) -> None:
    """Put each run into the queue as it comes; at the end the list of all, or what went wrong."""
    try:
        grid = wish.configurations()
        arrived.put(sweep(truth, grid, wish.runs, executor, arrived.put, file))
    except Exception as error:
        arrived.put(error)


def _left(wish: Sweep, done: list[Run], known: int | None, begin: float) -> str:
    words = f"{len(done):,} of {wish.total:,} runs done"
    new = [] if known is None else done[known:]
    finished = sum(run.configuration.effort for run in new)
    if not finished:  # nothing new, or only windows as long as the chain, which cost nothing
        return words
    whole = sum(c.effort for c in wish.configurations()) * wish.runs
    rest = whole - sum(run.configuration.effort for run in done)
    seconds = (time.monotonic() - begin) * rest / finished
    return f"{words}, about {seconds:.0f} s left"


def _file_for(truth) -> tuple[Path | None, str]:
    """Where the runs of this truth are kept, and a word if what was there could not be used."""
    folder = _folder()
    file = folder / f"{fingerprint(truth)}-{rhmm.__version__}.csv"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        own = sorted(folder.glob(_OWN_FILES), key=lambda f: f.stat().st_mtime)
        for old in own[:-_KEPT_FILES]:
            old.unlink(missing_ok=True)
        file.touch()
        load_runs(file, truth)
    except OSError:
        return None, "Runs cannot be kept: this server may not write to its folder for them. "
    except ValueError:
        aside = file.with_suffix(".unreadable")
        file.replace(aside)
        return file, f"Runs kept from before could not be read; they were moved to {aside.name}. "
    return file, ""


def _folder() -> Path:
    """RHMM_CACHE if it is set, else where this system keeps caches."""
    chosen = os.environ.get("RHMM_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rhmm"
