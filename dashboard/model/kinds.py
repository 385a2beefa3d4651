"""Kinds of values that a visitor can set: how each is read from a link, written and checked.

Reading is strict and the same everywhere: digits of ASCII without blanks or underscores, so that
what was written is the only text that opens a value. `read` raises ValueError for any other text;
`check` returns the value in its canonical form or raises `Invalid` with a sentence for the visitor.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

_WHOLE = re.compile(r"-?[0-9]+")
_NUMBER = re.compile(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_LONGEST_QUOTE = 40


class Invalid(ValueError):
    """A sentence for the visitor, and the name of the setting it is about."""

    def __init__(self, sentence: str, field: str = ""):
        super().__init__(sentence)
        self.field = field


class Kind(Protocol):
    """How a kind of value is read from a link, written into one, and checked."""

    def read(self, text: str) -> Any: ...

    def write(self, value: Any) -> str: ...

    def check(self, value: Any) -> Any: ...


def is_number(value) -> bool:
    """Whether this is a finite number; True and False are none."""
    is_real = isinstance(value, int | float) and not isinstance(value, bool)
    return is_real and abs(value) <= sys.float_info.max  # NaN is not below anything


def quoted(text: str) -> str:
    """Text from a link in a sentence: shortened, and none of it taken for Markdown."""
    short = text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1] + "…"
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", short)


def _whole_number(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError(text)
    return int(text)


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return float(text)


def _is_row(value) -> bool:
    """Whether this is several values in a row, and not a single one or a text."""
    return isinstance(value, list | tuple)


def _in_short(value: float) -> str:
    """To the last digit, but 1 for 1.0."""
    return repr(value).removesuffix(".0")


@dataclass(frozen=True)
class WholeNumber:
    """An integer between two limits; `name` begins the sentences about it."""

    name: str
    least: int
    most: int

    def read(self, text: str) -> int:
        return _whole_number(text)

    def write(self, value: int) -> str:
        return str(value)

    def check(self, value) -> int:
        if not is_number(value) or value != int(value):
            raise Invalid(f"{self.name} must be a whole number.")
        if not self.least <= value <= self.most:
            raise Invalid(f"{self.name} must be between {self.least:,} and {self.most:,}.")
        return int(value)


@dataclass(frozen=True)
class WholeNumbers:
    """One or more different integers between two limits, kept in order."""

    name: str
    least: int
    most: int
    most_values: int

    def read(self, text: str) -> tuple[int, ...]:
        return tuple(map(_whole_number, text.split(",")))

    def write(self, value: tuple[int, ...]) -> str:
        return ",".join(map(str, value))

    def check(self, value) -> tuple[int, ...]:
        if not value or not _is_row(value):
            raise Invalid(f"Choose at least one {self.name}.")
        one = WholeNumber(f"Every {self.name}", self.least, self.most)
        values = tuple(sorted({one.check(number) for number in value}))
        if len(values) > self.most_values:
            raise Invalid(f"Choose at most {self.most_values} values of {self.name}.")
        return values


@dataclass(frozen=True)
class WholeRange:
    """A first and a last integer, from 1 on."""

    name: str
    most: int

    def read(self, text: str) -> tuple[int, ...]:
        return tuple(map(_whole_number, text.split(",")))

    def write(self, value: tuple[int, int]) -> str:
        return ",".join(map(str, value))

    def check(self, value) -> tuple[int, int]:
        one = WholeNumber(f"Each end of {self.name}", 1, self.most)
        ends = tuple(one.check(end) for end in value) if _is_row(value) else ()
        if len(ends) != 2 or ends[0] > ends[1]:
            raise Invalid(f"{self.name.capitalize()} needs a first and a later last number.")
        return ends


@dataclass(frozen=True)
class Numbers:
    """A row of numbers; the setting itself says which are valid."""

    def read(self, text: str) -> tuple[float, ...]:
        return tuple(map(_number, text.split(",")))

    def write(self, value: Sequence[float]) -> str:
        return ",".join(map(_in_short, value))

    def check(self, value):
        if not _is_row(value):
            raise Invalid("It must be a row of numbers.")
        return value


@dataclass(frozen=True)
class Rows:
    """Rows of numbers; the setting itself says which are valid."""

    def read(self, text: str) -> tuple[tuple[float, ...], ...]:
        return tuple(Numbers().read(row) for row in text.split(";"))

    def write(self, value: Sequence[Sequence[float]]) -> str:
        return ";".join(map(Numbers().write, value))

    def check(self, value):
        if not _is_row(value) or not all(map(_is_row, value)):
            raise Invalid("It must be rows of numbers.")
        return value


@dataclass(frozen=True)
class RoundedNumbers:
    """So many numbers with this many digits after the point; the setting says which are valid."""

    count: int
    digits: int

    def read(self, text: str) -> tuple[float, ...]:
        return tuple(map(_number, text.split(",")))

    def write(self, value: Sequence[float]) -> str:
        return ",".join(f"{number:.{self.digits}f}" for number in value)

    def check(self, value) -> tuple[float, ...]:
        if not _is_row(value) or len(value) != self.count or not all(map(is_number, value)):
            raise Invalid(f"It needs {self.count} numbers.")
        return tuple(round(float(number), self.digits) for number in value)


@dataclass(frozen=True)
class Choice:
    """One of a few words; `name` begins the sentence about any other."""

    name: str
    choices: tuple[str, ...]

    def read(self, text: str) -> str:
        return text

    def write(self, value: str) -> str:
        return value

    def check(self, value) -> str:
        if value not in self.choices:
            raise Invalid(f"{self.name} must be one of: {', '.join(self.choices)}.")
        return value


@dataclass(frozen=True)
class Choices:
    """Some of a few words, kept in the order of `choices`.

    `empty` is what a link says for none of them; without it, one must be chosen.
    """

    name: str
    choices: tuple[str, ...]
    empty: str | None = None

    def read(self, text: str) -> tuple[str, ...]:
        return () if text == self.empty else tuple(text.split(","))

    def write(self, value: tuple[str, ...]) -> str:
        return ",".join(value) or self.empty or ""

    def check(self, value) -> tuple[str, ...]:
        if not _is_row(value) or (not value and self.empty is None):
            raise Invalid(f"Choose at least one {self.name}.")
        unknown = [word for word in value if word not in self.choices]
        if unknown:
            known = ", ".join(self.choices)
            word = unknown[0] if isinstance(unknown[0], str) else type(unknown[0]).__name__
            raise Invalid(f"“{quoted(word)}” is not one of: {known}.")
        return tuple(word for word in self.choices if word in value)


@dataclass(frozen=True)
class Maybe:
    """A value of another kind, or None, which no link mentions."""

    kind: Kind

    def read(self, text: str) -> Any:
        return self.kind.read(text)

    def write(self, value: Any) -> str:
        return self.kind.write(value)

    def check(self, value):
        return None if value is None else self.kind.check(value)


Known = Mapping[str, Any]
"""The settings that were checked before."""
