"""Distances and centres of mass of positive definite matrices, beside pyriemann."""

from functools import partial

import numpy as np
from pyriemann.geometry.distance import distance, distance_riemann
from pyriemann.geometry.mean import mean_riemann

from benchmarks.timing import Comparison, Race, seconds
from rhmm import SPD


def _cloud(size: int, count: int, seed: int = 0) -> np.ndarray:
    """Matrices whose distance to their centre is about 1, whatever their size."""
    manifold = SPD(size)
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((size, size))
    centre = root @ root.T + size * np.eye(size)
    return manifold.sample(centre, 1.0 / np.sqrt(manifold.dim), count, rng)


def _distances_to_one(size: int, count: int) -> Race:
    manifold, X = SPD(size), _cloud(size, count)
    reference = _cloud(size, 1, seed=1)[0]
    _check_close(manifold.dist(X, reference), distance_riemann(X, reference), 1e-9)
    return Race(
        ours=seconds(lambda: manifold.dist(X, reference)),
        peers={
            "pyriemann distance": seconds(lambda: distance(X, reference)),
            "pyriemann distance_riemann": seconds(lambda: distance_riemann(X, reference)),
        },
    )


def _distances_in_pairs(size: int, count: int) -> Race:
    manifold, X, Y = SPD(size), _cloud(size, count), _cloud(size, count, seed=1)
    _check_close(manifold.dist(X, Y), distance_riemann(X, Y), 1e-9)
    return Race(
        ours=seconds(lambda: manifold.dist(X, Y)),
        peers={
            "pyriemann distance": seconds(lambda: distance(X, Y)),
            "pyriemann distance_riemann": seconds(lambda: distance_riemann(X, Y)),
        },
    )


def _mean(size: int, count: int) -> Race:
    manifold, X = SPD(size), _cloud(size, count)
    _check_close(manifold.mean(X), mean_riemann(X), 1e-7)
    return Race(
        ours=seconds(lambda: manifold.mean(X)),
        peers={"pyriemann mean_riemann": seconds(lambda: mean_riemann(X))},
    )


def _check_close(ours, theirs, tolerance: float) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max())


def _both_sizes(name: str, what: str, prepare) -> list[Comparison]:
    return [
        Comparison(
            f"{name}-{size}x{size}",
            what.format(f"{count:,} {size}×{size} matrices"),
            3.0,
            partial(prepare, size, count),
        )
        for size, count in ((2, 10_000), (8, 1_000))
    ]


COMPARISONS = [
    *_both_sizes("spd-distances", "distances of {} to one", _distances_to_one),
    *_both_sizes("spd-pairs", "distances of {} each to its partner", _distances_in_pairs),
    *_both_sizes("spd-mean", "centre of mass of {}", _mean),
]
