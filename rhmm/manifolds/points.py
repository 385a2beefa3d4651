"""The points of a manifold as arrays: what is one, and checks of what comes in and goes out."""

from abc import ABC, abstractmethod

import numpy as np

from rhmm.manifolds import verbs
from rhmm.validation import as_numbers, check_unmasked, nan_where_masked


class PointSet(ABC):
    """Points are arrays of shape `point_shape`, batches of them ``(..., *point_shape)``."""

    point_shape: tuple[int, ...]
    """Shape of the array that holds one point."""

    @abstractmethod
    def belongs(self, x) -> np.ndarray:
        """Whether each of `x` is a point of the manifold that double precision can work with.

        NaN must not belong.
        """

    @abstractmethod
    def why_not(self, point: np.ndarray) -> str:
        """Why `point`, of shape `point_shape`, does not belong, as the end of a sentence."""

    def as_array(self, name, x) -> np.ndarray:
        """`x` as an array of numbers in the shape of points, which may be NaN or no points."""
        x = as_numbers(name, x)
        if x.shape[x.ndim - len(self.point_shape) :] != self.point_shape:
            raise ValueError(
                f"{name} must be of shape {self._shape('...')} on {self!r}, not {x.shape}"
            )
        return x

    def points(self, name, x) -> np.ndarray:
        """`x` as an array of checked points; otherwise a ValueError that speaks of `name`."""
        check_unmasked(name, x)
        x = self.as_array(name, x)
        good = np.asarray(self.belongs(x))
        if not good.all():
            where = tuple(int(i) for i in np.argwhere(~good)[0])
            label = f"{name}[{', '.join(map(str, where))}]" if where else name
            raise ValueError(f"{label} is not a point of {self!r}: {self.why_not(x[where])}")
        return x

    def observations(self, name, X, *, allow_all_missing=False) -> tuple[np.ndarray, np.ndarray]:
        """A sequence of points, and which of them are there: a row with NaN is missing.

        So is one with masked entries.
        """
        X = self.as_array(name, nan_where_masked(X))
        if X.ndim != 1 + len(self.point_shape) or len(X) == 0:
            raise ValueError(
                f"{name} must hold observations in shape {self._shape('T')}, not {X.shape}"
            )
        good = self.belongs(X)
        if good.all():  # NaN does not belong
            return X, np.ones(len(X), bool)
        observed = verbs.without_nan(X.reshape(len(X), -1))
        if not (observed.any() or allow_all_missing):
            raise ValueError(f"{name} must hold at least one observation that is not NaN")
        good = good | ~observed
        if not good.all():
            t = int(np.argmin(good))
            raise ValueError(f"{name}[{t}] is not a point of {self!r}: {self.why_not(X[t])}")
        return X, observed

    def _checked_result(self, culprit, points, lead):
        if not self.belongs(points).all():
            raise ValueError(
                f"{culprit} leads to points of {self!r} that double precision cannot hold"
            )
        return points.reshape(lead + self.point_shape)

    def _tangents(self, v) -> np.ndarray:
        check_unmasked("v", v)
        v = self.as_array("v", v)
        if not np.isfinite(v).all():
            raise ValueError("v must be finite")
        return v

    def _common_lead(self, x, name, y) -> tuple[int, ...]:
        return broadcast(name, self._lead(y), self._lead(x))

    def _spread(self, lead, *arrays) -> tuple[np.ndarray, ...]:
        """The arrays as flat batches over the leading axes `lead`."""
        return tuple(self._flat(np.broadcast_to(a, lead + self.point_shape)) for a in arrays)

    def _shape(self, lead: str) -> str:
        return f"({lead}, {', '.join(map(str, self.point_shape))})"

    @property
    def _point_size(self) -> int:
        return int(np.prod(self.point_shape))

    def _lead(self, x):
        return x.shape[: x.ndim - len(self.point_shape)]

    def _flat(self, x):
        return np.require(x.reshape((-1, *self.point_shape)), float, ["C", "W"])


def broadcast(name, shape, other) -> tuple[int, ...]:
    """The shape that batches of these two shapes have together; `name` is what has the first."""
    try:
        return np.broadcast_shapes(shape, other)
    except ValueError:
        raise ValueError(f"{name} of batch shape {shape} does not fit {other}") from None
