"""The experiment that all pages show: a true model, the data drawn from it, and how to learn it.

It is one immutable value. It can be written into a link and read back to the last digit, and it is
always valid: what a person typed wrongly raises `Invalid` with a sentence to show beside the
control.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

MOST_STATES = 8
LEAST_WINDOW, MOST_WINDOW = 20, 5_000
LEAST_LENGTH, MOST_LENGTH = 500, 100_000
LEAST_SIGMA, MOST_SIGMA = 0.01, 3.0
FURTHEST_MEAN = 0.999
MOST_SEED = 2**31 - 1
ALGORITHMS = ("streaming", "windowed")
UPDATES = ("convex", "paper")

_CLOSEST_MEANS = 1e-6
_SUM_TOLERANCE = 1e-9
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class Invalid(ValueError):
    """A sentence for the reader, and the name of the field it is about."""

    def __init__(self, field: str, sentence: str):
        super().__init__(sentence)
        self.field = field


def indexed(letter: str, *indices: int) -> str:
    """c₂ for ("c", 1): states are counted from one wherever people see them."""
    return letter + "".join(str(i + 1) for i in indices).translate(_SUBSCRIPTS)


def least_window(n_states: int) -> int:
    """The smallest Δ from which so many states can be told apart."""
    return max(LEAST_WINDOW, 5 * n_states)


def window_for(n_states: int, window: int) -> int:
    """This Δ, or the least one that so many states need."""
    return max(window, least_window(n_states))


@dataclass(frozen=True)
class Experiment:
    """The truth (A, c, σ, π), the data (T, seed) and the learner (Δ, algorithm, update)."""

    transmat: tuple[tuple[float, ...], ...] = ((0.4, 0.3, 0.3), (0.2, 0.6, 0.2), (0.1, 0.1, 0.8))
    means: tuple[tuple[float, float], ...] = ((0.0, 0.0), (0.29, 0.82), (-0.29, 0.82))
    sigmas: tuple[float, ...] = (0.2, 1.0, 1.0)
    startprob: tuple[float, ...] = (1.0, 0.0, 0.0)
    length: int = 10_000
    seed: int = 0
    window: int = 200
    algorithm: str = "streaming"
    transition_update: str = "paper"

    def __post_init__(self):
        set_ = object.__setattr__
        set_(self, "means", _checked_means(self.means))
        n = len(self.means)
        set_(self, "sigmas", _checked_sigmas(self.sigmas, n))
        set_(self, "transmat", _checked_transmat(self.transmat, n))
        set_(self, "startprob", _checked_startprob(self.startprob, n))
        set_(self, "length", _whole("length", "T", self.length, LEAST_LENGTH, MOST_LENGTH))
        set_(self, "seed", _whole("seed", "The seed", self.seed, 0, MOST_SEED))
        set_(self, "window", _whole("window", "Δ", self.window, LEAST_WINDOW, MOST_WINDOW))
        if self.window > self.length:
            raise Invalid(
                "window",
                f"Δ = {self.window:,} is more than the T = {self.length:,} observations there are: "
                "take a smaller Δ or a longer chain.",
            )
        if self.window < least_window(n):
            raise Invalid(
                "window", f"With {n} states Δ must be at least {5 * n}: five observations each."
            )
        _choice("algorithm", "The algorithm", self.algorithm, ALGORITHMS)
        _choice("transition_update", "The update of A", self.transition_update, UPDATES)

    @property
    def n_states(self) -> int:
        return len(self.means)

    @property
    def learner(self) -> str:
        """The online learner in one word: streaming, or windowed by its update of A."""
        return "streaming" if self.algorithm == "streaming" else self.transition_update

    @property
    def truth(self) -> dict:
        """The fields of the true model: what a preset replaces."""
        return {name: getattr(self, name) for name in TRUTH}

    @property
    def data(self) -> tuple:
        """What the observations depend on: experiments that agree in it have the same."""
        return *self.truth.values(), self.length, self.seed

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

    # Links

    def to_query(self) -> dict[str, str]:
        """The query of a link that opens exactly this experiment."""
        return {
            key: _written(getattr(self, field.name))
            for key, field in zip(QUERY, fields(self), strict=True)
        }

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> tuple["Experiment", list[Invalid]]:
        """What a link asks for, and the sentences about what it could not give.

        A part that cannot be read or used is left at its default. The truth counts as one part:
        half of a broken model would be one that nobody meant.
        """
        values, problems = {}, {}
        for key, field in zip(QUERY, fields(cls), strict=True):
            if key in query:
                try:
                    values[field.name] = _READERS[field.name](query[key])
                except ValueError:
                    sentence = f"The link's {key} “{quoted(query[key])}” is unclear."
                    problems[field.name] = Invalid(field.name, sentence)
        while True:
            try:
                return cls(**values), list(problems.values())
            except Invalid as problem:
                field, sentence = problem.field, f"In the link: {problem}"
            problems.setdefault(field, Invalid(field, sentence))
            blamed = TRUTH if field in TRUTH else (field,)
            values = {name: value for name, value in values.items() if name not in blamed}


TRUTH = ("transmat", "means", "sigmas", "startprob")

QUERY = ("A", "c", "sigma", "pi", "T", "seed", "delta", "algorithm", "update")
"""Names in a link, in the order of the fields."""


def _written(value) -> str:
    if isinstance(value, tuple):
        nested = isinstance(value[0], tuple)
        return (";" if nested else ",").join(_written(v) for v in value)
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value)


def _whole_number(text: str) -> int:
    """Digits alone: `int` would also take blanks, underscores and the digits of other scripts."""
    if not re.fullmatch(r"-?[0-9]+", text):
        raise ValueError(text)
    return int(text)


def _number(text: str) -> float:
    if not re.fullmatch(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", text, re.IGNORECASE):
        raise ValueError(text)
    return float(text)


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(_number(part) for part in text.split(","))


def _rows(text: str) -> tuple[tuple[float, ...], ...]:
    return tuple(_numbers(row) for row in text.split(";"))


def quoted(text: str) -> str:
    """Text of a stranger in a sentence: short, and none of it taken for Markdown."""
    short = text if len(text) <= 40 else text[:39] + "…"
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", short)


_READERS = {
    "transmat": _rows,
    "means": _rows,
    "sigmas": _numbers,
    "startprob": _numbers,
    "length": _whole_number,
    "seed": _whole_number,
    "window": _whole_number,
    "algorithm": str,
    "transition_update": str,
}


# Checks: each returns the value in its canonical form, or raises a sentence


def _is_number(value) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)  # of any length


def _whole(field: str, name: str, value, least: int, most: int) -> int:
    if not _is_number(value) or value != int(value):
        raise Invalid(field, f"{name} must be a whole number.")
    if not least <= value <= most:
        raise Invalid(field, f"{name} must be between {least:,} and {most:,}.")
    return int(value)


def _choice(field: str, name: str, value, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise Invalid(field, f"{name} must be one of: {', '.join(choices)}.")


def _checked_means(means) -> tuple[tuple[float, float], ...]:
    if not 1 <= len(means) <= MOST_STATES:
        raise Invalid("means", f"There must be 1 to {MOST_STATES} states.")
    out = []
    for i, mean in enumerate(means):
        name = indexed("c", i)
        if len(mean) != 2 or not all(map(_is_number, mean)):
            raise Invalid("means", f"{name} needs two numbers, x and y.")
        x, y = map(float, mean)
        if math.hypot(x, y) >= 1.0:
            raise Invalid(
                "means",
                f"{name} = ({x:g}, {y:g}) is outside the disk: x² + y² must be less than 1.",
            )
        if math.hypot(x, y) > FURTHEST_MEAN:
            raise Invalid(
                "means",
                f"{name} = ({x:g}, {y:g}) is too near the boundary to draw: "
                f"its length may be at most {FURTHEST_MEAN}.",
            )
        for j, other in enumerate(out):
            if math.dist(other, (x, y)) < _CLOSEST_MEANS:
                raise Invalid(
                    "means",
                    f"{indexed('c', j)} and {name} coincide: "
                    "nobody could tell the two states apart. Move one of them.",
                )
        out.append((x, y))
    return tuple(out)


def _checked_sigmas(sigmas, n: int) -> tuple[float, ...]:
    _check_count("sigmas", "σ", sigmas, n, "entry", "entries")
    for i, sigma in enumerate(sigmas):
        name = indexed("σ", i)
        if not _is_number(sigma):
            raise Invalid("sigmas", f"{name} must be a number above 0.")
        if sigma <= 0:
            raise Invalid("sigmas", f"{name} = {sigma:g} must be above 0.")
        if not LEAST_SIGMA <= sigma <= MOST_SIGMA:
            raise Invalid(
                "sigmas", f"{name} = {sigma:g} must be between {LEAST_SIGMA} and {MOST_SIGMA:g}."
            )
    return tuple(map(float, sigmas))


def _checked_transmat(transmat, n: int) -> tuple[tuple[float, ...], ...]:
    _check_count("transmat", "A", transmat, n, "row", "rows")
    return tuple(
        _checked_law("transmat", f"Row {i + 1} of A", row, n) for i, row in enumerate(transmat)
    )


def _checked_startprob(startprob, n: int) -> tuple[float, ...]:
    return _checked_law("startprob", "π", startprob, n)


def _checked_law(field: str, name: str, law, n: int) -> tuple[float, ...]:
    _check_count(field, name, law, n, "entry", "entries")
    if not all(map(_is_number, law)):
        raise Invalid(field, f"{name} has an entry that is no number: each is a probability.")
    if min(law) < 0:
        raise Invalid(field, f"{name} has a negative entry, {min(law):g}.")
    total = sum(law)  # of huge entries ∞, where fsum would raise
    if abs(total - 1.0) > _SUM_TOLERANCE:
        raise Invalid(field, f"{name} sums to {total:.10g}, not to 1.")
    return tuple(map(float, law))


def _check_count(field: str, name: str, values, n: int, one: str, many: str) -> None:
    if len(values) != n:
        given, needed = _counted(len(values), one, many), _counted(n, "state", "states")
        raise Invalid(field, f"{name} has {given} for {needed}.")


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def normalised(law) -> tuple[float, ...]:
    """The law in the proportions of `law`, with blanks and negatives as zeros; else uniform."""
    weights = [float(w) if _is_number(w) and w > 0 else 0.0 for w in law]
    if math.isinf(sum(weights)):  # huge ones: fsum would raise
        weights = [w / max(weights) for w in weights]
    total = math.fsum(weights)
    return tuple(w / total if total else 1.0 / len(weights) for w in weights)
