"""What the dashboard asks of a space: a manifold, how its points are typed, and how it is drawn.

A new space is a file with a class that derives from `Space` and a line in `registry`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dashboard.model.spaces.chart import Chart, Coordinates, Points
from rhmm import Manifold

Truth = Mapping[str, Any]
"""A true model, see `experiment.TRUTH`."""


@dataclass(frozen=True)
class Words:
    """What pages say about a space."""

    title: str
    """Of the Live lab."""
    caption: str
    """Below that: what is drawn, and how."""
    picture: str
    """Begins the alternative text of a figure."""
    noun: str
    """One word for the map."""
    mean: str
    """The coordinates of a mean and where it lies, within a sentence."""
    states: str
    """Below the table of states."""
    estimates: str
    """Beside the figures of estimates: how they are drawn."""
    balls: str
    """What lies within σ of the means."""
    distance: str
    """The full name of the distance."""
    beware: str
    """Where the eye is deceived on the map; before a figure of distances."""


class Space(ABC):
    """A manifold and its charts."""

    key: str
    """In links."""
    label: str
    manifold: Manifold
    coordinates: tuple[str, ...]
    """The columns in which a visitor types a point."""
    words: Words
    least_sigma = 0.01
    most_sigma = 3.0
    effort = 1.0
    """How many times as long as in the default space learning takes."""
    papers_preset: str | None = None
    """The preset that is the paper's experiment, if one is."""

    @cached_property
    def presets(self) -> dict[str, dict]:
        """True models worth starting from, by name. The first is the default."""
        return {name: {"space": self.key, **model} for name, model in self.models().items()}

    @property
    def truth(self) -> dict:
        """The default true model."""
        return next(iter(self.presets.values()))

    @abstractmethod
    def models(self) -> dict[str, dict]:
        """What `presets` gives, without the space."""

    # Points

    @abstractmethod
    def points(self, coordinates: Sequence[Coordinates]) -> Points:
        """The points with these coordinates, shape (N, *point_shape)."""

    @abstractmethod
    def coords(self, points: Points) -> NDArray[np.floating]:
        """The coordinates of points (N, *point_shape), shape (N, len(coordinates))."""

    @abstractmethod
    def check(self, coordinates: Sequence, name: str) -> Coordinates:
        """A mean of this name in its canonical form; `Invalid` with a sentence if it is none."""

    @property
    @abstractmethod
    def rooms(self) -> Sequence[Coordinates]:
        """Places among which a new state finds one with room."""

    # Maps

    @abstractmethod
    def chart_for(self, means: Sequence[Coordinates], sigmas: Sequence[float]) -> Chart:
        """A map that shows these means and what lies around them."""

    def centred_chart(self, mean: Coordinates) -> Chart | None:
        """A map with this mean in its middle, for figures that cannot be moved; None if there is
        none, as where the map follows from the true means."""
        return None

    def is_cramped(self, means: Sequence[Coordinates]) -> bool:
        """Whether the whole map leaves these means and what lies around them too little room."""
        return False

    def why_not_centred(self, x: float, y: float) -> str | None:
        """A sentence that says why no map can be centred on this place; None if one can."""
        return None

    def clamped_centre(self, x: float, y: float) -> tuple[float, float]:
        """This place, or one on which a map can be centred."""
        return x, y


def staying(stay: float, count: int) -> tuple[tuple[float, ...], ...]:
    """A chain that stays with this probability, else goes to any other state."""
    leave = round((1.0 - stay) / (count - 1), 12)
    return tuple(tuple(stay if i == j else leave for j in range(count)) for i in range(count))


def ring(count: int, radius: float, turn: float = 0.0) -> list[tuple[float, float]]:
    """So many places on a circle, the first at the angle `turn`."""
    angles = (turn + 2.0 * math.pi * i / count for i in range(count))
    return [(radius * math.cos(a), radius * math.sin(a)) for a in angles]
