"""The settings of the learners, which follow from the engine's registry."""

from collections.abc import Callable
from typing import Any

from dashboard.model.fields import Control, setting
from dashboard.model.kinds import Choice
from dashboard.model.methods import EMISSION, ONLINE_LEARNERS, has_emission, variant_options
from rhmm.learners.learner import Option

_SHOWN_AS_PRINTED = {"transition_update": "paper"}
"""Where the dashboard begins with another value than the engine: the paper's own algorithm."""


def _options_named(experiment: Any, name: str) -> list[Option]:
    """The options of this name that the experiment's learners have."""
    learners = (ONLINE_LEARNERS[key] for key in experiment.algorithms)
    return [option for learner in learners for option in learner.options if option.name == name]


def label_of(name: str) -> Callable[[Any], str]:
    """What the first of the learners calls this option."""

    def label(experiment: Any) -> str:
        options = _options_named(experiment, name)
        return options[0].label if options else ""

    return label


def is_used(name: str) -> Callable[[Any], bool]:
    """Whether one of the learners has this option."""
    return lambda experiment: bool(_options_named(experiment, name))


def _option_setting(option: Option) -> Any:
    """A setting for an option of a learner: one of a few choices."""
    choices = tuple(option.choices)
    control = Control(
        "radio", option.label, option.help, choices, option.choices, shown=is_used(option.name)
    )
    default = _SHOWN_AS_PRINTED.get(option.name, option.default)
    return setting(default, option.key, Choice(option.label, choices), control=control)


def emission_setting() -> Any:
    """The law of a state, for EM and the online learners that can have others than the paper's."""
    names = {key: name.replace("'", "’") for key, name in EMISSION.choices.items()}
    control = Control(
        "select",
        EMISSION.label,
        "How observations spread around the mean of their state. The paper’s Gaussian is alike in "
        "all directions. The others are Gaussians of the tangent space at the mean, whose widths "
        "and directions are learned; heavy tails let observations that are far from every mean "
        "pull less. It holds for EM, streaming and the automatic memory; the windowed algorithm "
        "keeps to the paper’s.",
        tuple(names),
        names,
    )
    kind = Choice(EMISSION.label, tuple(names))
    return setting(EMISSION.default, EMISSION.key, kind, control=control, quiet=True)


def with_options(cls: type) -> type:
    """Add a setting for every option that tells the variants of an online learner apart."""
    for learner in ONLINE_LEARNERS.values():
        for option in variant_options(learner):
            if option.name not in cls.__annotations__:
                cls.__annotations__[option.name] = str
                setattr(cls, option.name, _option_setting(option))
    return cls


def options_of(experiment: Any, key: str) -> dict[str, Any]:
    """The options of a method that an experiment sets, by name; the paper's law goes without
    saying."""
    options = ONLINE_LEARNERS[key].options if key in ONLINE_LEARNERS else ()
    names = [option.name for option in options if option.name != EMISSION.name]
    given = {name: getattr(experiment, name) for name in names if name in experiment.table()}
    if has_emission(key) and experiment.emission != EMISSION.default:
        given[EMISSION.name] = experiment.emission
    return given
