"""What the Δ trade-off sweeps: the plan that a visitor sets, and the sweep that follows from it."""

from dataclasses import dataclass, replace

from dashboard.model.experiment import MOST_WINDOW, WINDOWS, Experiment, least_window
from dashboard.model.fields import Control, Settings, setting
from dashboard.model.kinds import Choices, WholeNumber, WholeNumbers
from dashboard.model.methods import BASELINES, LEARNER_NAMES, LEARNERS
from rhmm import Configuration, Run
from rhmm.sweeping import Task
from rhmm.table import WINDOWS as PAPER_WINDOWS

MOST_RUNS = 50
MOST_DELTAS = 20


@dataclass(frozen=True)
class Plan(Settings):
    """Which Δ, which online learners, how many seeds. EM, K-means and the ceiling come along."""

    windows: tuple[int, ...] = setting(
        PAPER_WINDOWS,
        "deltas",
        WholeNumbers("Δ", 2, MOST_WINDOW, MOST_DELTAS),
        control=Control("multiselect", "Values of Δ", options=WINDOWS, accepts_others=True),
    )
    learners: tuple[str, ...] = setting(
        ("streaming", "paper"),
        "learners",
        Choices("algorithm", tuple(LEARNERS)),
        control=Control(
            "multiselect",
            "Online algorithms",
            options=tuple(LEARNERS),
            names=LEARNER_NAMES,
        ),
    )
    runs: int = setting(
        5,
        "runs",
        WholeNumber("The number of seeds", 1, MOST_RUNS),
        control=Control(
            "number",
            "Seeds",
            f"Each point is the mean over so many chains, 1 to {MOST_RUNS}; "
            "bands hold eight runs in ten.",
        ),
    )


@dataclass(frozen=True)
class Sweep:
    """A plan for a truth: what a background job computes."""

    experiment: Experiment
    """Only its truth and its length count, see `of`."""
    asked: tuple[int, ...]
    """Every Δ that is asked for, also those that this chain is too short for."""
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
