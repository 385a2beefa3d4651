"""Checks of a true model: each returns the value in its canonical form, or raises a sentence."""

import math

from dashboard.model.kinds import Invalid, Known, is_number
from dashboard.model.spaces.chart import Coordinates
from dashboard.model.spaces.registry import SPACES

MOST_STATES = 8

_CLOSEST_MEANS = 1e-6
_SUM_TOLERANCE = 1e-9
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def indexed(letter: str, *indices: int) -> str:
    """c₂ for ("c", 1): states are counted from one wherever people see them."""
    return letter + "".join(str(i + 1) for i in indices).translate(_SUBSCRIPTS)


def checked_means(means, known: Known) -> tuple[Coordinates, ...]:
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


def checked_sigmas(sigmas, known: Known) -> tuple[float, ...]:
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


def checked_transmat(transmat, known: Known) -> tuple[tuple[float, ...], ...]:
    _check_count("A", transmat, known, "row", "rows")
    return tuple(_checked_law(f"Row {i + 1} of A", row, known) for i, row in enumerate(transmat))


def checked_startprob(startprob, known: Known) -> tuple[float, ...]:
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


def normalised(law) -> tuple[float, ...]:
    """The law in the proportions of `law`, with blanks and negatives as zeros; else uniform."""
    weights = [float(w) if is_number(w) and w > 0 else 0.0 for w in law]
    if math.isinf(sum(weights)):  # huge ones: fsum would raise
        weights = [w / max(weights) for w in weights]
    total = math.fsum(weights)
    return tuple(w / total if total else 1.0 / len(weights) for w in weights)
