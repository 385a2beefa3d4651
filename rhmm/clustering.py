"""Clusters of points on a manifold: k-means++ seeds and Lloyd's algorithm.

K-means is built on it, and every learner that needs a place to start from.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import copy_into, kernel, lean_kernel
from rhmm.exceptions import warn_degenerate, warn_not_converged
from rhmm.manifolds import Manifold, verbs
from rhmm.vector_math import drawn, total

_SCREENING = 8
"""Iterations of every start before the best of them goes on alone."""

_SAME = 1e-9
"""The share of themselves by which two inertias may differ that mean the same clusters."""
_MOST_STEPS = 50
"""Of the search for a centre of mass, where one step at a time overshoots."""


class Clusters(NamedTuple):
    """The result of Lloyd's algorithm on points of shape (T, *point_shape)."""

    centres: np.ndarray
    """Shape (K, *point_shape)."""
    labels: np.ndarray
    """The nearest centre of every point, shape (T,)."""
    d2: np.ndarray
    """The squared distance of every point to its own centre, shape (T,)."""
    inertia: float
    """Σ d²."""
    n_iter: int
    converged: bool


def best_clusters(
    manifold: Manifold,
    points: np.ndarray,
    count: int,
    rng: np.random.Generator,
    *,
    n_init: int,
    max_iter: int,
    tol: float,
) -> Clusters:
    """The clusters of least inertia from `n_init` starts.

    Every start is judged after a few iterations, and only the best of them is brought to the end.
    Warns if that did not converge, or if clusters stayed empty.
    """
    runs = []
    for _ in range(n_init):
        run = _Lloyd(manifold, points, plus_plus_seeds(manifold, points, count, rng))
        run.advance(min(_SCREENING, max_iter), tol)
        runs.append(run)
    # Several starts may lead to the same clusters: rounding must not choose their names.
    least = min(run.inertia for run in runs)
    best = next((run for run in runs if run.inertia <= (1.0 + _SAME) * least), runs[0])
    best.advance(max_iter, tol)
    if not best.converged:
        warn_not_converged(f"K-means ({max_iter} iterations)")
    empty = count - len(np.unique(best.labels))
    if empty:
        warn_degenerate(
            f"X has fewer distinct points than the {count} clusters asked for: "
            f"{empty} cluster(s) stayed empty"
        )
    return Clusters(
        best.centres, best.labels, best.d2, best.inertia, best.iterations, best.converged
    )


class _Lloyd:
    """One run of Lloyd's algorithm that can be paused and resumed."""

    def __init__(self, manifold: Manifold, points: np.ndarray, centres: np.ndarray):
        self.manifold, self.points, self.centres = manifold, points, centres
        self.iterations, self.converged = 0, False
        self._steps = 1
        self._assign()

    def _assign(self) -> None:
        self.labels, self.d2 = nearest(self.manifold.squared_distances(self.points, self.centres))
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
        """Give an empty cluster the point that is furthest from its own centre."""
        sizes = np.bincount(self.labels, minlength=len(self.centres))
        for i in np.flatnonzero(sizes == 0):
            furthest = int(np.argmax(self.d2))
            if self.d2[furthest] == 0.0:
                return  # all points sit on centres: fewer distinct points than clusters
            self.centres[i] = self.points[furthest]
            self.labels[furthest] = i
            self.d2[furthest] = 0.0


@kernel
def nearest(d2):
    """The row of the smallest entry in each column of d² (K, T), and that entry; both (T,)."""
    labels, smallest = np.zeros(d2.shape[1], np.int64), d2[0].copy()
    for i in range(1, len(d2)):
        for t in range(d2.shape[1]):
            if d2[i, t] < smallest[t]:
                labels[t] = i
                smallest[t] = d2[i, t]
    return labels, smallest


# k-means++


def plus_plus_seeds(
    manifold: Manifold, points: np.ndarray, count: int, rng, trials: int = 1
) -> np.ndarray:
    """k-means++: each next seed is drawn with probability ∝ d² to the nearest so far.

    With several `trials` it is the best of so many draws.
    """
    size = len(points)
    uniforms = np.empty((count, trials))
    uniforms[0] = (rng.integers(size) + 0.5) / size
    uniforms[1:] = rng.random((count - 1, trials))
    seeds, d2 = np.empty((count, *points.shape[1:])), np.empty((count, size))
    _seed_points(manifold.geometry, points, uniforms, seeds, d2)
    return seeds


@kernel
def _seed_points(geometry, points, uniforms, seeds, d2):
    place_seeds(geometry, points, verbs.prepared(geometry, points), uniforms, seeds, d2)


@kernel
def place_seeds(geometry, points, layout, uniforms, seeds, d2):
    """Greedy k-means++: of a few points drawn ∝ d² to the seeds so far, the best is the next.

    ``uniforms[i]`` has a random number for each point that competes to be seed i; with one of them
    this is plain k-means++. Fills in d² (K, T) of all points to the seeds, and returns the mean d²
    to the nearest.
    """
    return _place(geometry, points, layout, uniforms, seeds, d2, np.empty((3, len(points))))


@lean_kernel
def _place(geometry, points, layout, uniforms, seeds, d2, room):
    size, smallest, trial, nearest = len(points), room[0], room[1], room[2]
    for t in range(size):
        smallest[t] = math.inf
    best = math.inf
    for i in range(len(seeds)):
        before, best = best, math.inf
        for k in range(uniforms.shape[1]):
            u = uniforms[i, k]
            pick = drawn(smallest, before, u) if i > 0 else min(int(u * size), size - 1)
            verbs.distances_to(geometry, layout, 0, size, points[pick], trial)
            for t in range(size):
                nearest[t] = min(smallest[t], trial[t])
            left = total(nearest)
            if left < best:
                best = left
                copy_into(seeds[i], points[pick])
                copy_into(d2[i], trial)
        for t in range(size):
            smallest[t] = min(smallest[t], d2[i, t])
    return best / size
