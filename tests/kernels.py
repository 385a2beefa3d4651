"""``python -m tests.kernels``: compile what only tests need, before they begin.

The dashboard compiles the kernels of its own spaces, see `dashboard.compute.kernels`. These are
other geometries, and functions that no page calls. The processes of a test run would all wait for
the compiler, and some compile the same; here two do it side by side, and the tests find everything
on disk.
"""

import multiprocessing
import os
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from rhmm import (
    SPD,
    AutoMemoryRiemannianHMM,
    Euclidean,
    Hyperbolic,
    LogEuclideanSPD,
    Manifold,
    RiemannianHMM,
    RiemannianKMeans,
    StreamingRecentring,
    StreamingRiemannianHMM,
    WindowedRiemannianHMM,
)
from rhmm._jit import cache_folder, cache_stamp
from tests.manifolds import in_kernels
from tests.manifolds.bare import BareHyperbolic, BareSPD
from tests.manifolds.positive import Positive

OURS = [SPD(2), Hyperbolic(2), Euclidean(2), LogEuclideanSPD(2)]
MANIFOLDS = [BareSPD(2), *OURS, BareHyperbolic(2), Positive(2)]
"""What takes longest first."""
MANY = 1_000
"""Observations after which the automatic learner has looked at its sensors, too."""


def compile_for(manifold: Manifold) -> None:
    warnings.simplefilter("ignore")
    few = cloud(manifold, 60)
    measure(manifold, few)
    if manifold in OURS:
        measure_finely(manifold, few)
        StreamingRecentring(manifold).partial_fit_transform(few)
    if not isinstance(manifold, BareSPD | BareHyperbolic):
        learn(manifold, few)
    if manifold in OURS and manifold != Hyperbolic(2):
        AutoMemoryRiemannianHMM(manifold, 2, random_state=0).fit(cloud(manifold, MANY))
    if manifold in (Hyperbolic(2), SPD(2)):
        learn_shapes(manifold, StreamingRiemannianHMM)
    if manifold in OURS and manifold != Euclidean(2):
        learn_shapes(manifold, AutoMemoryRiemannianHMM)


def cloud(manifold: Manifold, count: int) -> np.ndarray:
    shape = manifold.point_shape
    centre = np.eye(shape[0]) if len(shape) == 2 else np.full(shape, 0.1)
    return manifold.sample(centre, 0.3, count, 0)


def measure(manifold: Manifold, points: np.ndarray) -> None:
    """Call what every geometry has."""
    x, y = points[:20], points[20:40]
    manifold.dist(x, y)
    manifold.squared_distances(x, y[:3])
    manifold.norm(x, manifold.log(x, y))
    manifold.exp(x, manifold.log(x, y))
    manifold.geodesic(x, y, 0.5)
    manifold.mean(points, np.ones(len(points)))
    weights, centres = np.ones((2, len(points))), points[:2].copy()
    sums = manifold.centre_sums(points, weights, centres)
    manifold.centre_steps(sums, weights.sum(axis=1), centres, 1.0)
    geometry, centre = manifold.geometry, points[0].copy()
    in_kernels.weighted_step(geometry, points, 2, 7, np.full(5, 0.2), 0.5, centre)
    in_kernels.distances_to(geometry, points, 2, 7, centre)
    in_kernels.distances_from(geometry, points, 2, 7, centres)
    taus, totals = np.full(2, 0.5), np.empty(2)
    in_kernels.weighted_steps(geometry, points, 2, 7, weights[:, :5].copy(), taus, centres, totals)
    d2 = manifold.squared_distances(points, centres)
    in_kernels.approach(geometry, points, weights[0], centre, d2[0])


def measure_finely(manifold: Manifold, points: np.ndarray) -> None:
    """Call what only our own geometries have."""
    in_kernels.holds(manifold.geometry, points[0])
    coordinates, log_volume = np.empty((5, manifold.dim)), np.empty(5)
    in_kernels.normal_coordinates(
        manifold.geometry, points, 2, 7, points[0], coordinates, log_volume
    )
    manifold.frame_turn(points[0], points[1])


def learn(manifold: Manifold, points: np.ndarray) -> None:
    RiemannianKMeans(manifold, 2, random_state=0).fit(points)
    model = RiemannianHMM(manifold, 2, random_state=0).fit(points)
    model.decode(points)
    model.predict_proba(points)
    StreamingRiemannianHMM(manifold, 2, window=40, random_state=0).fit(points)
    WindowedRiemannianHMM(manifold, 2, window=40, random_state=0).fit(points)


def learn_shapes(manifold: Manifold, learner: type) -> None:
    learner(manifold, 2, emission="tied", random_state=0).fit(cloud(manifold, MANY))


def main() -> None:
    mark = cache_folder() / f"compiled-{cache_stamp()}-tests"
    if mark.exists():
        return
    print("Compiling what only tests need, once for this version of the engine.", flush=True)
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(os.cpu_count() or 1, 2), spawned) as pool:
        list(pool.map(compile_for, MANIFOLDS))
    mark.touch()


if __name__ == "__main__":
    main()
