"""Charts: how the points of a space come onto a two-dimensional map.

Messages to a canvas and Plotly figures ask the same chart. In the browser, the chart of the name
that `about` gives (canvas/charts) puts the map on the screen.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.floating]
Coordinates = tuple[float, ...]
"""A point as a visitor types it, see `Space.coordinates`."""


class Chart(Protocol):
    """One map. T points have the shape (T, …) of their space."""

    @property
    def space(self) -> str:
        """The key of the space."""

    @property
    def id(self) -> str:
        """Tells maps of the same space apart: a drop on the canvas says which one it was on."""

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """The least x and y, and the largest x and y, of the map."""

    @property
    def is_round(self) -> bool:
        """Whether the map is the circle within `extent`, and not the whole rectangle."""

    @property
    def measures(self) -> bool:
        """Whether the browser's chart can tell the distance of two points from their places."""

    @property
    def axes(self) -> tuple[str, str] | None:
        """What x and y mean; None if they need no explanation."""

    @property
    def note(self) -> str:
        """A sentence about what the map does not show; empty if it is exact."""

    def about(self) -> dict:
        """The chart's name in the browser, and what that chart needs to know."""

    def places(self, points: Points) -> NDArray[np.floating]:
        """The points' places on the map, shape (T, 2)."""

    def from_map(self, u: float, v: float, near: Coordinates) -> Coordinates:
        """The point at this place of the map; what the map does not show stays as in `near`."""

    def balls(self, means: Points, sigmas: NDArray[np.floating]) -> NDArray[np.floating] | None:
        """Balls of these radii (T,) as ellipses on the map: cx, cy, rx, ry, angle; shape (T, 5).

        None if the browser's chart draws them by σ alone.
        """

    def outlines(self, means: Points, sigmas: NDArray[np.floating]) -> NDArray[np.floating]:
        """The same balls as closed lines on the map, for figures; shape (T, K, 2)."""

    def glyphs(self, points: Points) -> NDArray[np.floating] | None:
        """The ellipses that stand for the points: rx, ry, angle; shape (T, 3).

        rx and ry are multiples of the size of a dot. None if points are drawn as dots.
        """
