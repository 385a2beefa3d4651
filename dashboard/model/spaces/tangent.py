"""A flat map of a curved space: the tangent space at a base point, seen along two directions.

Distances from the base are true, others look shorter than they are: geodesics spread.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dashboard.model.spaces.chart import Coordinates, Points

_BALL_DIRECTIONS = 12
_ON_OUTLINE = 73
_STEPS = 60
_ROUND = 0.25
"""The map's half width is a multiple of this, so that it seldom changes while a mean is dragged."""
_AROUND = 3.0
"""So many σ around each mean are on the map."""
_STEADY = 0.6
"""A direction of the frame that looks shorter than this on the map is no axis."""
_MATTERS = 0.35
"""A direction that has this share in an axis is named there."""


class NormalCoordinates(Protocol):
    """Points by the geodesics that lead to them from a base point.

    Vectors are in an orthonormal frame at the base, shape (T, d): their length is the distance.
    """

    def vectors(self, points: Points) -> NDArray[np.floating]: ...

    def points(self, vectors: NDArray[np.floating]) -> Points: ...


@dataclass(frozen=True)
class Direction:
    """What a direction of the frame means: the words for more and for less of it."""

    more: str
    less: str


@dataclass(frozen=True, eq=False)
class TangentChart:
    """The plane in which the true means spread most.

    Within it, the map is turned by the directions of the frame and not by how the means spread: it
    must not turn when one of them is dragged. The first direction that does not point along the
    line of sight goes to the right, the next one up.
    """

    space: str
    title: str
    """The map's name for those who cannot see it."""
    frame: tuple[Direction, ...]
    """In the order in which they are preferred as axes."""
    normal: NormalCoordinates
    distances: Callable[[Points, Points], NDArray[np.floating]]
    """Of points (T, …) and points (T, …), shape (T,)."""
    to_points: Callable[[Sequence[Coordinates]], Points]
    to_coordinates: Callable[[Points], NDArray[np.floating]]
    shapes: Callable[[Points], NDArray[np.floating] | None]
    """What `glyphs` gives."""
    means: tuple[Coordinates, ...]
    sigmas: tuple[float, ...]

    is_round = False
    measures = False

    @cached_property
    def id(self) -> str:
        text = repr((self.means, self.sigmas))
        return f"{self.space}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    # The plane

    @cached_property
    def _sight(self) -> tuple[NDArray[np.floating], float]:
        """The projection onto the plane (d, d), and the share of the means' spread in it."""
        vectors = self.normal.vectors(self.to_points(self.means))
        scatter = vectors.T @ vectors
        # means on a line, or a single one, leave the plane open: the frame decides
        order = np.diag(np.arange(len(self.frame), 0, -1.0))
        _, directions = np.linalg.eigh(scatter + 1e-9 * (np.trace(scatter) + 1.0) * order)
        seen = directions[:, -2:] @ directions[:, -2:].T
        total = float(np.trace(scatter))
        return seen, float(np.trace(seen @ scatter)) / total if total > 1e-12 else 1.0

    @cached_property
    def _plane(self) -> NDArray[np.floating]:
        """The directions to the right and up, shape (2, d)."""
        rest, rows = self._sight[0], []
        for _ in range(2):
            lengths = np.linalg.norm(rest, axis=1)
            steady = np.flatnonzero(lengths > _STEADY)
            chosen = steady[0] if steady.size else lengths.argmax()
            row = rest[chosen] / lengths[chosen]
            rows.append(row)
            rest = rest - np.outer(rest @ row, row)
        return np.array(rows)

    @cached_property
    def extent(self) -> tuple[float, float, float, float]:
        places = np.abs(self.places(self.to_points(self.means)))
        reach = float((places + _AROUND * np.array(self.sigmas)[:, None]).max())
        half = _ROUND * math.ceil(reach / _ROUND)
        return -half, -half, half, half

    @cached_property
    def axes(self) -> tuple[str, str]:
        right, up = (self._meaning(row) for row in self._plane)
        return f"{right} →", f"↑ {up}"

    def _meaning(self, row: NDArray[np.floating]) -> str:
        by_share = sorted(zip(row, self.frame, strict=True), key=lambda pair: -abs(pair[0]))
        words = [d.more if share > 0 else d.less for share, d in by_share if abs(share) > _MATTERS]
        return ", ".join(words)

    @property
    def note(self) -> str:
        share = self._sight[1]
        seen = "all" if share > 0.9995 else f"{100 * share:.0f} %"
        return (
            "The map is flat: distances from its middle, the centre of mass of the true means, are "
            f"true, others look shorter. Its two axes show {seen} of the spread of the true means."
        )

    def about(self) -> dict:
        return {
            "name": "plane",
            "id": self.id,
            "title": self.title,
            "extent": self.extent,
            "axes": self.axes,
        }

    # Points on it

    def places(self, points: Points) -> NDArray[np.floating]:
        return self.normal.vectors(points) @ self._plane.T

    def from_map(self, u: float, v: float, near: Coordinates) -> Coordinates:
        left, bottom, right, top = self.extent
        place = np.array([min(right, max(left, u)), min(top, max(bottom, v))])
        vector = self.normal.vectors(self.to_points([near]))[0]
        moved = vector + (place - self._plane @ vector) @ self._plane
        return tuple(self.to_coordinates(self.normal.points(moved[None]))[0].tolist())

    def balls(self, means: Points, sigmas: NDArray[np.floating]) -> NDArray[np.floating]:
        """The ellipses nearest to `outlines`."""
        half = _BALL_DIRECTIONS // 2
        angles = 2.0 * np.pi * np.arange(_BALL_DIRECTIONS) / _BALL_DIRECTIONS
        cosine, sine = np.cos(angles[:half]), np.sin(angles[:half])
        radii = self._radii(means, sigmas, angles)
        forth, back = radii[:, :half], radii[:, half:]
        shift = 0.5 * (forth - back) @ np.linalg.pinv(np.stack([cosine, sine]))
        # 1/r² is a quadratic form of the direction
        forms = np.stack([np.ones(half), cosine**2 - sine**2, 2.0 * cosine * sine])
        mean, b, c = ((0.5 * (forth + back)) ** -2.0 @ np.linalg.pinv(forms)).T
        h = np.hypot(b, c)
        angle = 0.5 * np.arctan2(c, b) + 0.5 * np.pi
        centres = self.places(means) + shift
        return np.column_stack([centres, (mean - h) ** -0.5, (mean + h) ** -0.5, angle])

    def outlines(self, means: Points, sigmas: NDArray[np.floating]) -> NDArray[np.floating]:
        """Closed lines, shape (T, 73, 2): where a mean is σ away when it is dragged there.

        That is the ball cut along the map, through its centre.
        """
        angles = np.linspace(0.0, 2.0 * np.pi, _ON_OUTLINE)
        directions = np.column_stack([np.cos(angles), np.sin(angles)])
        radii = self._radii(means, sigmas, angles)
        return self.places(means)[:, None] + radii[:, :, None] * directions

    def _radii(
        self, means: Points, sigmas: NDArray[np.floating], angles: NDArray[np.floating]
    ) -> NDArray[np.floating]:
        """How far on the map a point at distance σ is in each direction, shape (T, K)."""
        count = len(angles)
        ways = np.column_stack([np.cos(angles), np.sin(angles)]) @ self._plane
        origins = np.repeat(self.normal.vectors(means), count, axis=0)
        ways = np.tile(ways, (len(means), 1))
        centres = np.repeat(means, count, axis=0)
        wanted = np.repeat(np.asarray(sigmas, dtype=float), count)
        radii = wanted.copy()
        for _ in range(_STEPS):
            ends = self.normal.points(origins + radii[:, None] * ways)
            ratio = wanted / self.distances(centres, ends)
            radii *= ratio
            if np.abs(ratio - 1.0).max(initial=0.0) < 1e-10:
                break
        return radii.reshape(-1, count)

    def glyphs(self, points: Points) -> NDArray[np.floating] | None:
        return self.shapes(points)
