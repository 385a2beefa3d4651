"""Checks that turn wrong input into a sentence that names the argument."""

import operator

import numpy as np

_LARGEST = 2**63 - 1
"""The largest whole number that kernels can count to."""
_FLOAT = np.dtype(float)


def check_integer(name: str, value, at_least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, not {value!r}") from None
    if isinstance(value, (bool, np.bool_)) or number < at_least:
        raise ValueError(f"{name} must be at least {at_least}, not {value!r}")
    if number > _LARGEST:
        raise ValueError(f"{name} must be below 2**63, not {value!r}")
    return number


def check_number(name: str, value, at_least: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a number, not {value!r}") from None
    if not (np.isfinite(number) and number >= at_least):
        raise ValueError(f"{name} must be a finite number of at least {at_least:g}, not {value!r}")
    return number


def is_plain(value) -> bool:
    """Whether this is an array as kernels want it, of which nothing must be checked or changed."""
    return type(value) is np.ndarray and value.dtype == _FLOAT and value.flags.carray


def as_numbers(name: str, value) -> np.ndarray:
    """A plain float array, C-contiguous and writable as kernels want it."""
    if is_plain(value):  # every observation of a stream comes by here more than once
        return value
    check_unmasked(name, value)
    try:
        if np.iscomplexobj(value):
            raise TypeError
        return np.require(value, float, ["C", "W", "E"])
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be an array of numbers, all real, not {value!r}") from None


def check_unmasked(name: str, value) -> None:
    if type(value) is not np.ndarray and np.ma.is_masked(value):
        raise ValueError(f"{name} must not have masked entries")


def nan_where_masked(value):
    """A masked array of numbers with NaN for what is masked; anything else as it is."""
    if type(value) is np.ndarray or not np.ma.is_masked(value):
        return value
    if value.dtype.kind not in "biufc":
        return value
    return value.astype(np.result_type(value.dtype, float)).filled(np.nan)


def check_positive(name: str, value) -> np.ndarray:
    check_unmasked(name, value)
    try:
        value = as_numbers(name, value)
    except ValueError:
        raise ValueError(f"{name} must be a positive number, not {value!r}") from None
    if not (np.isfinite(value) & (value > 0)).all():
        bad = value[~(np.isfinite(value) & (value > 0))].flat[0]
        raise ValueError(f"{name} must be positive and finite, not {bad:g}")
    return value


SMALLEST_MODERATE, LARGEST_MODERATE = 1e-60, 1e60


def check_moderate(name: str, value, at_most: float = LARGEST_MODERATE) -> np.ndarray:
    """Positive numbers whose fourth powers are still far from the ends of double precision."""
    value = check_positive(name, value)
    good = (value >= SMALLEST_MODERATE) & (value <= at_most)
    if not good.all():
        raise ValueError(
            f"{name} must be between {SMALLEST_MODERATE:g} and {at_most:g}, "
            f"not {value[~good].flat[0]:g}"
        )
    return value


def check_choice(name: str, value, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
    return value


def check_callback(callback):
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be a function or None, not {callback!r}")
    return callback


def as_generator(name: str, seed) -> np.random.Generator:
    """A Generator from a Generator, a seed or None; never the global random state."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be a numpy Generator, a non-negative whole number or None, not {seed!r}"
        ) from None


def check_stochastic(
    start, transition, names: tuple[str, str] = ("start", "transition")
) -> tuple[np.ndarray, np.ndarray]:
    """A start law and a transition matrix of the same number of states."""
    start = _check_probabilities(names[0], start, ndim=1)
    transition = _check_probabilities(names[1], transition, ndim=2)
    if transition.shape != (len(start), len(start)):
        raise ValueError(
            f"{names[1]} must have shape ({len(start)}, {len(start)}) to match {names[0]}, "
            f"not {transition.shape}"
        )
    return start, transition


def _check_probabilities(name: str, value, ndim: int) -> np.ndarray:
    check_unmasked(name, value)
    try:
        value = as_numbers(name, value)
    except ValueError:
        raise ValueError(f"{name} must be an array of probabilities, not {value!r}") from None
    if value.ndim != ndim or value.size == 0:
        raise ValueError(f"{name} must be a non-empty array of {ndim} dimension(s)")
    if not (np.isfinite(value) & (value >= 0)).all():
        raise ValueError(f"{name} must hold finite, non-negative probabilities")
    sums = value.sum(axis=-1)
    if (np.abs(sums - 1.0) > 1e-8).any():
        bad = int(np.argmax(np.abs(np.atleast_1d(sums) - 1.0)))
        where = f"row {bad} of {name}" if ndim == 2 else name
        raise ValueError(f"{where} must sum to 1, not {np.atleast_1d(sums)[bad]:.9g}")
    return value


def check_lengths(lengths, size: int) -> np.ndarray:
    """Sizes of the sequences that make up `size` observations; None is a single sequence."""
    if lengths is None:
        return np.array([size])
    check_unmasked("lengths", lengths)
    try:
        array = np.asarray(lengths)
    except (TypeError, ValueError):
        raise ValueError(f"lengths must be whole numbers, not {lengths!r}") from None
    if array.dtype.kind not in "iuf":
        raise ValueError(f"lengths must be whole numbers below 2**63, not {lengths!r}")
    with np.errstate(invalid="ignore"):  # what is too large for an integer differs from it
        exact = array.astype(np.int64)
    if array.ndim != 1 or (exact != array).any() or (exact < 1).any():
        raise ValueError("lengths must be a list of positive whole numbers")
    if exact.max(initial=0) > size or exact.sum() != size:
        total = sum(exact.tolist())  # which may be too large for numpy
        raise ValueError(f"lengths must add up to the {size} observations, not {total}")
    return exact
