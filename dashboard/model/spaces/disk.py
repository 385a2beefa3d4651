"""The Poincaré disk, the space of the paper's experiment. It is its own map, and exact."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dashboard.model.kinds import Invalid, is_number
from dashboard.model.spaces.chart import Coordinates, Points
from dashboard.model.spaces.space import Space, Words, ring, staying
from rhmm import Hyperbolic

FURTHEST_MEAN = 0.999
"""How far from the centre a mean may be typed: further out the picture has no pixels."""

_MANIFOLD = Hyperbolic(2)
_DIRECTIONS = 1441
_ON_OUTLINE = 73
_NEW_RADII = (0.0, 0.25, 0.5, 0.75)
_NEW_ANGLES = 16
_CRAMPED = 0.9
"""Where all means are further out than this, all observations are a few specks near the rim."""


class DiskChart:
    """The browser draws its balls exactly, by σ alone."""

    space = "disk"
    id = ""
    extent = (-1.0, -1.0, 1.0, 1.0)
    is_round = True
    measures = True
    axes = None
    note = ""
    reach = 0.99
    """How far from the centre a mean may be dragged."""

    def about(self) -> dict:
        return {"name": "disk", "reach": self.reach}

    def places(self, points: Points) -> NDArray[np.floating]:
        return np.asarray(points)

    def from_map(self, u: float, v: float, near: Coordinates) -> Coordinates:
        return u, v

    def balls(self, means: Points, sigmas: NDArray[np.floating]) -> None:
        return None

    def glyphs(self, points: Points) -> None:
        return None

    def outlines(self, means: Points, sigmas: NDArray[np.floating]) -> NDArray[np.floating]:
        """Closed lines, shape (T, 73, 2).

        The engine says where a geodesic of that length ends in each direction. Of many directions
        those are kept whose ends are evenly spaced, so that a line of few points looks round.
        """
        angles = np.linspace(0.0, 2.0 * np.pi, _DIRECTIONS)
        directions = np.column_stack([np.cos(angles), np.sin(angles)])
        outlines = []
        for centre, radius in zip(means, sigmas, strict=True):
            origins = np.broadcast_to(centre, directions.shape)
            lengths = _MANIFOLD.norm(origins, directions)
            ends = _MANIFOLD.exp(origins, directions * (radius / lengths)[:, None])
            way = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(ends, axis=0), axis=1)))
            outlines.append(ends[np.searchsorted(way, np.linspace(0.0, way[-1], _ON_OUTLINE))])
        return np.reshape(outlines, (-1, _ON_OUTLINE, 2))


@dataclass(frozen=True)
class CentredDiskChart(DiskChart):
    """The disk after the isometry that brings one of its points to the middle."""

    centre: Coordinates
    note: str = (
        "Each disk is moved so that this true mean is in its middle. That changes no distance, and "
        "what lies around the mean is seen as large as it can be."
    )

    def places(self, points: Points) -> NDArray[np.floating]:
        z, a = (np.asarray(p, dtype=float) @ (1.0, 1.0j) for p in (points, self.centre))
        moved = (z - a) / (1.0 - np.conj(a) * z)
        return np.column_stack([moved.real, moved.imag])

    def outlines(self, means: Points, sigmas: NDArray[np.floating]) -> NDArray[np.floating]:
        return super().outlines(self.places(means), sigmas)


class Disk(Space):
    """Points are (x, y) with x² + y² < 1; curvature −1."""

    key = "disk"
    label = "Poincaré disk"
    manifold = _MANIFOLD
    coordinates = ("x", "y")
    papers_preset = "Paper"
    words = Words(
        title="Online learning on the Poincaré disk",
        caption="Crosses are the true means: drag them. Coloured marks are what the online "
        "algorithm believes after k observations, and the path it took; circles have radius σ, "
        "dashed the true ones. The rim of the disk is infinitely far away.",
        picture="The Poincaré disk",
        noun="disk",
        mean="(x, y) in the disk",
        states="(x, y) is the mean in the disk, x² + y² < 1; σ is the spread around it, the radius "
        "of its dashed circle; π is the probability of being the first state.",
        estimates="A large mark is an estimated mean, the centre of a geodesic circle of radius σ̂.",
        balls="σ-circles",
        distance="hyperbolic distance",
        beware="Near the rim the eye is deceived: a small step on the picture is a long way. The "
        "distances tell what the disk does not:",
    )

    def models(self) -> dict[str, dict]:
        corners = [(round(x, 3), round(y, 3)) for x, y in ring(4, 0.75, math.pi / 4)]
        return {
            "Paper": {
                "transmat": ((0.4, 0.3, 0.3), (0.2, 0.6, 0.2), (0.1, 0.1, 0.8)),
                "means": ((0.0, 0.0), (0.29, 0.82), (-0.29, 0.82)),
                "sigmas": (0.2, 1.0, 1.0),
                "startprob": (1.0, 0.0, 0.0),
            },
            "Overlapping": {
                "transmat": ((0.8, 0.1, 0.1), (0.15, 0.7, 0.15), (0.1, 0.2, 0.7)),
                "means": ((0.0, 0.0), (0.5, 0.2), (-0.2, 0.5)),
                "sigmas": (0.6, 0.8, 0.7),
                "startprob": (1.0, 0.0, 0.0),
            },
            "Sticky": {
                "transmat": staying(0.97, 3),
                "means": ((0.0, -0.3), (0.45, 0.4), (-0.45, 0.4)),
                "sigmas": (0.6, 0.6, 0.6),
                "startprob": (1.0, 0.0, 0.0),
            },
            "Near the boundary": {
                "transmat": ((0.6, 0.2, 0.2), (0.2, 0.6, 0.2), (0.2, 0.2, 0.6)),
                "means": ((0.0, 0.97), (0.1, 0.96), (0.93, -0.25)),
                "sigmas": (0.7, 0.7, 0.9),
                "startprob": (1.0, 0.0, 0.0),
            },
            "Two states": {
                "transmat": ((0.9, 0.1), (0.2, 0.8)),
                "means": ((-0.45, 0.0), (0.45, 0.0)),
                "sigmas": (0.5, 0.8),
                "startprob": (0.5, 0.5),
            },
            "Five states": {
                "transmat": staying(0.6, 5),
                "means": ((0.0, 0.0), *corners),
                "sigmas": (0.3, 0.5, 0.6, 0.7, 0.8),
                "startprob": (0.2,) * 5,
            },
        }

    def points(self, coordinates: Sequence[Coordinates]) -> Points:
        return np.array(coordinates, dtype=float).reshape(-1, 2)

    def coords(self, points: Points) -> NDArray[np.floating]:
        return np.asarray(points)

    def check(self, coordinates: Sequence, name: str) -> Coordinates:
        if len(coordinates) != 2 or not all(map(is_number, coordinates)):
            raise Invalid(f"{name} needs two numbers, x and y.")
        x, y = map(float, coordinates)
        if math.hypot(x, y) >= 1.0:
            raise Invalid(
                f"{name} = ({x:g}, {y:g}) is outside the disk: x² + y² must be less than 1."
            )
        if math.hypot(x, y) > FURTHEST_MEAN:
            raise Invalid(
                f"{name} = ({x:g}, {y:g}) is too near the boundary to draw: "
                f"its length may be at most {FURTHEST_MEAN}."
            )
        return x, y

    @property
    def rooms(self) -> Sequence[Coordinates]:
        angles = 2.0 * np.pi * np.arange(_NEW_ANGLES) / _NEW_ANGLES
        places = [(r * np.cos(a), r * np.sin(a)) for r in _NEW_RADII for a in angles]
        return [(x, y) for x, y in np.array(places).round(2).tolist()]

    def chart_for(self, means: Sequence[Coordinates], sigmas: Sequence[float]) -> DiskChart:
        return DISK_CHART

    def centred_chart(self, mean: Coordinates) -> CentredDiskChart:
        return CentredDiskChart(mean)

    def is_cramped(self, means: Sequence[Coordinates]) -> bool:
        return all(math.hypot(x, y) > _CRAMPED for x, y in means)

    def why_not_centred(self, x: float, y: float) -> str | None:
        is_inside = math.hypot(x, y) < 1.0
        return None if is_inside else "The centre of the picture must lie in the disk."

    def clamped_centre(self, x: float, y: float) -> tuple[float, float]:
        return (0.0, 0.0) if math.hypot(x, y) > FURTHEST_MEAN else (x, y)


DISK_CHART = DiskChart()
DISK = Disk()
