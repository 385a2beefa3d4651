"""``python -m benchmarks.detection``: how soon is a jump noticed, and how often without reason?

The test of Wang, Borsoi and Richard (ICML 2024): 8×8 matrices from a Wishart law with 11 degrees of
freedom whose scale matrix changes once. The automatic memory with one state raises alarm when its
predictions get worse, and starts anew some time later. Beside it stands their statistic, the
distance between a slow and a fast running centre of mass, with the threshold that gives the same
share of false alarms; where we had none, 5 %.
"""

import argparse
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rhmm import SPD, AutoMemoryRiemannianHMM

SIZE, FREEDOM = 8, 11
SLOW, FAST = 0.01, 0.02
"""Steps of the two running centres of mass."""
SETTLED = 100
"""Observations before their statistic is looked at."""
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


def ours(X: np.ndarray, seed: int) -> tuple[list[int], list[int]]:
    """When the automatic memory raised alarm, and when it started anew."""
    online = AutoMemoryRiemannianHMM(SPD(SIZE), 1, random_state=seed)
    alarms: list[int] = []
    for begin in range(0, len(X), 40):
        online.partial_fit(X[begin : begin + 40])
        if begin < online.start_size:
            continue
        bank = online._bank
        at = online.start_size + bank.due - len(bank.recent)
        if bank.due >= 0 and at not in alarms:
            alarms.append(at)
    return alarms, online.restarts_


def centres_apart(X: np.ndarray) -> np.ndarray:
    """The distance between the two running centres of mass after each observation."""
    manifold = SPD(SIZE)
    slow = fast = X[0]
    apart = np.zeros(len(X))
    for t in range(1, len(X)):
        slow, fast = manifold.geodesic(slow, X[t], SLOW), manifold.geodesic(fast, X[t], FAST)
        apart[t] = manifold.dist(slow, fast)
    return apart


def first_from(times: list[int], begin: int) -> float:
    return min((t for t in times if t >= begin), default=np.nan)


def table(length: int, change: int, seeds: int) -> None:
    false, delays, anew, statistics = [], [], [], []
    for seed in range(seeds):
        X = stream(length, change, seed)
        alarms, restarts = ours(X, seed)
        false.append(any(at < change for at in alarms))
        delays.append(first_from(alarms, change) - change)
        anew.append(first_from(restarts, change) - change)
        statistics.append(centres_apart(X))
    apart, share = np.array(statistics), float(np.mean(false))
    peaks = apart[:, SETTLED:change].max(axis=1)
    threshold = np.quantile(peaks, 1.0 - (share or 0.05))
    over = apart[:, change:] > threshold
    theirs = np.where(over.any(axis=1), over.argmax(axis=1) + 1.0, np.nan)
    print(f"\n{length:,} observations, change after {change:,}, {seeds} streams\n")
    print("| | false alarms | noticed | delay, median | delay, worst |")
    print("|---|---:|---:|---:|---:|")
    rows = (
        ("alarm of the automatic memory", share, np.array(delays)),
        ("it starts anew", float("nan"), np.array(anew)),
        ("two centres of mass", float((peaks > threshold).mean()), theirs),
    )
    for name, wrong, times in rows:
        found = times[~np.isnan(times)]
        middle, worst = (np.median(found), found.max()) if len(found) else (np.nan, np.nan)
        print(f"| {name} | {wrong:.1%} | {len(found) / seeds:.0%} | {middle:.0f} | {worst:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.detection", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="streams of each length (100)")
    seeds = parser.parse_args().seeds
    warnings.simplefilter("ignore", ConvergenceWarning)
    for length, change in SETTINGS:
        table(length, change, seeds)


if __name__ == "__main__":
    main()
