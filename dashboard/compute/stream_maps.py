"""The map on which a recording flows: the disk, or one that shows it as a whole."""

import math
from typing import Protocol

import numpy as np

from dashboard.compute.principal import principal_plane
from dashboard.compute.recording_map import MOST_DRAWN
from dashboard.model.spaces.chart import Points
from dashboard.model.spaces.disk import DISK_CHART
from rhmm import Hyperbolic
from rhmm.recording import Recording

_SHOWN = 0.995
"""The share of a recording that must be on its map, along each axis: a few outliers may not be."""


class StreamMap(Protocol):
    """What a stream asks of its map, see `Chart`."""

    def about(self) -> dict: ...

    def places(self, points: Points) -> np.ndarray: ...

    def glyphs(self, points: Points) -> np.ndarray | None: ...


def map_of(recording: Recording) -> StreamMap:
    """The map on which a recording flows."""
    return DISK_CHART if recording.manifold == Hyperbolic(2) else RecordingMap(recording)


class RecordingMap:
    """The plane of the two principal directions of a recording."""

    def __init__(self, recording: Recording):
        shown = np.flatnonzero(recording.observed)
        points = recording.points[shown[:: -(-len(shown) // MOST_DRAWN)]]
        self._plane = principal_plane(recording.manifold, points)
        reach = np.quantile(np.abs(self.places(points)), _SHOWN, axis=0).max()
        self._half = 1.1 * float(reach) if reach > 0.0 else 1.0

    def about(self) -> dict:
        half = float(f"{self._half:.2g}") if math.isfinite(self._half) else 1.0
        share = f"{100.0 * self._plane.share:.0f} %"
        return {
            "name": "plane",
            "title": "Map of the recording",
            "extent": (-half, -half, half, half),
            "axes": (f"two principal directions: {share} of the spread →", "↑"),
        }

    def places(self, points: Points) -> np.ndarray:
        return self._plane.places(points)

    def glyphs(self, points: Points) -> None:
        return None
