"""``python -m benchmarks.detection``: how soon is a jump noticed, and how often without reason?

The test of Wang, Borsoi and Richard (ICML 2024): 8×8 matrices from a Wishart law with 11 degrees of
freedom whose scale matrix changes once. The automatic memory with one state raises alarm when its
predictions get worse, and starts anew later if no memory has followed. An earlier sign is that its
growing memory goes on from a shorter one's state. Beside it stands their statistic, the distance
between a slow and a fast running centre of mass, with a threshold that is passed without reason on
5 % of these very streams. *False* is the share of streams with a sign before the change.
"""

import argparse
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rhmm import SPD, AutoMemoryRiemannianHMM

SIZE, FREEDOM = 8, 11
SLOW, FAST = 0.01, 0.02
"""Steps of the two running centres of mass."""
BEGUN, SETTLED = 50, 400
"""Observations whose centre of mass both begin with, and those before the statistic is looked at,
unless half of those before the change are fewer."""
FALSE, EVERY = 0.05, 40
"""The share of false alarms of their statistic, and observations between two looks of ours."""
SETTINGS = ((400, 200), (2_000, 1_500))
"""Length and time of the change: a short one, and that of the published code."""


def scales(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two scale matrices with the same eigenvectors; all eigenvalues grow by the same number."""
    vectors = np.linalg.qr(rng.standard_normal((SIZE, SIZE)))[0]
    values, grown = rng.random(SIZE) + 1e-6, 1.6 * rng.random()
    before, after = (vectors * v @ vectors.T for v in (values, values + grown))
    return before, after


def wishart(scale: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Sample covariances of FREEDOM Gaussian vectors, shape (count, 8, 8)."""
    factor = np.linalg.cholesky(scale)
    signals = rng.standard_normal((count, FREEDOM, SIZE)) @ factor.T
    return np.swapaxes(signals, 1, 2) @ signals / FREEDOM


def stream(length: int, change: int, seed: int) -> np.ndarray:
    """Observations (length, 8, 8); the two scale matrices are the same for every seed."""
    before, after = scales(np.random.default_rng(1))
    rng = np.random.default_rng((seed, length))
    return np.concatenate([wishart(before, change, rng), wishart(after, length - change, rng)])


def ours(X: np.ndarray, seed: int) -> dict[str, list[int]]:
    """When the automatic memory noticed something, by what it did then."""
    online = AutoMemoryRiemannianHMM(SPD(SIZE), 1, random_state=seed)
    online.partial_fit(X[: online.start_size])
    alarms, followed, remembered, due = [], [], 0.0, -1
    for begin in range(online.start_size, len(X), EVERY):
        online.partial_fit(X[begin : begin + EVERY])
        bank, now = online._bank, online.n_samples_seen_
        if bank.due >= 0 and bank.due != due:
            alarms.append(now)
        due = bank.due
        visits = float(bank.runners[-1].state.visits.sum())
        if visits < remembered:
            followed.append(now)
        remembered = visits
    return {
        "the growing memory follows a shorter one": followed,
        "alarm": alarms,
        "it starts anew": online.restarts_,
    }


def centres_apart(X: np.ndarray) -> np.ndarray:
    """The distance between the two running centres of mass after each observation."""
    manifold = SPD(SIZE)
    slow = fast = manifold.mean(X[:BEGUN])
    apart = np.zeros(len(X))
    for t in range(BEGUN, len(X)):
        slow, fast = manifold.geodesic(slow, X[t], SLOW), manifold.geodesic(fast, X[t], FAST)
        apart[t] = manifold.dist(slow, fast)
    return apart


def first_from(times: list[int], begin: int) -> float:
    return min((t for t in times if t >= begin), default=np.nan)


def table(length: int, change: int, seeds: int) -> None:
    """Print how often and how soon each sign came."""
    signs: dict[str, list[list[int]]] = {}
    statistics = []
    for seed in range(seeds):
        X = stream(length, change, seed)
        for name, times in ours(X, seed).items():
            signs.setdefault(name, []).append(times)
        statistics.append(centres_apart(X))
    apart = np.array(statistics)
    peaks = apart[:, min(SETTLED, change // 2) : change].max(axis=1)
    over = apart > np.quantile(peaks, 1.0 - FALSE)
    over[:, : min(SETTLED, change // 2)] = False
    signs["two centres of mass"] = [(np.flatnonzero(row) + 1).tolist() for row in over]
    print(f"\n{length:,} observations, change after {change:,}, {seeds} streams\n")
    print("| sign | false | noticed | delay, median | delay, worst |")
    print("|---|---:|---:|---:|---:|")
    for name, streams in signs.items():
        wrong = np.mean([any(t <= change for t in times) for times in streams])
        delays = [first_from(times, change + 1) - change for times in streams]
        found = np.array([d for d in delays if not np.isnan(d)])
        spread = f"{np.median(found):.0f} | {found.max():.0f}" if len(found) else "– | –"
        print(f"| {name} | {wrong:.0%} | {len(found) / seeds:.0%} | {spread} |")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.detection", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="streams of each length (100)")
    seeds = parser.parse_args().seeds
    warnings.simplefilter("ignore", ConvergenceWarning)
    for length, change in SETTINGS:
        table(length, change, seeds)


if __name__ == "__main__":
    main()
