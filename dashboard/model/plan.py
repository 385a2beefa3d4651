"""What the Δ trade-off sweeps: the plan that a visitor sets, and the sweep that follows from it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dashboard.model.experiment import MOST_WINDOW, Experiment, Invalid, least_window, quoted
from dashboard.model.methods import BASELINES, LEARNERS
from rhmm import Configuration, Run
from rhmm.sweeping import Task
from rhmm.table import WINDOWS as PAPER_WINDOWS

MOST_RUNS = 50
MOST_DELTAS = 20

QUERY = ("deltas", "learners", "runs")
"""Names in a link."""


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
            *(Configuration(method, length) for method in BASELINES),
        ]

    def tasks(self) -> list[Task]:
        return [Task(c, seed) for c in self.configurations() for seed in range(self.runs)]

    @property
    def total(self) -> int:
        return len(self.configurations()) * self.runs

    @property
    def effort(self) -> float:
        """About how many microseconds of one processor it takes."""
        effort = sum(configuration.effort for configuration in self.configurations())
        more_states = max(1.0, self.experiment.n_states / 3)  # efforts are those of three states
        return effort * more_states * self.runs

    def in_words(self) -> str:
        count = len(self.configurations())
        return f"{self.total:,} runs: {count} settings, {self.runs} seeds each."


def experiment_of(experiment: Experiment, run: Run) -> Experiment:
    """The experiment whose Live lab shows this very run of a sweep."""
    c = run.configuration
    return replace(
        experiment,
        length=c.length,
        seed=run.seed,
        window=c.window,
        algorithm=c.method,
        transition_update=c.transition_update or experiment.transition_update,
    )
