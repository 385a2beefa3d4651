"""Streams that are hard on arithmetic, and whether learners come through them.

A case is drawn from a seed: a manifold, a stream of points that are equal, extreme, alternating or
of an unusual scale, and a learner with its options. A learner may refuse the stream with a
ValueError; otherwise all that it has learned must be finite.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

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
    StreamingRiemannianHMM,
    WindowedRiemannianHMM,
)
from rhmm.learners.online import OnlineHMM

MANIFOLDS: list[Manifold] = [
    *(Euclidean(d) for d in (1, 2, 3)),
    *(Hyperbolic(d) for d in (1, 2, 3, 5)),
    *(kind(m) for kind in (SPD, LogEuclideanSPD) for m in (1, 2, 3)),
]


class Case(NamedTuple):
    """A learner that has seen nothing yet, and the stream it is to learn."""

    estimator: Any
    X: np.ndarray
    """Shape (T, *point_shape)."""
    kind: str
    """Of the stream, one of `STREAMS`."""


def draw_case(seed: int) -> Case:
    """The case of that seed; the same on every machine."""
    rng = np.random.default_rng(seed)
    manifold = MANIFOLDS[rng.integers(len(MANIFOLDS))]
    kind = list(STREAMS)[rng.integers(len(STREAMS))]
    X = STREAMS[kind](manifold, rng, int(rng.integers(1, 120)))
    if rng.random() < 0.2:
        X[rng.random(len(X)) < rng.random()] = np.nan
    return Case(_estimator(manifold, rng), X, kind)


def verdict(case: Case) -> str:
    """``"finite"``, ``"refused: …"`` with a sentence about X, or what went wrong.

    The learner is judged by its parameters, and by the likelihood of its model.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            case.estimator.fit(case.X)
            is_online = isinstance(case.estimator, OnlineHMM)
            if is_online and not case.estimator.__sklearn_is_fitted__():
                return "finite"  # too few observations to begin with
            parameters = _parameters(case.estimator)
            if not all(np.isfinite(value).all() for value in parameters):
                return "not finite"
            score = case.estimator.to_hmm().score(case.X)
        except ValueError as error:
            return f"{'refused' if str(error).startswith('X') else 'unclear'}: {error}"
        except Exception as error:
            return f"wrong error: {type(error).__name__}"
    return "finite" if np.isfinite(score) else "score not finite"


def _parameters(estimator) -> list[np.ndarray]:
    """All that it has learned."""
    if isinstance(estimator, RiemannianKMeans):
        return [estimator.cluster_centers_, np.array(estimator.inertia_)]
    found = [estimator.transmat_, estimator.means_, estimator.sigmas_]
    if isinstance(estimator, RiemannianHMM):
        return [*found, estimator.startprob_, np.array(estimator.monitor_.log_likelihood)]
    return [*found, *(array for array in estimator._state if array.dtype == float)]


def _estimator(manifold: Manifold, rng: np.random.Generator):
    n = int(rng.integers(1, 5))
    seed = int(rng.integers(2**31))
    min_sigma = float(rng.choice([1e-3, 1e-3, 1e-12, 1e-60, 1.0, manifold.largest_sigma]))
    window = int(rng.integers(max(2, n), 40))
    streaming = {"lag": int(rng.integers(1, 9)), "init": str(rng.choice(["cold", "kmeans"]))}
    match rng.integers(6):
        case 0 | 1:
            memory = str(rng.choice(["growing", "fixed"]))
            return StreamingRiemannianHMM(
                manifold, n, window=window, memory=memory, min_sigma=min_sigma, random_state=seed,
                **streaming,
            )  # fmt: skip
        case 2:
            return WindowedRiemannianHMM(
                manifold, n, window=window, min_sigma=min_sigma, random_state=seed,
                transition_update=str(rng.choice(["convex", "paper"])),
            )  # fmt: skip
        case 3:
            return AutoMemoryRiemannianHMM(
                manifold, n, min_sigma=min_sigma, random_state=seed, **streaming
            )
        case 4:
            return RiemannianHMM(manifold, n, min_sigma=min_sigma, n_iter=20, random_state=seed)
        case _:
            return RiemannianKMeans(manifold, n, n_init=2, max_iter=20, random_state=seed)


# Points


def extreme_points(manifold: Manifold, rng: np.random.Generator, count: int) -> np.ndarray:
    """Points at and near the ends of what the manifold admits, shape (count, *point_shape)."""
    found = [np.empty((0, *manifold.point_shape))]
    while sum(map(len, found)) < count:
        if isinstance(manifold, Euclidean):
            exponents = rng.choice([-300.0, -30.0, 0.0, 15.0, 29.9, 30.0], (count, 1))
            x = _directions(rng, (count, manifold.size)) * 10.0**exponents
        elif isinstance(manifold, Hyperbolic):
            gaps = 10.0 ** rng.uniform(-15.3, rng.choice([-13.0, 0.0]), (count, 1))
            x = _directions(rng, (count, manifold.size)) * (1.0 - gaps)
        else:
            x = _extreme_matrices(manifold.size, rng, count)
        found.append(x[manifold.belongs(x)])
    return np.concatenate(found)[:count]


def _directions(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    x = rng.standard_normal(shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def _extreme_matrices(size: int, rng: np.random.Generator, count: int) -> np.ndarray:
    """Near-singular matrices, some of them of very small or large entries."""
    frames = np.linalg.qr(rng.standard_normal((count, size, size)))[0]
    spread = rng.choice([0.0, 3.0, 6.0, 12.0, 14.0])
    values = 10.0 ** rng.uniform(-spread, 0.0, (count, 1, size))
    scale = 10.0 ** (rng.choice([0.0, 0.0, 10.0, 100.0, 300.0]) * rng.uniform(-1.0, 1.0))
    x = (frames * values) @ np.swapaxes(frames, 1, 2) * scale
    return 0.5 * (x + np.swapaxes(x, 1, 2))


# Streams


def _equal(manifold, rng, size):
    return np.repeat(extreme_points(manifold, rng, 1), size, axis=0)


def _alternating(manifold, rng, size):
    return extreme_points(manifold, rng, 2)[np.arange(size) % 2]


def _few_distinct(manifold, rng, size):
    return extreme_points(manifold, rng, 4)[rng.integers(4, size=size)]


def _outlier(manifold, rng, size):
    X = _around(manifold, rng, size)
    X[rng.integers(size)] = extreme_points(manifold, rng, 1)[0]
    return X


def _around(manifold, rng, size):
    """Next to one point, at a distance of any scale; the point itself where that leaves it."""
    centre = extreme_points(manifold, rng, 1)[0]
    noise = rng.standard_normal((size, *manifold.point_shape))
    scale = 10.0 ** rng.uniform(-20.0, -1.0)
    if len(manifold.point_shape) == 2:
        noise = noise + np.swapaxes(noise, 1, 2)
        scale *= np.abs(centre).max()
    X = centre + scale * noise
    X[~manifold.belongs(X)] = centre
    return X


def _tiny(manifold, rng, size):
    """Of a scale far below any σ, around a harmless point."""
    noise = 10.0 ** rng.uniform(-300.0, -3.0) * rng.standard_normal((size, *manifold.point_shape))
    if len(manifold.point_shape) == 1:
        return noise
    return np.eye(manifold.size) + 0.5 * (noise + np.swapaxes(noise, 1, 2))


def _huge(manifold, rng, size):
    """Drawn from a Gaussian so wide that points reach the ends of double precision."""
    centre = np.eye(manifold.size) if len(manifold.point_shape) == 2 else np.zeros(manifold.size)
    sigma = 1e29 if isinstance(manifold, Euclidean) else rng.choice([1.0, 3.0, 5.0])
    drawn = manifold.draw(rng, centre, float(sigma), 4 * size)
    drawn = drawn[manifold.belongs(drawn)]
    return np.resize(np.concatenate([drawn, centre[None]]), (size, *manifold.point_shape))


STREAMS: dict[str, Callable[[Manifold, np.random.Generator, int], np.ndarray]] = {
    "extreme": extreme_points,
    "equal": _equal,
    "alternating": _alternating,
    "few distinct": _few_distinct,
    "outlier": _outlier,
    "around": _around,
    "tiny": _tiny,
    "huge": _huge,
}
