"""Numbers as people read them."""

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


def number(value: float, digits: int = 4) -> str:
    """With a true minus sign."""
    return f"{value:.{digits}f}".replace("-", "−")
