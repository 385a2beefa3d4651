"""Charts: how the points of a space come onto a two-dimensional map, for messages to a canvas.

A chart here turns points into map coordinates; the chart of the same name in the browser
(charts/chart.js) puts these on the screen.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.floating]


class Chart(Protocol):
    """What messages ask of a chart. T points have the shape (T, …) of their space."""

    def about(self) -> dict:
        """The chart's name in the browser, and what that chart needs to know."""

    def places(self, points: Points) -> NDArray[np.floating]:
        """The points' places on the map, shape (T, 2)."""

    def balls(self, means: Points, sigmas: NDArray[np.floating]) -> NDArray[np.floating] | None:
        """Balls of these radii (T,) as ellipses on the map: cx, cy, rx, ry, angle; shape (T, 5).

        None if the browser's chart draws them by σ alone.
        """

    def glyphs(self, points: Points) -> NDArray[np.floating] | None:
        """The ellipses that stand for the points: rx, ry, angle; shape (T, 3).

        rx and ry are multiples of the size of a dot. None if points are drawn as dots.
        """


class DiskChart:
    """The Poincaré disk. It is its own map, and the browser draws its balls exactly."""

    reach = 0.99
    """How far from the centre a mean may be dragged."""

    def about(self) -> dict:
        return {"name": "disk", "reach": self.reach}

    def places(self, points: Points) -> NDArray[np.floating]:
        return np.asarray(points)

    def balls(self, means: Points, sigmas: NDArray[np.floating]) -> None:
        return None

    def glyphs(self, points: Points) -> None:
        return None


DISK = DiskChart()
