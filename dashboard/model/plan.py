"""What the Δ trade-off sweeps: the plan that a visitor sets, and the sweep that follows from it."""

from dataclasses import dataclass, replace

from dashboard.model.experiment import MOST_WINDOW, WINDOWS, Experiment, least_window
from dashboard.model.fields import Control, Settings, setting
from dashboard.model.kinds import Choices, WholeNumber, WholeNumbers
from dashboard.model.methods import BASELINES, VARIANTS, Variant, variant_of
from rhmm import Configuration, Run
from rhmm.learners import streaming, windowed
from rhmm.learners.windowed import PAPERS_WINDOWS
from rhmm.sweeping import Task

MOST_RUNS = 50
MOST_DELTAS = 20

_COMPARED_AT_FIRST = (windowed.LEARNER, streaming.LEARNER)
"""The paper's algorithm as printed, and ours."""


@dataclass(frozen=True)
class Plan(Settings):
    """Which Δ, which online learners, how many seeds. EM, K-means and the ceiling come along."""

    windows: tuple[int, ...] = setting(
        PAPERS_WINDOWS,
        "deltas",
        WholeNumbers("Δ", 2, MOST_WINDOW, MOST_DELTAS),
        control=Control("multiselect", "Values of Δ", options=WINDOWS, accepts_others=True),
    )
    learners: tuple[str, ...] = setting(
        tuple(next(iter(learner.variants)) for learner in _COMPARED_AT_FIRST),
        "learners",
        Choices("algorithm", tuple(VARIANTS)),
        control=Control(
            "multiselect",
            "Online algorithms",
            options=tuple(VARIANTS),
            names={key: variant.name for key, variant in VARIANTS.items()},
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
        """The plan, with the experiment's own Δ and algorithms among the others.

        Experiments that differ in nothing else have the same sweep.
        """
        length = experiment.length
        window = min(Experiment.window, length)
        if experiment.is_recorded:
            plain = Experiment(
                recording=experiment.recording, states=experiment.states, window=window
            )
        else:
            plain = Experiment(**experiment.truth, length=length, window=window)
        asked = {*plan.windows, experiment.window}
        learners = {*plan.learners, *(variant.key for variant in experiment.variants)}
        ordered = tuple(key for key in VARIANTS if key in learners)
        return cls(plain, tuple(sorted(asked)), ordered, plan.runs)

    @property
    def digest(self) -> tuple:
        """The same for the same sweep. It holds no data."""
        return self.experiment.digest, self.asked, self.learners, self.runs

    @property
    def variants(self) -> list[Variant]:
        """The online learners that are compared."""
        return [VARIANTS[key] for key in self.learners]

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
                variant.configuration(length, window)
                for variant in self.variants
                for window in (self.windows() if variant.has_window else [None])
            ),
            *(Configuration(key, length) for key in self.experiment.methods if key in BASELINES),
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
        return effort * self.experiment.slowness * self.runs

    def in_words(self) -> str:
        count = len(self.configurations())
        seeds = "one seed" if self.runs == 1 else f"{self.runs} seeds"
        return f"{self.total:,} runs: {count} settings, {seeds} each."


def opens_in_the_lab(configuration: Configuration) -> bool:
    """Whether the Live lab can show this run: it offers all variants of the online learners."""
    return variant_of(configuration) is not None


def experiment_of(experiment: Experiment, run: Run) -> Experiment:
    """The experiment whose Live lab shows this very run of a sweep."""
    way = run.configuration
    known = Experiment.table()
    options = {name: value for name, value in way.options if name in known}
    return replace(
        experiment, length=way.length, seed=run.seed, algorithms=(way.learner,), **options
    )
