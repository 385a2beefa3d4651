"""One run of a sweep: sample a chain, learn it in one way, compare with the truth."""

from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple, Self

from rhmm.learners.learner import Learner
from rhmm.model import HiddenMarkovModel
from rhmm.scoring import MEASURES, Evaluation, Measures
from rhmm.sweeping.configuration import Configuration
from rhmm.trial import run_trial
from rhmm.version import __version__

_warm: set[tuple] = set()
_warming = Lock()


class Task(NamedTuple):
    """What a run computes."""

    configuration: Configuration
    seed: int
    """Of the chain and of the learner."""


@dataclass(frozen=True, kw_only=True)
class Run(Measures[float]):
    """What one configuration made of the chain of one seed.

    The estimates have their states in the true order. They are tuples, so that runs can be
    compared and looked up; ``np.array(run.means)`` is an array again.
    """

    configuration: Configuration
    seed: int
    seconds: float
    nbytes: int
    transmat: tuple
    means: tuple
    sigmas: tuple

    @classmethod
    def of(cls, task: Task, evaluation: Evaluation) -> Self:
        """What is kept of an evaluation."""
        configuration, seed = task
        _, *estimates = evaluation.model.parameters_
        transmat, means, sigmas = (nested(array.tolist()) for array in estimates)
        return cls(
            configuration=configuration,
            seed=seed,
            transmat=transmat,
            means=means,
            sigmas=sigmas,
            **{name: getattr(evaluation, name) for name in MEASURES},
        )

    @property
    def task(self) -> Task:
        """What it is the result of."""
        return Task(self.configuration, self.seed)

    @property
    def diagonal(self) -> tuple[float, ...]:
        """Â_11, Â_22, …"""
        return tuple(row[i] for i, row in enumerate(self.transmat))


def run_once(
    truth: HiddenMarkovModel,
    configuration: Configuration,
    seed: int,
    learner: Learner | None = None,
) -> Run:
    """The run of `configuration` on the chain that `seed` gives; the same wherever it runs.

    `learner` is that of the configuration, for a process whose registry may not have it yet.
    """
    learner = configuration.entry if learner is None else learner
    _warm_up(truth, configuration, learner)
    X, states = truth.sample(configuration.length, random_state=seed)
    options = configuration.settings
    result = run_trial(learner, truth, X, states, seed=seed, options=options).evaluation
    return Run.of(Task(configuration, seed), result)


def run_for(version: str, truth: HiddenMarkovModel, task: Task, learner: Learner) -> Run:
    """`run_once` for a sweep of rhmm `version`, which another version must not serve."""
    if version != __version__:
        raise RuntimeError(f"the sweep is of rhmm {version}, its worker has {__version__}")
    return run_once(truth, *task, learner)


def nested(values):
    """Tuples all the way down, for lists all the way down."""
    return tuple(map(nested, values)) if isinstance(values, list) else values


def _warm_up(truth: HiddenMarkovModel, configuration: Configuration, learner: Learner) -> None:
    """Compile or load what `configuration` needs, once in a process: times are of the method.

    One thread at a time: the others wait for the same.
    """
    n, options = len(truth.startprob_), configuration.settings
    if configuration.window is not None:
        options["window"] = min(configuration.window, 100 * n)
    key = truth.manifold, n, learner.key, tuple(options.items())
    with _warming:
        if key not in _warm:
            X, states = truth.sample(500 * n, random_state=0)
            run_trial(learner, truth, X, states, seed=0, options=options)
            _warm.add(key)
