"""The experiment that all pages show: a true model, the data drawn from it, and how to learn it.

It is one immutable value that is always valid; `fields` says how it is checked and how it goes into
a link.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from dashboard.model.fields import Control, Settings, setting
from dashboard.model.kinds import Choice, Invalid, Known, Numbers, Rows, WholeNumber, is_number
from dashboard.model.source import Simulated

MOST_STATES = 8
LEAST_WINDOW, MOST_WINDOW = 20, 5_000
LEAST_LENGTH, MOST_LENGTH = 500, 100_000
LEAST_SIGMA, MOST_SIGMA = 0.01, 3.0
FURTHEST_MEAN = 0.999
MOST_SEED = 2**31 - 1
ALGORITHMS = {"streaming": "Streaming", "windowed": "Windowed"}
UPDATES = {"convex": "Convex", "paper": "As printed"}

WINDOWS = (20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400, 600, 800, 1000, 1500, 2000, 3000, 5000)
"""The values of Δ that a page offers: evenly spaced to the eye, on a scale of ratios."""

TRUTH = ("transmat", "means", "sigmas", "startprob")
"""The settings of the true model."""

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


def _checked_means(means, known: Known) -> tuple[tuple[float, float], ...]:
    if not 1 <= len(means) <= MOST_STATES:
        raise Invalid(f"There must be 1 to {MOST_STATES} states.")
    out = []
    for i, mean in enumerate(means):
        name = indexed("c", i)
        if len(mean) != 2 or not all(map(is_number, mean)):
            raise Invalid(f"{name} needs two numbers, x and y.")
        x, y = map(float, mean)
        if math.hypot(x, y) >= 1.0:
            raise Invalid(
                f"{name} = ({x:g}, {y:g}) is outside the disk: x² + y² must be less than 1.",
            )
        if math.hypot(x, y) > FURTHEST_MEAN:
            raise Invalid(
                f"{name} = ({x:g}, {y:g}) is too near the boundary to draw: "
                f"its length may be at most {FURTHEST_MEAN}.",
            )
        for j, other in enumerate(out):
            if math.dist(other, (x, y)) < _CLOSEST_MEANS:
                raise Invalid(
                    f"{indexed('c', j)} and {name} coincide: "
                    "the two states could not be told apart. Move one of them.",
                )
        out.append((x, y))
    return tuple(out)


def _checked_sigmas(sigmas, known: Known) -> tuple[float, ...]:
    _check_count("σ", sigmas, known, "entry", "entries")
    for i, sigma in enumerate(sigmas):
        name = indexed("σ", i)
        if not is_number(sigma):
            raise Invalid(f"{name} must be a number above 0.")
        if sigma <= 0:
            raise Invalid(f"{name} = {sigma:g} must be above 0.")
        if not LEAST_SIGMA <= sigma <= MOST_SIGMA:
            raise Invalid(f"{name} = {sigma:g} must be between {LEAST_SIGMA} and {MOST_SIGMA:g}.")
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
    if min(law) < 0:
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


def _window_label(experiment: "Experiment") -> str:
    if experiment.algorithm == "streaming":
        return "Δ: observations to start from"
    return "Δ: observations in the window"


@dataclass(frozen=True)
class Experiment(Settings):
    """The truth (A, c, σ, π), the data (T, seed) and the learner (Δ, algorithm, update)."""

    CHECKED_FIRST: ClassVar[tuple[str, ...]] = ("means",)
    TOGETHER: ClassVar[tuple[str, ...]] = TRUTH  # half of a model would be one that was never set
    WRITES_DEFAULTS: ClassVar[bool] = True  # a link means the same after the defaults have changed

    transmat: tuple[tuple[float, ...], ...] = setting(
        ((0.4, 0.3, 0.3), (0.2, 0.6, 0.2), (0.1, 0.1, 0.8)), "A", Rows(), _checked_transmat
    )
    means: tuple[tuple[float, float], ...] = setting(
        ((0.0, 0.0), (0.29, 0.82), (-0.29, 0.82)), "c", Rows(), _checked_means
    )
    sigmas: tuple[float, ...] = setting((0.2, 1.0, 1.0), "sigma", Numbers(), _checked_sigmas)
    startprob: tuple[float, ...] = setting((1.0, 0.0, 0.0), "pi", Numbers(), _checked_startprob)
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
            _window_label,
            f"From {LEAST_WINDOW} to {MOST_WINDOW:,}, on a logarithmic scale.",
            WINDOWS,
            accepts_others=True,
        ),
    )
    algorithm: str = setting(
        "streaming",
        "algorithm",
        Choice("The algorithm", tuple(ALGORITHMS)),
        control=Control(
            "radio",
            "Online algorithm",
            "Windowed is the paper’s: at every step it looks back over the last Δ observations. "
            "Streaming is ours: it starts from Δ observations, and then looks at a few at a time.",
            tuple(ALGORITHMS),
            ALGORITHMS,
        ),
    )
    transition_update: str = setting(
        "paper",
        "update",
        Choice("The update of A", tuple(UPDATES)),
        control=Control(
            "radio",
            "Update of A",
            "As printed in the paper, entries of A can leave [0, 1] and are clipped; the "
            "convex update moves each row towards what the window shows.",
            tuple(UPDATES),
            UPDATES,
            shown=lambda experiment: experiment.algorithm == "windowed",
        ),
    )

    @property
    def n_states(self) -> int:
        """How many hidden states the true model has."""
        return len(self.means)

    @property
    def learner(self) -> str:
        """The online learner in one word: streaming, or windowed by its update of A."""
        return "streaming" if self.algorithm == "streaming" else self.transition_update

    @property
    def truth(self) -> dict:
        """The settings of the true model: what a preset replaces."""
        return {name: getattr(self, name) for name in TRUTH}

    @property
    def source(self) -> Simulated:
        """Where the observations come from; the other settings say how they are learned."""
        return Simulated(**self.truth, length=self.length, seed=self.seed)

    def in_words(self) -> str:
        """One line that says what is on screen."""
        learner = (
            f"streaming with Δ = {self.window:,}"
            if self.algorithm == "streaming"
            else f"the paper’s algorithm with a window of {self.window:,}"
            + ("" if self.transition_update == "paper" else " and the convex update")
        )
        count = "one state" if self.n_states == 1 else f"{self.n_states} states"
        return f"{self.length:,} observations of a chain with {count}, learned by {learner}."
