"""Re-centring as a stream goes: each observation is moved by what is known of its recording so far.

`rhmm.recentring` needs whole recordings. Here the centre of mass of the present recording follows
its observations, c ← c #_{1/n} y: on the spaces of this package that converges to the centre of
mass (Sturm). Nothing looks ahead, and nothing is kept but the centre and what it counts for.
"""

import numpy as np
from sklearn.base import TransformerMixin

from rhmm._jit import copy_into, kernel
from rhmm.estimator import Estimator
from rhmm.manifolds import Manifold, verbs
from rhmm.validation import check_lengths, check_number


class StreamingRecentring(TransformerMixin, Estimator):
    """The translation that takes the running centre of mass of a recording to the origin.

    `partial_fit_transform` is what a learner that streams needs: it moves each observation by the
    centre of its recording up to and with it. A row with NaN is a missing observation, and stays
    one.

    Parameters
    ----------
    manifold
        Where the observations live.
    carried
        How many observations the centre of the recording before counts for when the next one
        begins, if it had as many. 0: each recording begins with its own first observation, as is
        best where each begins in the same state. Where recordings differ little and begin anywhere,
        the centre before is the better guess.

    After `partial_fit`: `centre_` (*point_shape), the present centre, and `weight_`, how many
    observations it counts for.
    """

    def __init__(self, manifold: Manifold, *, carried: float = 0.0):
        self.manifold = manifold
        self.carried = carried

    def check_options(self) -> None:
        """Raise a ValueError that names the first wrong argument of the constructor."""
        super().check_options()
        check_number("carried", self.carried, at_least=0.0)
        origin = self.manifold.origin
        self.manifold.normal_coordinates(origin, origin[None])  # not all manifolds have them

    def fit(self, X, y=None, *, lengths=None) -> "StreamingRecentring":
        """Forget everything, then follow the observations X (T, *point_shape); `y` is ignored."""
        self.__dict__.pop("centre_", None)
        return self.partial_fit(X, lengths=lengths)

    def partial_fit(self, X, y=None, *, lengths=None) -> "StreamingRecentring":
        """Follow the observations X, in order; `y` is ignored.

        Without `lengths` X goes on with the recording of the call before; with them X holds
        recordings of so many observations, the first of which goes on with the open one, and all of
        them end. Any chunking gives the same, bit for bit.
        """
        self._follow(X, lengths)
        return self

    def partial_fit_transform(self, X, *, lengths=None) -> np.ndarray:
        """`partial_fit`, and each observation moved by the centre that is known with it."""
        X, observed, centres = self._follow(X, lengths)
        moved = np.full(X.shape, np.nan)
        for t in np.flatnonzero(observed):
            moved[t] = self._moved(X[t : t + 1], centres[t], self.manifold.origin)[0]
        return moved

    def transform(self, X) -> np.ndarray:
        """X of shape (T, *point_shape) moved by the present centre; changes nothing."""
        return self._all_moved(X, self._centre, self.manifold.origin)

    def inverse_transform(self, X) -> np.ndarray:
        """The inverse of `transform`: what was at the origin is at the present centre."""
        return self._all_moved(X, self.manifold.origin, self._centre)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "centre_")

    @property
    def _centre(self) -> np.ndarray:
        if not self.__sklearn_is_fitted__():
            raise self._not_fitted("call fit or partial_fit first")
        return self.centre_

    def _follow(self, X, lengths) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Take in X; returns it, what of it is not missing, and the centre after each, (T, …)."""
        if not self.__sklearn_is_fitted__():
            self.check_options()
            self.centre_, self.weight_, self._has_ended = self.manifold.origin.copy(), 0.0, False
        X, observed = self.manifold.observations("X", X, allow_all_missing=True)
        ends, begins = np.cumsum(check_lengths(lengths, len(X))), np.zeros(len(X), bool)
        begins[ends[:-1]] = True
        begins[0] = self._has_ended
        centres = np.empty(X.shape)
        self.weight_ = running_centres(
            self.manifold.geometry, X, observed, begins, float(self.carried), self.weight_,
            self.centre_, centres,
        )  # fmt: skip
        self._has_ended = lengths is not None
        return X, observed, centres

    def _all_moved(self, X, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        X, observed = self.manifold.observations("X", X, allow_all_missing=True)
        moved = np.full(X.shape, np.nan)
        moved[observed] = self._moved(X[observed], source, target)
        return moved

    def _moved(self, points: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        coordinates, _ = self.manifold.normal_coordinates(source, points)
        return self.manifold.from_normal_coordinates(target, coordinates)


@kernel
def running_centres(geometry, X, observed, begins, carried, weight, centre, centres):
    """Move `centre`, which counts for `weight` observations, with each of X; returns its weight."""
    moved = np.empty_like(centre)
    for t in range(len(X)):
        if begins[t]:
            weight = min(weight, carried)
        if observed[t]:
            weight += 1.0
            if weight == 1.0:
                copy_into(moved, X[t])
            else:
                verbs.geodesic_into(geometry, centre, X[t], 1.0 / weight, moved)
            if verbs.holds(geometry, moved):  # else the centre stays where it is
                copy_into(centre, moved)
        copy_into(centres[t], centre)
    return weight
