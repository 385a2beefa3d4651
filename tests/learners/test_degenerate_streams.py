"""Streams that are hard on arithmetic end in finite parameters, whatever the learner."""

import warnings

import numpy as np
import pytest

from rhmm import (
    SPD,
    AutoMemoryRiemannianHMM,
    Hyperbolic,
    RiemannianHMM,
    RiemannianKMeans,
    StreamingRiemannianHMM,
    WindowedRiemannianHMM,
)

LEARNERS = {
    "streaming": lambda manifold: StreamingRiemannianHMM(manifold, 2, window=20, random_state=0),
    "cold": lambda manifold: StreamingRiemannianHMM(
        manifold, 2, window=20, init="cold", random_state=0
    ),
    "auto": lambda manifold: AutoMemoryRiemannianHMM(manifold, 2, random_state=0),
    "windowed": lambda manifold: WindowedRiemannianHMM(manifold, 2, window=20, random_state=0),
    "paper": lambda manifold: WindowedRiemannianHMM(
        manifold, 2, window=20, transition_update="paper", random_state=0
    ),
    "EM": lambda manifold: RiemannianHMM(manifold, 2, n_iter=20, random_state=0),
    "K-means": lambda manifold: RiemannianKMeans(manifold, 2, max_iter=20, random_state=0),
}


def at_the_rim(count: int, gap: float = 1e-14) -> np.ndarray:
    """Points of the disk at 1 − |x| ≈ gap, all around it."""
    angles = np.linspace(0.0, 6.0, count)
    return (1.0 - gap) * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def near_singular(count: int, scale: float = 1.0) -> np.ndarray:
    """2×2 matrices that differ from singular ones in the thirteenth digit."""
    angles = np.linspace(0.0, 3.0, count)
    frames = np.stack([np.cos(angles), np.sin(angles), -np.sin(angles), np.cos(angles)], axis=1)
    frames = frames.reshape(count, 2, 2)
    x = frames @ np.diag([1.0, 1e-13]) @ np.swapaxes(frames, 1, 2)
    return 0.5 * scale * (x + np.swapaxes(x, 1, 2))


def with_another_unit(count: int) -> np.ndarray:
    """Wishart matrices; one has an entry next to the largest number."""
    samples = np.random.default_rng(0).normal(size=(count, 10, 2))
    x = np.swapaxes(samples, 1, 2) @ samples / 10
    x[count // 2, 0, 0] = 1e308
    return x


STREAMS = {
    "at the rim": (Hyperbolic(2), at_the_rim(60)),
    "the same point at the rim": (
        Hyperbolic(2),
        np.tile(np.r_[np.repeat(at_the_rim(1), 7, axis=0), np.zeros((1, 2))], (8, 1)),
    ),
    "two points at the rim in turn": (Hyperbolic(2), np.tile(at_the_rim(2), (30, 1))),
    "neighbours at the rim": (Hyperbolic(1), np.tile([[1 - 1e-14], [1 - 2e-14]], (30, 1))),
    "an outlier at the rim": (Hyperbolic(2), np.r_[at_the_rim(59, 0.999), at_the_rim(1)]),
    "on a line at the rim": (Hyperbolic(1), np.tile([[1 - 1e-15], [1e-15 - 1], [0.0]], (20, 1))),
    "near-singular matrices": (SPD(2), near_singular(60)),
    "matrices of far apart units": (
        SPD(2),
        np.concatenate([near_singular(30, 1e-200), near_singular(30, 1e200)]),
    ),
    "one axis of one matrix in another unit": (SPD(2), with_another_unit(60)),
}  # fmt: skip


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("name", LEARNERS)
def test_a_degenerate_stream_ends_in_finite_parameters(name, stream):
    manifold, X = STREAMS[stream]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence and degeneration: both may be
        learner = LEARNERS[name](manifold).fit(X)
        model = learner.to_hmm()
    for parameter in model.parameters_:
        assert np.isfinite(parameter).all()
    assert manifold.belongs(model.means_).all()
    assert np.isfinite(model.score(X))


def test_few_points_at_the_rim_are_learned_from_a_cold_start():
    learner = LEARNERS["cold"](Hyperbolic(2))
    learner.fit(at_the_rim(30))
    assert np.isfinite(learner.transmat_).all()
    assert np.isfinite(learner.means_).all()
    assert np.isfinite(learner.sigmas_).all()


@pytest.mark.parametrize("sigma", [1e-60, 1e6])
def test_the_least_and_the_largest_floor_of_sigma_come_back(sigma):
    X = np.random.default_rng(0).uniform(-0.5, 0.5, (80, 2))
    learner = StreamingRiemannianHMM(Hyperbolic(2), 1, window=20, min_sigma=sigma, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(X)
    assert 1e-60 <= learner.sigmas_[0] <= 1e6
    assert learner.to_hmm().sigmas_ == learner.sigmas_
