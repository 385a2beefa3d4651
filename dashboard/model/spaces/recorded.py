"""The space of a recording: any manifold, shown on the plane in which the observations spread most.

It has no true means to type, to drag or to draw.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dashboard.model.spaces.chart import Chart, Coordinates, Points
from dashboard.model.spaces.disk import DISK, DISK_CHART
from dashboard.model.spaces.principal import Principal, principal_plane
from dashboard.model.spaces.space import Words
from rhmm import Hyperbolic, Manifold

_ON_OUTLINE = 73
_ROOM = 1.1
"""The map is so much wider than what lies on it,"""
_FEW = 0.0025
"""but for this share of the observations on each side: a few outliers would make it too wide."""
_MATRIX_EFFORT = 2.0
"""How many times as long as on the disk learning of matrices takes, for each dimension."""


@dataclass(frozen=True)
class RecordedSpace:
    """What pages ask of the space of a recording."""

    manifold: Manifold
    title: str
    """Of the recording."""

    @property
    def effort(self) -> float:
        """How many times as long as in the default space learning takes."""
        return _MATRIX_EFFORT * self.manifold.dim if self.is_of_matrices else 1.0

    @property
    def is_of_matrices(self) -> bool:
        return len(self.manifold.point_shape) == 2

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The columns of a file in which a point is written: x1, x2, … or a11, a12, …"""
        size = self.manifold.point_shape[0]
        if not self.is_of_matrices:
            return tuple(f"x{i + 1}" for i in range(size))
        return tuple(f"a{i + 1}{j + 1}" for i, j in zip(*np.triu_indices(size), strict=True))

    def coords(self, points: Points) -> NDArray[np.floating]:
        """The coordinates of points (N, *point_shape); of a matrix its upper triangle."""
        if not self.is_of_matrices:
            return np.asarray(points)
        rows, columns = np.triu_indices(self.manifold.point_shape[0])
        return np.asarray(points)[:, rows, columns]

    @property
    def words(self) -> Words:
        return _words(self.manifold, self.title)

    def chart_of(self, points: Points) -> Chart:
        """The map of observations (T, *point_shape), of which some may be missing."""
        if self.manifold == Hyperbolic(2):
            return DISK_CHART
        there = _there(points)
        plane = principal_plane(self.manifold, points[there])
        low, high = np.quantile(plane.places(points[there]), (_FEW, 1.0 - _FEW), axis=0)
        half = _ROOM * 0.5 * float((high - low).max()) or 1.0
        x, y = (0.5 * (low + high)).tolist()
        return PrincipalChart(plane, (x - half, y - half, x + half, y + half))

    @property
    def pending_chart(self) -> Chart:
        """Before there are observations: an empty map."""
        return DISK_CHART if self.manifold == Hyperbolic(2) else PendingChart()


class PendingChart:
    """A map on which nothing is drawn yet."""

    space = "recording"
    id = "pending"
    extent = (-1.0, -1.0, 1.0, 1.0)
    is_round = False
    measures = False
    axes = ("", "")
    note = ""

    def about(self) -> dict:
        return {
            "name": "plane", "id": self.id, "title": "Map of the recording", "extent": self.extent,
            "axes": self.axes,
        }  # fmt: skip

    def places(self, points: Points) -> NDArray[np.floating]:
        return np.zeros((len(points), 2))

    def from_map(self, u: float, v: float, near: Coordinates) -> Coordinates:
        return near  # there is no mean to drag

    def balls(self, means: Points, sigmas: NDArray[np.floating]) -> NDArray[np.floating]:
        """Circles of radius σ around the places of the means."""
        places = self.places(means)
        return np.column_stack([places, sigmas, sigmas, np.zeros(len(places))])

    def outlines(self, means: Points, sigmas: NDArray[np.floating]) -> NDArray[np.floating]:
        angles = np.linspace(0.0, 2.0 * np.pi, _ON_OUTLINE)
        circle = np.column_stack([np.cos(angles), np.sin(angles)])
        return self.places(means)[:, None] + np.asarray(sigmas)[:, None, None] * circle

    def glyphs(self, points: Points) -> None:
        return None


@dataclass(frozen=True, eq=False)
class PrincipalChart(PendingChart):
    """The plane of the principal directions at the centre of mass.

    A circle of radius σ is about how far observations of a state spread along an axis.
    """

    plane: Principal
    extent: tuple[float, float, float, float]
    id = "principal"

    @property
    def axes(self) -> tuple[str, str]:  # type: ignore[override]
        first, second = (f"{100 * share:.0f} % of the spread" for share in self.plane.shares)
        return f"{first} →", f"↑ {second}"

    @property
    def note(self) -> str:  # type: ignore[override]
        share = self.plane.share
        seen = "all" if share > 0.9995 else f"{100 * share:.0f} %"
        return (
            "The map is the plane in which the observations spread most, through their centre of "
            f"mass. It shows {seen} of their spread: what looks near may be far."
        )

    def places(self, points: Points) -> NDArray[np.floating]:
        there = _there(points)
        places = np.full((len(points), 2), np.nan)
        if there.any():
            places[there] = self.plane.places(np.asarray(points, dtype=float)[there])
        return places


def _there(points: Points) -> NDArray[np.bool_]:
    """Which points are not missing, shape (T,)."""
    return np.asarray(~np.isnan(points).any(axis=tuple(range(1, points.ndim))))


def _words(manifold: Manifold, title: str) -> Words:
    if manifold == Hyperbolic(2):
        kind, drawn = "points of the disk", DISK.words.picture
    elif len(manifold.point_shape) == 2:
        size = manifold.point_shape[0]
        kind, drawn = f"{size} × {size} covariance matrices", "The map of the recording"
    else:
        kind, drawn = f"points of {manifold!r}", "The map of the recording"
    return Words(
        title=f"{title}, learned online",
        caption=f"Each dot is one of the {kind} of the recording, in the order in which they came. "
        "Coloured marks are what the online algorithm believes after k observations, and the path "
        "it took; circles have radius σ. A recording comes without a true model: there are no "
        "crosses and no ceiling.",
        picture=drawn,
        noun="map",
        mean="a point of the space",
        states="",
        estimates="Dots are observations. A large mark is an estimated mean, the centre of a "
        "circle of radius σ̂.",
        balls="σ-circles",
        distance="distance",
        beware="",
    )
