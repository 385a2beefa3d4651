"""Riemannian K-means: Lloyd's algorithm with centres of mass, from k-means++ seeds."""

import numpy as np

from rhmm._jit import kernel
from rhmm.exceptions import warn_degenerate, warn_not_converged
from rhmm.manifolds import Manifold, check_manifold
from rhmm.parameters import MIN_SIGMA, Parameters, parameters_from_labels
from rhmm.validation import as_generator, check_integer, check_lengths, check_number


class RiemannianKMeans:
    """Cluster points of a manifold around `n_clusters` Riemannian centres of mass.

    The best of `n_init` starts is kept: a single start often puts two centres in one cluster. Every
    start is judged after a few iterations, and only the best of them is brought to the end.

    A cluster that empties takes the point furthest from its own centre. With fewer distinct points
    than clusters the surplus clusters stay empty, their centres on top of others, with a warning.

    Attributes after `fit`: `cluster_centers_`, `labels_`, `inertia_` (Σ d² to the own centre),
    `n_iter_`, `converged_`.
    """

    def __init__(
        self,
        manifold: Manifold,
        n_clusters: int,
        *,
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state=None,
    ):
        self.manifold = check_manifold(manifold)
        self.n_clusters = check_integer("n_clusters", n_clusters, at_least=1)
        self.n_init = check_integer("n_init", n_init, at_least=1)
        self.max_iter = check_integer("max_iter", max_iter, at_least=1)
        self.tol = check_number("tol", tol, at_least=0.0)
        self.random_state = random_state

    def fit(self, X) -> "RiemannianKMeans":
        X, observed = self.manifold.observations("X", X)
        points = X[observed]
        if len(points) < self.n_clusters:
            raise ValueError(
                f"X must hold at least n_clusters={self.n_clusters} observations, not {len(points)}"
            )
        rng = as_generator("random_state", self.random_state)
        best = None
        for _ in range(self.n_init):
            run = _Lloyd(
                self.manifold, points, _plus_plus(self.manifold, points, self.n_clusters, rng)
            )
            run.advance(min(_SCREENING, self.max_iter), self.tol)
            if best is None or run.inertia < best.inertia:
                best = run
        best.advance(self.max_iter, self.tol)
        if not best.converged:
            warn_not_converged(f"K-means ({self.max_iter} iterations)")
        empty = self.n_clusters - len(np.unique(best.labels))
        if empty:
            warn_degenerate(
                f"X has fewer distinct points than n_clusters={self.n_clusters}: "
                f"{empty} cluster(s) stayed empty"
            )
        self.cluster_centers_ = best.centres
        self.labels_ = np.full(len(X), -1)
        self.labels_[observed] = best.labels
        self.inertia_ = best.inertia
        self.n_iter_ = best.iterations
        self.converged_ = best.converged
        self._d2 = best.d2
        return self

    def predict(self, X) -> np.ndarray:
        """The nearest centre of every point; −1 where it is missing (NaN)."""
        X, observed = self.manifold.observations("X", X)
        self._check_fitted()
        labels = np.full(len(X), -1)
        d2 = self.manifold.squared_distances(X[observed], self.cluster_centers_)
        labels[observed] = _nearest(d2)[0]
        return labels

    def _check_fitted(self) -> None:
        if not hasattr(self, "cluster_centers_"):
            raise AttributeError("these clusters have no centres yet: call fit first")

    def to_parameters(self, lengths=None, min_sigma: float = MIN_SIGMA) -> Parameters:
        """The paper's start of an HMM, from the clusters of the points given to `fit`.

        `lengths` are the sizes of the sequences that these points are; None if they are one.
        """
        self._check_fitted()
        min_sigma = self.manifold.check_one_sigma("min_sigma", min_sigma)
        observed = self.labels_ >= 0
        lengths = check_lengths(lengths, len(observed))
        return parameters_from_labels(
            self.manifold,
            self.labels_[observed],
            observed,
            np.cumsum(lengths),
            self.cluster_centers_,
            self._d2,
            min_sigma,
        )


_SCREENING = 8
"""Iterations of every start before the best of them goes on alone."""

_MOST_STEPS = 50
"""Of the search for a centre of mass."""


class _Lloyd:
    """One run of Lloyd's algorithm that can be paused and resumed."""

    def __init__(self, manifold: Manifold, points: np.ndarray, centres: np.ndarray):
        self.manifold, self.points, self.centres = manifold, points, centres
        self.iterations, self.converged = 0, False
        self._steps = 1
        self._assign()

    def _assign(self) -> None:
        self.labels, self.d2 = _nearest(self.manifold.squared_distances(self.points, self.centres))
        self.inertia = float(self.d2.sum())

    def advance(self, max_iter: int, tol: float) -> None:
        """Iterate until the centres stand still, or `max_iter` iterations in all."""
        while not self.converged and self.iterations < max_iter:
            self.iterations += 1
            self._refill_empty()
            before, inertia = self.centres.copy(), self.inertia
            for i in range(len(self.centres)):
                members = self.points.take(np.flatnonzero(self.labels == i), axis=0)
                if len(members):
                    weights = np.ones((1, len(members)))
                    # One step is enough: labels change more than centres at first, and once they
                    # stand still these steps converge by themselves, unless points lie so far
                    # apart on a curved space that one goes too far.
                    start = before[i : i + 1]
                    moved, _, _ = self.manifold.recentre(members, weights, start, self._steps)
                    self.centres[i] = moved[0]
            self._assign()
            if self.inertia > (1.0 + 1e-9) * inertia:
                self._steps = _MOST_STEPS
            shift2 = np.diagonal(self.manifold.squared_distances(before, self.centres))
            self.converged = bool(shift2.max() <= tol**2)

    def _refill_empty(self) -> None:
        sizes = np.bincount(self.labels, minlength=len(self.centres))
        for i in np.flatnonzero(sizes == 0):
            furthest = int(np.argmax(self.d2))
            if self.d2[furthest] == 0.0:
                return  # all points sit on centres: fewer distinct points than clusters
            self.centres[i] = self.points[furthest]
            self.labels[furthest] = i
            self.d2[furthest] = 0.0


def _plus_plus(manifold: Manifold, points: np.ndarray, count: int, rng) -> np.ndarray:
    """k-means++ seeds: each next one drawn with probability ∝ d² to the nearest so far."""
    chosen = [int(rng.integers(len(points)))]
    nearest = manifold.squared_distances(points, points[chosen])[0]
    while len(chosen) < count:
        cumulative = np.cumsum(nearest)
        pick = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
        chosen.append(min(pick, len(points) - 1))
        nearest = np.minimum(nearest, manifold.squared_distances(points, points[chosen[-1:]])[0])
    return points[chosen]


@kernel
def _nearest(d2):
    """The row of the smallest entry in each column, and that entry."""
    labels, smallest = np.zeros(d2.shape[1], np.int64), d2[0].copy()
    for i in range(1, len(d2)):
        for t in range(d2.shape[1]):
            if d2[i, t] < smallest[t]:
                labels[t] = i
                smallest[t] = d2[i, t]
    return labels, smallest
