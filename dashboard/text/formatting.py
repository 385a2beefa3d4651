"""Numbers as people read them."""

import re
from collections.abc import Sequence

MISSING = "…"
"""Stands for a result that is still to come."""


def seconds(value: float | None) -> str:
    """A time with its unit; a dash for one that was not measured."""
    if value is None:
        return "–"
    if value < 0.1:
        return f"{1000 * value:.1f} ms"
    return f"{value:.2f} s"


def microseconds(value: float) -> str:
    """A short time with three digits, and never as a power of ten."""
    return f"{value:.3g} µs" if value < 100 else f"{value:,.0f} µs"


def size(nbytes: float | None) -> str:
    """An amount of memory with its unit; a dash for one that was not counted."""
    if nbytes is None:
        return "–"
    for unit, divisor in (("MB", 1e6), ("KB", 1e3)):
        if nbytes >= divisor:
            return f"{nbytes / divisor:.1f} {unit}"
    return f"{nbytes:.0f} bytes"


def percent(value: float) -> str:
    """A share as a percentage with two digits."""
    return f"{100 * value:.2f} %"


def milliseconds(value: float | None) -> str:
    """A time in milliseconds without its unit; a dash for one that was not measured."""
    return "–" if value is None else f"{1000 * value:,.1f}"


def kilobytes(nbytes: float | None) -> str:
    """An amount of memory in KB without its unit; a dash for one that was not counted."""
    return "–" if nbytes is None else f"{nbytes / 1000:,.1f}"


def hundredths(value: float) -> str:
    """A share as a percentage without its sign, with two digits."""
    return f"{100 * value:.2f}"


def spread(mean: float, deviation: float, runs: int, digits: int) -> str:
    """Mean ± standard deviation; the mean alone for a single run, which has no spread."""
    middle = f"{mean:.{digits}f}"
    return middle if runs == 1 else f"{middle} ± {deviation:.{digits}f}"


def listed(parts: Sequence[str]) -> str:
    """Parts of a sentence with commas, and “and” before the last."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def number(value: float, digits: int = 4) -> str:
    """With a true minus sign."""
    return f"{value:.{digits}f}".replace("-", "−")


def unmarked(text: str) -> str:
    """Text from a file within Markdown: none of it is taken for a mark."""
    return re.sub(r"([\\`*_{}\[\]<>#$~|])", r"\\\1", text)
