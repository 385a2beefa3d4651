"""The engine's learners as pages show them: their names, their order, and what a sweep can compare.

Everything here follows from the registry of the engine: a learner that is added there appears on
every page.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sklearn.base import ClusterMixin

from rhmm import Configuration
from rhmm.learners import em, kmeans, windowed
from rhmm.learners.learner import Learner, Option
from rhmm.learners.registry import LEARNERS
from rhmm.learners.shaped import EMISSION

EM, KMEANS, WINDOWED = em.LEARNER.key, kmeans.LEARNER.key, windowed.LEARNER.key
"""Methods that some sentences are about."""

ONLINE_LEARNERS = {key: learner for key, learner in LEARNERS.items() if learner.is_online}
BASELINES = {key: learner for key, learner in LEARNERS.items() if not learner.is_online}
"""What every experiment and every sweep runs beside the online learners."""

CEILING = next(key for key, learner in BASELINES.items() if learner.needs_truth)
"""The true parameters."""


def capitalised(words: str) -> str:
    return words[:1].upper() + words[1:]


def method_name(key: str) -> str:
    """The name of a method on a page."""
    return capitalised(LEARNERS[key].label.partition(" (")[0])


def method_definition(key: str) -> str:
    """What a method is, in a sentence or two."""
    return LEARNERS[key].about


def has_posterior(key: str) -> bool:
    """Whether a method knows the probabilities of the states; a clustering has only labels."""
    return not issubclass(LEARNERS[key].estimator, ClusterMixin)


def has_emission(key: str) -> bool:
    """Whether a method can learn another law of a state than the paper's."""
    return key == EM or EMISSION in LEARNERS[key].options


class Variant(NamedTuple):
    """An online learner with the options that set it apart, Δ excepted."""

    key: str
    """Its name in a link."""
    learner: Learner
    options: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.learner.describe(self.options)

    @property
    def has_window(self) -> bool:
        """Whether Δ means something to it."""
        return any(option.name == "window" for option in self.learner.options)

    def configuration(self, length: int, window: int | None) -> Configuration:
        """A way to learn a chain of so many observations; `window` is ignored without Δ."""
        options = {**self.options, "window": window} if self.has_window else self.options
        return Configuration(self.learner.key, length, **options)


VARIANTS = {
    key: Variant(key, learner, options)
    for learner in ONLINE_LEARNERS.values()
    for key, options in learner.variants.items()
}
"""The online learners that pages offer."""


def variant_options(learner: Learner) -> list[Option]:
    """The options that tell the variants of a learner apart: those that a visitor can set."""
    named = {name for options in learner.variants.values() for name in options}
    return [option for option in learner.options if option.name in named]


def variant_with(learner: str, options: Mapping[str, Any]) -> Variant:
    """The variant of a learner that has these options, Δ and the law of a state excepted; the first
    one if none has."""
    entry = LEARNERS[learner]
    mine = [variant for variant in VARIANTS.values() if variant.learner is entry]
    left_out = ("window", EMISSION.name)
    wanted = entry.settings({n: v for n, v in options.items() if n not in left_out})
    return next((v for v in mine if entry.settings(v.options) == wanted), mine[0])


def variant_of(configuration: Configuration) -> Variant | None:
    """The variant that a configuration is of; None for a baseline or other options."""
    for variant in VARIANTS.values():
        if variant.learner.key != configuration.learner:
            continue
        plain = variant.configuration(configuration.length, configuration.window)
        if plain == configuration:
            return variant
    return None
