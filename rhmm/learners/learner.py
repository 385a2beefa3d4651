"""An entry of the registry: a learner as sweeps, the command line and the dashboard know it.

The estimator does the work and follows scikit-learn. Its entry says what no constructor can: the
name for people, which options are worth varying, how long a run takes, and how to watch it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from rhmm.manifolds import Manifold
from rhmm.model import HiddenMarkovModel
from rhmm.validation import check_choice, check_integer

Options = Mapping[str, Any]
"""Values of the estimator's arguments, by name."""


class Option(NamedTuple):
    """An argument of the estimator that people vary."""

    name: str
    """Of the argument."""
    key: str
    """Its short name: in links, and as a flag of the command line."""
    default: int | str
    label: str
    """What a control is called."""
    help: str
    choices: Mapping[str, str] = {}
    """The values it can have, each with a name for people; empty for a whole number."""
    phrases: Mapping[str, str] = {}
    """What each value adds to the name of a run; a value that is not here adds nothing."""
    at_least: int = 1
    """The least whole number."""

    def check(self, value) -> int | str:
        """`value`, if it can be used; otherwise a ValueError that names the argument."""
        if self.choices:
            return check_choice(self.name, value, tuple(self.choices))
        return check_integer(self.name, value, at_least=self.at_least)

    def phrase(self, value) -> str:
        return self.phrases.get(value, "") if self.choices else f"{self.phrases['']}={value}"


class Path(Protocol):
    """Parameters along the way of a learner: R rows, the first axis of every array."""

    @property
    def step(self) -> np.ndarray:
        """Observations seen, or iterations done; shape (R,)."""

    @property
    def transmat(self) -> np.ndarray:
        """Shape (R, N, N)."""

    @property
    def means(self) -> np.ndarray:
        """Shape (R, N, *point_shape)."""

    @property
    def sigmas(self) -> np.ndarray:
        """Shape (R, N)."""

    @property
    def log_likelihood(self) -> np.ndarray:
        """log p of the observations seen so far, or of all; shape (R,)."""

    def permuted(self, order: np.ndarray) -> "Path":
        """The same path with state ``order[i]`` renamed to i."""

    def _asdict(self) -> dict[str, np.ndarray]:
        """All arrays by their names."""


class Progress(NamedTuple):
    """How far a learner is."""

    estimator: Any
    """With what it has learned so far."""
    doing: str
    """What it is doing, in words; empty if its name says enough."""
    share: float
    """Of the work that is done; for an iteration that may end at any time, a guess."""


Watch = Callable[[Progress], None]
"""Called every few milliseconds of work; it may raise an exception to end the learning."""


def _given(lengths) -> dict[str, Any]:
    """An estimator from outside may know a single sequence alone."""
    return {} if lengths is None else {"lengths": lengths}


@dataclass(frozen=True, eq=False)
class Learner:
    """One way to learn a hidden Markov model from observations."""

    key: str
    """Its name in links, files and on the command line."""
    label: str
    """Its name for people."""
    estimator: type
    """``estimator(manifold, n_components, random_state=seed, **options)``, with `fit`, `to_hmm`
    and `peak_nbytes_`; `labels_` if it does not decode by the smoother under its parameters."""
    options: tuple[Option, ...] = ()
    variants: Mapping[str, Options] = field(default_factory=dict)
    """Settings that a comparison offers, by their names in links; only of online learners."""
    table: tuple[Options, ...] = ({},)
    """Settings that have a row in the table beside the paper's."""
    about: str = ""
    """What it is, in a sentence or two for people."""

    keeps_path = False
    """Whether `path` gives the parameters that it went through."""
    is_online = False
    """Whether it sees each observation once, so that a stream can be watched."""
    needs_truth = False
    """Whether it must be told the true model."""

    # Settings

    def settings(self, given: Options) -> dict[str, Any]:
        """Checked values of all options: those given, and the defaults of the others."""
        for name in given:
            if name not in self._names:
                raise ValueError(f"{name} means nothing to learner={self.key!r}")
        return {o.name: o.check(given.get(o.name, o.default)) for o in self.options}

    @property
    def _names(self) -> list[str]:
        return [option.name for option in self.options]

    def describe(self, options: Options) -> str:
        """The name of a run in a table or legend; options that are left out are not named."""
        chosen = [o.phrase(options[o.name]) for o in self.options if o.name in options]
        return ", ".join([self.label, *filter(None, chosen)])

    def least_length(self, n_components: int, options: Options) -> int:
        """The shortest chain that it can learn so many states from."""
        return n_components

    def effort(self, length: int, options: Options) -> float:
        """About how long it takes with three states, in microseconds."""
        return 10.0 * length

    # Learning

    def make(
        self,
        manifold: Manifold,
        n_components: int,
        seed: int,
        options: Options,
        *,
        truth: HiddenMarkovModel | None = None,
        trace_every: int | None = None,
    ) -> Any:
        """An estimator that has seen nothing.

        `truth` is for learners that need it, `trace_every` for online ones.
        """
        return self.estimator(manifold, n_components, random_state=seed, **options)

    def learn(self, estimator, X, watch: Watch | None = None, *, lengths=None) -> None:
        """Fit the estimator to X, shape (T, *point_shape); `watch` can follow it.

        `lengths` are the sizes of the sequences in X; None if it is one.
        """
        estimator.fit(X, **_given(lengths))

    def path(self, estimator) -> Path | None:
        """The parameters that it went through, if it keeps them."""
        return None

    def script(self, options: Options, seed: int) -> str:
        """Python that makes the estimator, from a `manifold` and a number of states `n`."""
        given = "".join(f", {name}={value!r}" for name, value in options.items())
        return f"{self.estimator.__name__}(manifold, n{given}, random_state={seed})"

    def remark(self, estimator) -> str:
        """What deserves a word beside its name, if anything does."""
        if getattr(estimator, "converged_", True):
            return ""
        return f"stopped after {estimator.n_iter_} iterations"


@dataclass(frozen=True, eq=False)
class OnlineLearner(Learner):
    """An online learner in the registry."""

    keeps_path = True
    is_online = True

    def make(self, manifold, n_components, seed, options, *, truth=None, trace_every=None):
        return self.estimator(
            manifold, n_components, random_state=seed, trace_every=trace_every, **options
        )

    def learn(self, estimator, X, watch: Watch | None = None, *, lengths=None) -> None:
        if watch is not None:
            estimator.callback = lambda learner: watch(
                Progress(learner, "", learner.n_samples_seen_ / len(X))
            )
        estimator.fit(X, **_given(lengths))

    def path(self, estimator) -> Path | None:
        """Its trace, if it keeps one and has learned a step of it."""
        return estimator.trace_ if estimator.trace_every and len(estimator.trace_.step) else None

    def least_length(self, n_components: int, options: Options) -> int:
        """As many observations as it starts from, and not fewer than states."""
        return max(n_components, self.estimator(None, n_components, **options).start_size)

    def effort(self, length: int, options: Options) -> float:
        """About how long it takes with three states, in microseconds."""
        return 3.0 * length
