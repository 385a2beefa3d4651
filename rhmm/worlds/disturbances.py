"""Events that spoil observations and leave the parameters of a world alone."""

from dataclasses import dataclass

import numpy as np

from rhmm.manifolds import Manifold
from rhmm.validation import check_number
from rhmm.worlds.event import (
    BLOCK,
    Disturbance,
    check_multiple,
    check_share,
    register_event,
)

_FARTHEST = 20.0
"""On curved spaces double precision cannot hold much farther points."""


@register_event
@dataclass(frozen=True, kw_only=True)
class Outliers(Disturbance):
    """For so many observations, a share of them lies at a distance from the centre of mass of the
    true means, in any direction."""

    name = "outliers"
    label = "a burst of outliers"
    needs_truth = True
    share: float
    length: int
    distance: float = 8.0

    def check_fields(self) -> None:
        """Raise a ValueError that names the first wrong field."""
        self._set("share", check_share("share", self.share))
        self._set("length", check_multiple("length", self.length))
        distance = check_number("distance", self.distance, at_least=0.0)
        if not 0.0 < distance <= _FARTHEST:
            raise ValueError(
                f"distance must be above 0 and at most {_FARTHEST:g}, not {distance:g}"
            )
        self._set("distance", distance)

    def check(self, manifold: Manifold) -> None:
        """Raise a ValueError if outliers of the manifold cannot be drawn."""
        try:
            manifold.from_normal_coordinates(manifold.origin, np.zeros((1, manifold.dim)))
        except ValueError as error:
            raise ValueError(f"outliers cannot be drawn: {error}") from None

    def disturb(self, manifold, truth, X, latest, rng) -> np.ndarray:
        """Put points far away in the place of some of X."""
        hit = rng.random(BLOCK) < self.share
        directions = rng.standard_normal((int(hit.sum()), manifold.dim))
        lengths = np.linalg.norm(directions, axis=1, keepdims=True)
        centre = manifold.mean(truth.means)
        X[hit] = manifold.from_normal_coordinates(centre, self.distance * directions / lengths)
        return hit


@register_event
@dataclass(frozen=True, kw_only=True)
class Missing(Disturbance):
    """For so many observations, a share of them is missing."""

    name = "missing"
    label = "observations are missing"
    share: float
    length: int

    def check_fields(self) -> None:
        """Raise a ValueError that names the first wrong field."""
        self._set("share", check_share("share", self.share))
        self._set("length", check_multiple("length", self.length))

    def disturb(self, manifold, truth, X, latest, rng) -> np.ndarray:
        """Put NaN in the place of some of X."""
        hit = rng.random(BLOCK) < self.share
        X[hit] = np.nan
        return hit


@register_event
@dataclass(frozen=True, kw_only=True)
class StuckSensor(Disturbance):
    """For so many observations the sensor repeats the latest one before them."""

    name = "stuck"
    label = "the sensor is stuck"
    length: int

    def check_fields(self) -> None:
        """Raise a ValueError that names the first wrong field."""
        self._set("length", check_multiple("length", self.length))

    def disturb(self, manifold, truth, X, latest, rng) -> np.ndarray:
        """Put the latest observation in the place of X; at the very beginning its first one."""
        hit = np.ones(BLOCK, bool)
        hit[0] = not np.isnan(latest).any()
        X[:] = latest if hit[0] else X[0].copy()
        return hit
