"""The experiment that all pages show: a true model, the data drawn from it, and how to learn it.

It is one immutable value that is always valid; `fields` says how it is checked and how it goes into
a link.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from dashboard.model.fields import Control, Settings, setting
from dashboard.model.kinds import (
    Choice,
    Choices,
    Invalid,
    Known,
    Numbers,
    Rows,
    WholeNumber,
    is_number,
)
from dashboard.model.methods import (
    BASELINES,
    ONLINE_LEARNERS,
    Variant,
    method_name,
    variant_options,
    variant_with,
)
from dashboard.model.source import Simulated
from dashboard.model.spaces.chart import Chart, Coordinates
from dashboard.model.spaces.registry import DEFAULT, SPACES
from rhmm.learners import streaming, windowed
from rhmm.learners.learner import Option
from rhmm.learners.registry import LEARNERS

MOST_STATES = 8
LEAST_WINDOW, MOST_WINDOW = 20, 5_000
LEAST_LENGTH, MOST_LENGTH = 500, 100_000
MOST_SEED = 2**31 - 1

WINDOWS = (20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400, 600, 800, 1000, 1500, 2000, 3000, 5000)
"""The values of Δ that a page offers: evenly spaced to the eye, on a scale of ratios."""

MODEL = ("transmat", "means", "sigmas", "startprob")
"""The parameters of the true model."""

TRUTH = ("space", *MODEL)
"""The settings of the true model: its parameters, and the space that it lives in."""

_CLOSEST_MEANS = 1e-6
_SUM_TOLERANCE = 1e-9
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def indexed(letter: str, *indices: int) -> str:
    """c₂ for ("c", 1): states are counted from one wherever people see them."""
    return letter + "".join(str(i + 1) for i in indices).translate(_SUBSCRIPTS)


def least_window(n_states: int) -> int:
    """The smallest Δ from which so many states can be told apart."""
    return max(LEAST_WINDOW, 5 * n_states)


def window_for(n_states: int, window: int) -> int:
    """This Δ, or the least one that so many states need."""
    return max(window, least_window(n_states))


# Checks of single settings: each returns the value in its canonical form, or raises a sentence


def _checked_means(means, known: Known) -> tuple[Coordinates, ...]:
    if not 1 <= len(means) <= MOST_STATES:
        raise Invalid(f"There must be 1 to {MOST_STATES} states.")
    space = SPACES[known["space"]]
    out: list[Coordinates] = []
    for i, mean in enumerate(means):
        name = indexed("c", i)
        place = space.check(mean, name)
        for j, other in enumerate(out):
            if math.dist(other, place) < _CLOSEST_MEANS:
                raise Invalid(
                    f"{indexed('c', j)} and {name} coincide: "
                    "the two states could not be told apart. Move one of them.",
                )
        out.append(place)
    return tuple(out)


def _checked_sigmas(sigmas, known: Known) -> tuple[float, ...]:
    _check_count("σ", sigmas, known, "entry", "entries")
    space = SPACES[known["space"]]
    least, most = space.least_sigma, space.most_sigma
    for i, sigma in enumerate(sigmas):
        name = indexed("σ", i)
        if not is_number(sigma):
            raise Invalid(f"{name} must be a number above 0.")
        if sigma <= 0:
            raise Invalid(f"{name} = {sigma:g} must be above 0.")
        if not least <= sigma <= most:
            raise Invalid(f"{name} = {sigma:g} must be between {least} and {most:g}.")
    return tuple(map(float, sigmas))


def _checked_transmat(transmat, known: Known) -> tuple[tuple[float, ...], ...]:
    _check_count("A", transmat, known, "row", "rows")
    return tuple(_checked_law(f"Row {i + 1} of A", row, known) for i, row in enumerate(transmat))


def _checked_startprob(startprob, known: Known) -> tuple[float, ...]:
    return _checked_law("π", startprob, known)


def _checked_law(name: str, law, known: Known) -> tuple[float, ...]:
    _check_count(name, law, known, "entry", "entries")
    if not all(map(is_number, law)):
        raise Invalid(f"{name} has an entry that is no number: each is a probability.")
    if min(law, default=0.0) < 0:
        raise Invalid(f"{name} has a negative entry, {min(law):g}.")
    total = sum(law)  # of huge entries ∞, where fsum would raise
    if abs(total - 1.0) > _SUM_TOLERANCE:
        raise Invalid(f"{name} sums to {total:.10g}, not to 1.")
    return tuple(map(float, law))


def _check_count(name: str, values, known: Known, one: str, many: str) -> None:
    n = len(known["means"])
    if len(values) != n:
        given, needed = _counted(len(values), one, many), _counted(n, "state", "states")
        raise Invalid(f"{name} has {given} for {needed}.")


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _checked_window(window: int, known: Known) -> int:
    length, n = known["length"], len(known["means"])
    if window > length:
        raise Invalid(
            f"Δ = {window:,} is more than the T = {length:,} observations there are: "
            "take a smaller Δ or a longer chain."
        )
    if window < least_window(n):
        raise Invalid(f"With {n} states Δ must be at least {5 * n}: five observations each.")
    return window


def normalised(law) -> tuple[float, ...]:
    """The law in the proportions of `law`, with blanks and negatives as zeros; else uniform."""
    weights = [float(w) if is_number(w) and w > 0 else 0.0 for w in law]
    if math.isinf(sum(weights)):  # huge ones: fsum would raise
        weights = [w / max(weights) for w in weights]
    total = math.fsum(weights)
    return tuple(w / total if total else 1.0 / len(weights) for w in weights)


# Settings of the learners, which follow from the engine's registry


_SHOWN_AS_PRINTED = {"transition_update": "paper"}
"""Where the dashboard begins with another value than the engine: the paper's own algorithm."""


def _options_named(experiment: "Experiment", name: str) -> list[Option]:
    """The options of this name that the experiment's learners have."""
    learners = (ONLINE_LEARNERS[key] for key in experiment.algorithms)
    return [option for learner in learners for option in learner.options if option.name == name]


def _label(name: str) -> Callable[["Experiment"], str]:
    """What the first of the learners calls this option."""

    def label(experiment: "Experiment") -> str:
        options = _options_named(experiment, name)
        return options[0].label if options else ""

    return label


def _is_used(name: str) -> Callable[["Experiment"], bool]:
    return lambda experiment: bool(_options_named(experiment, name))


def _option_setting(option: Option) -> Any:
    """A setting for an option of a learner: one of a few choices."""
    choices = tuple(option.choices)
    control = Control(
        "radio", option.label, option.help, choices, option.choices, shown=_is_used(option.name)
    )
    default = _SHOWN_AS_PRINTED.get(option.name, option.default)
    return setting(default, option.key, Choice(option.label, choices), control=control)


def _with_options(cls: type) -> type:
    """Add a setting for every option that tells the variants of an online learner apart."""
    for learner in ONLINE_LEARNERS.values():
        for option in variant_options(learner):
            if option.name not in cls.__annotations__:
                cls.__annotations__[option.name] = str
                setattr(cls, option.name, _option_setting(option))
    return cls


@dataclass(frozen=True)
@_with_options
class Experiment(Settings):
    """The truth (space, A, c, σ, π), the data (T, seed), the online learners with Δ and options."""

    CHECKED_FIRST: ClassVar[tuple[str, ...]] = ("space", "means")
    TOGETHER: ClassVar[tuple[str, ...]] = TRUTH  # half of a model would be one that was never set
    WRITES_DEFAULTS: ClassVar[bool] = True  # a link means the same after the defaults have changed

    space: str = setting(DEFAULT.key, "space", Choice("The space", tuple(SPACES)), quiet=True)
    transmat: tuple[tuple[float, ...], ...] = setting(
        DEFAULT.truth["transmat"], "A", Rows(), _checked_transmat
    )
    means: tuple[Coordinates, ...] = setting(DEFAULT.truth["means"], "c", Rows(), _checked_means)
    sigmas: tuple[float, ...] = setting(
        DEFAULT.truth["sigmas"], "sigma", Numbers(), _checked_sigmas
    )
    startprob: tuple[float, ...] = setting(
        DEFAULT.truth["startprob"], "pi", Numbers(), _checked_startprob
    )
    length: int = setting(
        10_000,
        "T",
        WholeNumber("T", LEAST_LENGTH, MOST_LENGTH),
        control=Control(
            "number",
            "T: length of the chain",
            f"From {LEAST_LENGTH} to {MOST_LENGTH:,} observations.",
            step=1_000,
        ),
    )
    seed: int = setting(
        0,
        "seed",
        WholeNumber("The seed", 0, MOST_SEED),
        control=Control(
            "number",
            "Seed",
            "The same seed gives the same data and the same results, to the last digit.",
        ),
    )
    window: int = setting(
        200,
        "delta",
        WholeNumber("Δ", LEAST_WINDOW, MOST_WINDOW),
        _checked_window,
        Control(
            "slider",
            _label("window"),
            "The paper’s algorithm looks back over the last Δ observations at every step. "
            "The streaming one only starts from the first Δ. "
            f"From {LEAST_WINDOW} to {MOST_WINDOW:,}, on a logarithmic scale.",
            WINDOWS,
            accepts_others=True,
            shown=_is_used("window"),
        ),
    )
    algorithms: tuple[str, ...] = setting(
        (windowed.LEARNER.key, streaming.LEARNER.key),
        "algorithm",
        Choices("online algorithm", tuple(ONLINE_LEARNERS)),
        control=Control(
            "pills",
            "Online algorithms",
            "Windowed is the paper’s: at every step it looks back over the last Δ observations. "
            "Streaming is ours: it starts from Δ observations, and then looks at a few at a time. "
            "The automatic memory runs several streaming learners and follows the best.",
            tuple(ONLINE_LEARNERS),
            {key: method_name(key) for key in ONLINE_LEARNERS},
        ),
    )

    @classmethod
    def controls(cls) -> tuple[list[str], list[str]]:
        """The settings with a control in the sidebar: those of learning, and those of the data."""
        data = ["length", "seed"]
        names = [name for name, one in cls.table().items() if one.control is not None]
        return [name for name in names if name not in data], data

    @classmethod
    def plain(cls, asked: Known) -> "Experiment":
        """The default truth of the space that is asked for: another one's would not fit there."""
        space = SPACES.get(asked.get("space", DEFAULT.key), DEFAULT)
        return cls(**space.truth)

    @property
    def n_states(self) -> int:
        """How many hidden states the true model has."""
        return len(self.means)

    @property
    def methods(self) -> tuple[str, ...]:
        """Keys of all methods that are run, in the order of every table and row of figures."""
        return (*self.algorithms, *BASELINES)

    def options_of(self, key: str) -> dict[str, Any]:
        """The options of an online learner that are set here, by name."""
        names = (option.name for option in ONLINE_LEARNERS[key].options)
        return {name: getattr(self, name) for name in names if name in self.table()}

    @property
    def variants(self) -> list[Variant]:
        """The online learners with their options, Δ excepted."""
        return [variant_with(key, self.options_of(key)) for key in self.algorithms]

    @property
    def truth(self) -> dict:
        """The settings of the true model: what a preset replaces."""
        return {name: getattr(self, name) for name in TRUTH}

    @property
    def chart(self) -> Chart:
        """The map that shows this truth."""
        return SPACES[self.space].chart_for(self.means, self.sigmas)

    @property
    def source(self) -> Simulated:
        """Where the observations come from; the other settings say how they are learned."""
        return Simulated(**self.truth, length=self.length, seed=self.seed)

    @property
    def slowness(self) -> float:
        """How many times longer learning takes here than as learners estimate it.

        Their estimates are those of three states in the default space.
        """
        return max(1.0, self.n_states / 3) * SPACES[self.space].effort

    @property
    def effort(self) -> float:
        """About how many microseconds of one processor all methods take together."""

        def of(key: str) -> float:
            options = self.options_of(key) if key in ONLINE_LEARNERS else {}
            return LEARNERS[key].effort(self.length, LEARNERS[key].settings(options))

        return self.slowness * sum(map(of, self.methods))

    def in_words(self) -> str:
        """One line that says what is on screen."""
        count = "one state" if self.n_states == 1 else f"{self.n_states} states"
        ways = "; ".join(
            ONLINE_LEARNERS[key].describe(self.options_of(key)) for key in self.algorithms
        )
        return f"{self.length:,} observations of a chain with {count}, learned online ({ways})."
