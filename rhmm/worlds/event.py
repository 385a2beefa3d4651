"""What every event of a world has, and the registry of all kinds of events.

An event is a frozen dataclass. Its class says its name in links, and its fields are checked when it
is made; what depends on the world it happens in is checked when a world takes it up.

Time is cut into blocks of 50 observations: events begin and end between blocks.
"""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from rhmm.manifolds import Manifold
from rhmm.validation import as_numbers, check_integer, check_number
from rhmm.worlds.truth import Truth

BLOCK = 50
"""Observations between two moments at which the truth can change."""

_MOST = 2**53
"""The latest `at`: whole numbers up to here survive JSON and the browser."""

Kind = TypeVar("Kind", bound=type["Event"])
_kinds: dict[str, type["Event"]] = {}


def register_event(kind: Kind) -> Kind:
    """Make a kind of events known by its `name`; use it as a decorator."""
    if _kinds.setdefault(kind.name, kind) is not kind:
        raise ValueError(f"name {kind.name!r} is taken by {_kinds[kind.name].__name__}")
    return kind


def registered_events() -> dict[str, type["Event"]]:
    """All kinds of events, by name."""
    return dict(_kinds)


@dataclass(frozen=True, kw_only=True)
class Event(ABC):
    """Something that happens to a world after `at` observations."""

    name: ClassVar[str]
    """In links: letters and dashes."""
    label: ClassVar[str]
    """For people."""

    at: int | None = None
    """A multiple of 50; None is as soon as possible, for events added to a running world."""

    def __post_init__(self) -> None:
        if self.at is not None:
            self._set("at", check_multiple("at", self.at, at_least=0))
        self.check_fields()

    @abstractmethod
    def check_fields(self) -> None:
        """Raise a ValueError that names the first wrong field, or tidy the fields with `_set`."""

    def _set(self, name: str, value) -> None:
        object.__setattr__(self, name, value)

    @property
    @abstractmethod
    def ends(self) -> int:
        """How many observations after `at` it is over."""

    def moved_to(self, at: int) -> Self:
        """The same event at another time."""
        return dataclasses.replace(self, at=at)

    # Links and files

    def to_dict(self) -> dict[str, Any]:
        """Its name as ``event``, and its fields: numbers and lists, for JSON."""
        fields = {f.name: _plain(getattr(self, f.name)) for f in dataclasses.fields(self)}
        return {"event": self.name, **fields}

    def to_text(self) -> str:
        """A short form for links, such as ``turn_5000_90.0``: no character needs quoting."""
        values = (getattr(self, f.name) for f in dataclasses.fields(self))
        return "_".join([self.name, *map(_text, values)])


class Change(Event):
    """An event that changes the parameters."""

    @property
    @abstractmethod
    def moments(self) -> Sequence[int]:
        """How many observations after `at` it changes something, in order."""

    @property
    def ends(self) -> int:
        """How many observations after `at` it is over."""
        return self.moments[-1]

    @abstractmethod
    def apply(self, manifold: Manifold, truth: Truth, elapsed: int) -> Truth:
        """The parameters from that one of its `moments` on; a ValueError if that cannot be."""


class Disturbance(Event):
    """An event that spoils observations and leaves the parameters alone."""

    needs_truth: ClassVar[bool] = False
    """Whether it must know the true parameters."""
    length: int

    @property
    def ends(self) -> int:
        """How many observations after `at` it is over."""
        return self.length

    def check(self, manifold: Manifold) -> None:
        """Raise a ValueError if it cannot happen on that manifold."""

    @abstractmethod
    def disturb(
        self,
        manifold: Manifold,
        truth: Truth | None,
        X: np.ndarray,
        latest: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Spoil a block of observations X, shape (50, *point_shape), in place; returns which of
        them, shape (50,).

        `truth` is None if it is not known, for events that do not need it. `latest` is the latest
        observation that was there before the block; NaN if none was.
        """


def event_from_dict(content: dict[str, Any]) -> Event:
    """The event that `Event.to_dict` described."""
    if not isinstance(content, dict):
        raise ValueError(f"content must be a dict, not {content!r}")
    fields = dict(content)
    kind = _kind_named(fields.pop("event", None))
    unknown = fields.keys() - {f.name for f in dataclasses.fields(kind)}
    if unknown:
        raise ValueError(f"{kind.name} has no {min(map(str, unknown))}")
    return _made(kind, fields)


def event_from_text(text: str) -> Event:
    """The event that `Event.to_text` described; fields left out at the end have their defaults."""
    name, *values = str(text).split("_")
    kind = _kind_named(name)
    names = [f.name for f in dataclasses.fields(kind)]
    if len(values) > len(names):
        raise ValueError(f"{name} has {len(names)} values at most: {', '.join(names)}")
    given = zip(names, values, strict=False)
    return _made(kind, {field: _from_text(field, value) for field, value in given})


def script_to_text(events: Sequence[Event]) -> str:
    """Several events in their short forms."""
    return "__".join(event.to_text() for event in events)


def script_from_text(text: str) -> tuple[Event, ...]:
    """The events that `script_to_text` described."""
    return tuple(event_from_text(part) for part in str(text).split("__") if part)


def _kind_named(name) -> type[Event]:
    if not isinstance(name, str) or name not in _kinds:
        raise ValueError(f"event must be one of {', '.join(_kinds)}, not {name!r}")
    return _kinds[name]


def _made(kind: type[Event], fields: dict[str, Any]) -> Event:
    for field in dataclasses.fields(kind):
        if field.default is dataclasses.MISSING and field.name not in fields:
            raise ValueError(f"{kind.name} needs a value for {field.name}")
    return kind(**fields)


def _plain(value):
    return [_plain(v) for v in value] if isinstance(value, tuple) else value


def _text(value) -> str:
    if value is None:
        return "now"
    return "~".join(repr(v) for v in np.ravel(value).tolist())


def _from_text(field: str, text: str):
    if field == "at" and text == "now":
        return None
    numbers = [_number(field, part) for part in text.split("~")]
    return numbers if "~" in text else numbers[0]


def _number(field: str, text: str) -> float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise ValueError(f"{field} must be a number, not {text!r}")


# Checks that several kinds share


def check_multiple(name: str, value, at_least: int = BLOCK) -> int:
    """A number of observations that is made of whole blocks."""
    number = check_integer(name, value, at_least)
    if number % BLOCK or number > _MOST:
        raise ValueError(f"{name} must be a multiple of {BLOCK} up to 2**53, not {value!r}")
    return number


def check_share(name: str, value) -> float:
    """A number above 0 and at most 1."""
    number = check_number(name, value, at_least=0.0)
    if not 0.0 < number <= 1.0:
        raise ValueError(f"{name} must be above 0 and at most 1, not {value!r}")
    return number


def check_real(name: str, value) -> float:
    """A finite number of either sign."""
    return check_number(name, value, at_least=-np.finfo(float).max)


def check_coordinates(name: str, value) -> tuple[float, ...]:
    """The numbers of a point, in one row."""
    numbers = as_numbers(name, value).ravel()
    if not (numbers.size and np.isfinite(numbers).all()):
        raise ValueError(f"{name} must hold finite numbers, not {value!r}")
    return tuple(numbers.tolist())


def point_of(manifold: Manifold, name: str, coordinates: tuple[float, ...]) -> np.ndarray:
    """The point with these numbers, shape `point_shape`."""
    wanted = int(np.prod(manifold.point_shape))
    if len(coordinates) != wanted:
        raise ValueError(f"{name} must have {wanted} numbers on {manifold!r}")
    return manifold.points(name, np.reshape(coordinates, manifold.point_shape))
