"""What a sweep varies: the learner, its options and the length of the chain."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

from rhmm.learners.learner import Learner, Option
from rhmm.learners.registry import LEARNERS, learner_named
from rhmm.model import HiddenMarkovModel
from rhmm.validation import check_integer


@dataclass(frozen=True, init=False)
class Configuration:
    """One way to learn a chain; two that are equal compute the same, so results can be looked up.

    Others may compute the same too: a growing memory after a cold start does not use its window.
    """

    learner: str
    """The key of a learner in `rhmm.learners.registry`."""
    length: int
    """Observations T of the chain."""
    options: tuple[tuple[str, Any], ...]
    """Name and value of every option of the learner."""

    def __init__(self, learner: str, length: int = 10_000, **options: int | str | None):
        """`options` are those of the learner; one that is left out or None has its default."""
        entry = learner_named(learner)
        given = {name: value for name, value in options.items() if value is not None}
        object.__setattr__(self, "learner", learner)
        object.__setattr__(self, "length", check_integer("length", length, at_least=1))
        object.__setattr__(self, "options", tuple(entry.settings(given).items()))
        self._check_length(1)

    def _check_length(self, n_states: int) -> None:
        least = self.entry.least_length(n_states, self.settings)
        if self.length < least:
            states = "one state" if n_states == 1 else f"{n_states} states"
            raise ValueError(
                f"length must be at least {least} for {self.name} with {states}, not {self.length}"
            )

    @property
    def entry(self) -> Learner:
        """The learner itself."""
        return learner_named(self.learner)

    @property
    def settings(self) -> dict[str, Any]:
        """The options as a dictionary."""
        return dict(self.options)

    @property
    def window(self) -> int | None:
        """The paper's Δ; None for a learner that has none."""
        return self.settings.get("window")

    @property
    def name(self) -> str:
        """A line of a table or legend; says everything but the length."""
        return self.entry.describe(self.settings)

    @property
    def family(self) -> tuple:
        """Everything but the window: what a curve against Δ has in common."""
        return self.learner, self.length, self._but_window

    @property
    def family_name(self) -> str:
        """The same in words, without the length."""
        return self.entry.describe(dict(self._but_window))

    @property
    def _but_window(self) -> tuple[tuple[str, Any], ...]:
        return tuple((name, value) for name, value in self.options if name != "window")

    @property
    def effort(self) -> float:
        """About how long it takes, in microseconds: good enough to begin with the longest."""
        return self.entry.effort(self.length, self.settings)

    def changed(self, **changes) -> "Configuration":
        """The same with another length or other options."""
        length = changes.pop("length", self.length)
        return Configuration(self.learner, length, **self.settings | changes)


def all_options() -> list[Option]:
    """The options of all learners, each name once."""
    options = {o.name: o for entry in reversed(LEARNERS.values()) for o in reversed(entry.options)}
    return list(reversed(options.values()))


def grid(
    learners: Iterable[str], *, length: int = 10_000, **options: Iterable[int | str]
) -> list[Configuration]:
    """Every combination that means something: EM, say, is there once, whatever the windows.

    `learners` are keys of the registry; of each option several values, as in
    ``grid(["windowed", "em"], window=[40, 200])``.
    """
    given = {"learners": learners, **options}
    for name, several in given.items():
        if isinstance(several, str) or not isinstance(several, Iterable):
            raise ValueError(f"{name} must be a list, not {several!r}")
    known = [option.name for option in all_options()]
    for name in options:
        if name not in known:
            raise ValueError(f"{name} is not an option of any learner; these are {known}")
    values = {name: list(several) for name, several in options.items()}
    out = []
    for learner in learners:
        names = [o.name for o in learner_named(learner).options if o.name in values]
        for chosen in product(*(values[name] for name in names)):
            out.append(Configuration(learner, length, **dict(zip(names, chosen, strict=True))))
    return out


def check_grid(configurations, truth: HiddenMarkovModel) -> list[Configuration]:
    """The grid without repetitions, if each of it can learn the states of `truth`."""
    if not isinstance(configurations, Iterable):
        raise ValueError(f"grid must be a list of Configurations, not {configurations!r}")
    configurations = list(configurations)
    for configuration in configurations:
        if not isinstance(configuration, Configuration):
            raise ValueError(f"grid must hold Configurations, not {configuration!r}")
    if not configurations:
        raise ValueError("grid must hold at least one Configuration, it is empty")
    configurations = list(dict.fromkeys(configurations))
    n = len(truth.startprob_)
    for configuration in configurations:
        entry, settings = configuration.entry, configuration.settings
        entry.make(truth.manifold, n, 0, settings, truth=truth).check_options()
        configuration._check_length(n)
    return configurations
