"""Sweeps for the Δ trade-off page: what to compute, and computing it in the background."""

import logging
import os
import time
from collections.abc import Container, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NamedTuple

from dashboard.experiment import MOST_WINDOW, Experiment, Invalid, least_window, quoted
from dashboard.jobs import Expected, Report
from dashboard.keeping import KeptRuns
from dashboard.runs import true_model
from rhmm import Configuration, RiemannianHMM, Run, open_executor
from rhmm.sweeping import Task, compute_runs
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

    def tasks(self) -> list[Task]:
        return [Task(c, seed) for c in self.configurations() for seed in range(self.runs)]

    @property
    def total(self) -> int:
        return len(self.configurations()) * self.runs

    @property
    def seconds(self) -> float:
        """About how long it takes on this machine; how fast a cluster is, nobody knows."""
        effort = sum(configuration.effort for configuration in self.configurations())
        more_states = max(1.0, self.experiment.n_states / 3)  # efforts are those of three states
        return 1e-6 * effort * more_states * self.runs / _processors()

    def seconds_in_words(self) -> str:
        if scheduler() is None:
            return f"That takes about {self.seconds:,.0f} s on this machine."
        return (
            f"On this machine that would take about {self.seconds:,.0f} s; "
            "it is computed by the cluster that this server uses."
        )

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
    """Run the sweep, reporting what is done and how long the rest will take."""
    truth, tasks = true_model(wish.experiment), wish.tasks()
    report(Outcome(), "Starting", 0.0)
    with KeptRuns(truth, wish.experiment.length) as kept:
        done = {task: kept.known[task] for task in tasks if task in kept.known}
        missing = [task for task in tasks if task not in done]

        def tell(words: str = "") -> None:
            words = f"{len(done):,} of {len(tasks):,} runs done{words}"
            report(Outcome(tuple(done.values()), kept.note), words, len(done) / len(tasks))

        tell()
        if missing:
            with _computing(truth, missing) as arrived:
                begin = time.monotonic()
                while len(done) < len(tasks):
                    with suppress(Empty):
                        item = arrived.get(timeout=_TICK)
                        if isinstance(item, Exception):
                            raise item
                        kept.keep(item)
                        done[item.task] = item
                        if not arrived.empty():
                            continue
                    tell(_left(missing, done, time.monotonic() - begin))
        return Outcome(tuple(done[task] for task in tasks), kept.note)


@contextmanager
def _computing(truth: RiemannianHMM, tasks: list[Task]) -> Iterator[SimpleQueue]:
    """Where the runs arrive that a thread of its own has computed, or what went wrong instead.

    They are computed by processors of this machine, or by the cluster that whoever runs the server
    has chosen. No visitor may choose the address: Dask runs what it is sent.
    """
    arrived: SimpleQueue = SimpleQueue()
    with ExitStack() as stack:
        try:
            executor = stack.enter_context(open_executor(scheduler(), _processors()))
        except (ConnectionError, ValueError, ModuleNotFoundError) as error:
            # to visitors the address is nothing; whoever runs the server must know what is wrong
            logging.getLogger(__name__).warning("RHMM_SCHEDULER cannot be used: %s", error)
            raise Unreachable("the cluster that this server uses does not answer.") from error
        Thread(target=_compute_into, args=(arrived, truth, tasks, executor), daemon=True).start()
        yield arrived


def scheduler() -> str | None:
    """The cluster that whoever runs the server has chosen, if they have."""
    return os.environ.get("RHMM_SCHEDULER") or None


def _processors() -> int:
    """All but one, which is left to the pages: a click must not wait for a sweep."""
    return max(1, processors() - 1)


def _compute_into(arrived: SimpleQueue, truth: RiemannianHMM, tasks: list[Task], executor) -> None:
    try:
        for run in compute_runs(truth, tasks, executor):
            arrived.put(run)
    except Exception as error:
        arrived.put(error)


def _left(missing: list[Task], done: Container[Task], seconds: float) -> str:
    """How long the rest of what was missing will take, if that can be said yet."""
    efforts = {task: task.configuration.effort for task in missing}
    finished = sum(effort for task, effort in efforts.items() if task in done)
    if not finished:  # nothing yet, or only windows as long as the chain, which cost nothing
        return ""
    rest = sum(efforts.values()) - finished
    return f", about {seconds * rest / finished:.0f} s left"
