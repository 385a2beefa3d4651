"""``python -m benchmarks.hard``: models on which a learner can get lost, and how often it does.

One line for each case and learner: the ceiling (accuracy under the true parameters, median over the
seeds), the learner's gap to it (median and worst), and how many seeds are lost. A seed is lost if
its gap is larger than the case allows. Models and seeds are fixed in this file.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rhmm import (
    SPD,
    AutoMemoryRiemannianHMM,
    ConvergenceWarning,
    Euclidean,
    Hyperbolic,
    RiemannianHMM,
    StreamingRiemannianHMM,
)
from rhmm.exceptions import DegenerateWarning
from rhmm.paper import MEANS, SIGMAS
from rhmm.parameters import stationary_law
from rhmm.scoring import accuracy

LEARNERS: dict[str, Callable[..., Any]] = {
    "EM": RiemannianHMM,
    "streaming, Δ=200": partial(StreamingRiemannianHMM, window=200),
    "streaming, Δ=1000": partial(StreamingRiemannianHMM, window=1000),
    "automatic memory": AutoMemoryRiemannianHMM,
    "streaming, cold": partial(StreamingRiemannianHMM, init="cold"),
}


class Chain(NamedTuple):
    """Observations, the states behind them, and what decodes them best."""

    X: np.ndarray
    states: np.ndarray
    reference: RiemannianHMM


class Case(NamedTuple):
    """A family of chains, one for each seed."""

    key: str
    title: str
    draw: Callable[[int], Chain]
    seeds: int
    lost: float
    """The gap above which a seed counts as lost."""
    allowed: dict[str, int]
    """How many may be lost, for each learner that is tried."""


# Models


def _model(manifold, transmat, means, sigmas) -> RiemannianHMM:
    transmat = np.asarray(transmat)
    law = stationary_law(transmat)
    return RiemannianHMM.from_parameters(manifold, law, transmat, means, sigmas)


def staying(n: int, stay: float) -> np.ndarray:
    """A chain that stays with this probability and else goes anywhere."""
    away = (1.0 - stay) / max(n - 1, 1)
    return np.full((n, n), away) + (stay - away) * np.eye(n) if n > 1 else np.ones((1, 1))


def random_model(n: int, seed: int) -> RiemannianHMM:
    """Means anywhere in the disk, σ from .15 to .8, rows of A from a flat Dirichlet law."""
    rng = np.random.default_rng([seed, n])
    radius, angle = 0.9 * np.sqrt(rng.random(n)), 2.0 * np.pi * rng.random(n)
    means = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return _model(Hyperbolic(2), rng.dirichlet(np.ones(n), n), means, rng.uniform(0.15, 0.8, n))


def ring(n: int, sigma: float, stay: float = 0.6) -> RiemannianHMM:
    """A state at the origin and n − 1 around it, |c| = .75."""
    angle = 2.0 * np.pi * np.arange(n - 1) / (n - 1)
    around = 0.75 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    means = np.concatenate([np.zeros((1, 2)), around])
    return _model(Hyperbolic(2), staying(n, stay), means, np.full(n, sigma))


def ring_of_matrices(sigma: float) -> RiemannianHMM:
    """The same of five states among 2×2 matrices, at distance 1.5 from the identity."""
    angle = np.pi * np.arange(4) / 2.0
    logs = np.stack([np.cos(angle), np.sin(angle), np.sin(angle), -np.cos(angle)], axis=1)
    logs = 1.5 / np.sqrt(2.0) * logs.reshape(4, 2, 2)
    manifold = SPD(2)
    around = [manifold.exp(np.eye(2), log) for log in logs]
    return _model(manifold, staying(5, 0.6), np.array([np.eye(2), *around]), np.full(5, sigma))


def at_papers_means(stay: float, sigmas) -> RiemannianHMM:
    return _model(Hyperbolic(2), staying(3, stay), MEANS, sigmas)


# Chains


def from_model(model: Callable[[int], RiemannianHMM], length: int, seed: int) -> Chain:
    truth = model(seed)
    X, states = truth.sample(length, random_state=1000 + seed)
    return Chain(X, states, truth)


def with_outliers(modulus: float, where: Callable[..., np.ndarray], length: int, seed: int):
    """The paper's means with σ = .3, and outliers that far out in all directions.

    The reference is fitted with the true states known, outliers and all.
    """
    truth = at_papers_means(0.6, np.full(3, 0.3))
    X, states = truth.sample(length, random_state=1000 + seed)
    rng = np.random.default_rng([seed, 1])
    at = where(rng)
    angle = 2.0 * np.pi * rng.random(len(at))
    X[at] = modulus * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return Chain(X, states, fitted_with_labels(truth.manifold, X, states, 3))


def fitted_with_labels(manifold, X, states, n: int) -> RiemannianHMM:
    """The model that maximum likelihood gives where the states are known."""
    means = np.array([manifold.mean(X[states == i]) for i in range(n)])
    delta = [np.mean(manifold.dist(means[i], X[states == i]) ** 2) for i in range(n)]
    counts = np.zeros((n, n))
    np.add.at(counts, (states[:-1], states[1:]), 1.0)
    transmat = counts / counts.sum(axis=1, keepdims=True)
    return _model(manifold, transmat, means, manifold.sigma(np.array(delta)))


def scaled(scale: float, seed: int) -> Chain:
    """Three clusters of the plane whose coordinates are of this size."""
    means = scale * np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    truth = _model(Euclidean(2), staying(3, 0.6), means, np.full(3, 0.7 * scale))
    return from_model(lambda _: truth, 10_000, seed)


def _one_of_first(rng) -> np.ndarray:
    return rng.integers(0, 200, 1)


def _percent_of(length: int) -> Callable[..., np.ndarray]:
    return lambda rng: np.flatnonzero(rng.random(length) < 0.01)


# Cases

_RANDOM = dict.fromkeys(LEARNERS, 2) | {"EM": 1}
_NONE = dict.fromkeys(LEARNERS, 0)


def _random(n: int) -> Case:
    draw = partial(from_model, partial(random_model, n), 10_000)
    return Case(f"random-{n}", f"random model, {n} states", draw, 12, 0.02, _RANDOM)


def _ring(n: int, sigma: float) -> Case:
    draw = partial(from_model, lambda _: ring(n, sigma), 20_000)
    allowed = _NONE | {"streaming, cold": 2}
    return Case(f"ring-{n}-{sigma:g}", f"ring, {n} states, σ = {sigma:g}", draw, 20, 0.01, allowed)


def _sticky(stay: float, sigmas, key: str, title: str) -> Case:
    draw = partial(from_model, lambda _: at_papers_means(stay, sigmas), 20_000)
    allowed = _NONE | {"automatic memory": 1} if stay > 0.99 else _NONE
    return Case(key, title, draw, 20, 0.01, allowed)


def _outliers(key: str, title: str, modulus: float, where, length: int) -> Case:
    return Case(key, title, partial(with_outliers, modulus, where, length), 10, 0.01, _NONE)


CASES = [
    *(_random(n) for n in (3, 5, 8)),
    *(_ring(n, sigma) for n in (5, 8) for sigma in (0.3, 0.6)),
    _sticky(0.99, SIGMAS, "stay-.99", "paper's means and σ, stay .99"),
    _sticky(0.99, np.full(3, 1.2), "stay-.99-wide", "paper's means, σ = 1.2, stay .99"),
    _sticky(0.999, SIGMAS, "stay-.999", "paper's means and σ, stay .999"),
    _sticky(0.9, np.full(3, 2.0), "stay-.9-wide", "paper's means, σ = 2, stay .9"),
    Case(
        "matrices",
        "ring of 2×2 matrices, 5 states, σ = .8",
        partial(from_model, lambda _: ring_of_matrices(0.8), 20_000),
        6,
        0.01,
        dict.fromkeys(LEARNERS, 1),
    ),
    _outliers(
        "one-outlier", "one outlier at 1 − 1e-9 in the first 200", 1 - 1e-9, _one_of_first, 4_000
    ),
    _outliers("outliers-.999", "1 % outliers at .999", 0.999, _percent_of(10_000), 10_000),
    _outliers("outliers-far", "1 % outliers at 1 − 1e-9", 1 - 1e-9, _percent_of(10_000), 10_000),
    Case("scale-1e-4", "three clusters of size 1e-4", partial(scaled, 1e-4), 5, 0.01, _NONE),
]


def gaps(case: Case, learner: str, first: int = 0) -> Iterator[tuple[float, float, float]]:
    """For each seed from `first` on the ceiling, the gap to it, and the seconds of the fit."""
    for seed in range(first, first + case.seeds):
        X, states, reference = case.draw(seed)
        manifold, n = reference.manifold, reference.n_components
        ceiling = accuracy(states, reference.predict(X), n)
        estimator = LEARNERS[learner](manifold, n, random_state=seed)
        began = time.perf_counter()
        estimator.fit(X)
        took = time.perf_counter() - began
        yield ceiling, ceiling - accuracy(states, estimator.predict(X), n), took


def line(case: Case, learner: str, first: int) -> str:
    ceiling, gap, took = map(np.array, zip(*gaps(case, learner, first), strict=True))
    lost, allowed = int((gap > case.lost).sum()), case.allowed[learner]
    verdict = "yes" if lost <= allowed else "**no**"
    return (
        f"| {case.title} | {learner} | {np.median(ceiling):.4f} | {np.median(gap):.4f} | "
        f"{gap.max():.4f} | {lost} of {case.seeds} | ≤ {allowed} | {verdict} | "
        f"{1e3 * np.median(took):.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hard", description=__doc__)
    keys = [case.key for case in CASES]
    parser.add_argument("--only", nargs="+", metavar="CASE", default=[""], help=", ".join(keys))
    parser.add_argument("--learner", nargs="+", choices=LEARNERS, default=list(LEARNERS))
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", DegenerateWarning)
    print("| case | learner | ceiling | gap | worst | lost | allowed | holds | ms |")
    print("|---|---|---:|---:|---:|---:|---:|---|---:|")
    for case in CASES:
        if case.key.startswith(tuple(options.only)):
            for learner in options.learner:
                print(line(case, learner, options.first), flush=True)


if __name__ == "__main__":
    main()
