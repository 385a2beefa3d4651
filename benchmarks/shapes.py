"""``python -m benchmarks.shapes``: states that are not round, and states with heavy tails.

First table: three states on the disk whose observations have tails as of Student's law with three
degrees of freedom. In how many seeds BIC finds the number of states, from 1 to 8, under each
emission. Joint tails are those of the emission ``"student"``; radial and single ones are not: the
distance, or each coordinate by itself, follows Student's law of one dimension.

Second table: three long thin clusters on the disk. How far each emission stays below the fit that
is told the states.
"""

import argparse
import warnings
from collections.abc import Callable

import numpy as np

from benchmarks.hard import at_papers_means
from rhmm import ConvergenceWarning, Hyperbolic, RiemannianHMM, select_n_components
from rhmm.emissions import RiemannianGaussians
from rhmm.learners.baum_welch import Iterate
from rhmm.learners.tangent_start import Emission, law_like
from rhmm.parameters import stationary_law
from rhmm.scoring import accuracy

_DISK = Hyperbolic(2)
_STATES, _STAY = 3, 0.6
_T, _MOST = 2_000, 8
_SCALE, _DEGREES = 0.3, 3.0
_WIDTHS = (0.6, 0.1)
"""Standard deviations of a long thin cluster along its two axes."""
_APART = (0.45, 0.25)
"""How far from the origin of the disk the clusters lie."""

Noise = Callable[[np.random.Generator, int], np.ndarray]


def joint(rng: np.random.Generator, size: int) -> np.ndarray:
    precision = rng.gamma(0.5 * _DEGREES, 2.0 / _DEGREES, size)
    return rng.standard_normal((size, 2)) / np.sqrt(precision)[:, None]


def radial(rng: np.random.Generator, size: int) -> np.ndarray:
    angle = 2.0 * np.pi * rng.random(size)
    distance = np.abs(rng.standard_t(_DEGREES, size))
    return distance[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def single(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.standard_t(_DEGREES, (size, 2))


TAILS: dict[str, Noise] = {"joint": joint, "radial": radial, "single": single}


def with_tails(noise: Noise, seed: int) -> np.ndarray:
    """A chain through the paper's means, each observation with such noise around its mean."""
    truth = at_papers_means(_STAY, np.full(_STATES, _SCALE))
    _, states = truth.sample(_T, random_state=1000 + seed)
    coordinates = _SCALE * noise(np.random.default_rng([seed, 2]), _T)
    X = np.empty((_T, 2))
    for i, mean in enumerate(truth.means_):
        X[states == i] = _DISK.from_normal_coordinates(mean, coordinates[states == i])
    return X


def thin_clusters(apart: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Three clusters around the origin, each turned by an angle of its own; and their states."""
    rng = np.random.default_rng([seed, 3])
    around = 2.0 * np.pi * (np.arange(_STATES) + rng.random()) / _STATES
    means = apart * np.stack([np.cos(around), np.sin(around)], axis=1)
    angle = np.pi * rng.random(_STATES)
    axes = np.moveaxis(
        np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]), 2, 0
    )
    truth = RiemannianHMM.from_parameters(
        _DISK, np.full(_STATES, 1 / _STATES), at_papers_means(_STAY, [1.0] * 3).transmat_, means,
        emission="full", covariances=axes * np.square(_WIDTHS) @ np.swapaxes(axes, 1, 2),
    )  # fmt: skip
    return truth.sample(_T, random_state=1000 + seed)


def fitted_with_labels(X: np.ndarray, states: np.ndarray, emission: str) -> RiemannianHMM:
    """The likeliest model where the states are known."""
    weights = (states == np.arange(_STATES)[:, None]).astype(float)
    means = np.array([_DISK.mean(X[states == i]) for i in range(_STATES)])
    law = law_like(
        RiemannianGaussians(_DISK, means, np.ones(_STATES)), Emission(emission, 0.0), 1e-3
    )
    view = law.view(X)
    for _ in range(50):
        law, view = law.maximised(X, weights, np.ones(_STATES, bool), view, 1e-3)
    counts = np.zeros((_STATES, _STATES))
    np.add.at(counts, (states[:-1], states[1:]), 1.0)
    transmat = counts / counts.sum(axis=1, keepdims=True)
    return RiemannianHMM._of_law(*Iterate(stationary_law(transmat), transmat, law))


def count_states(seeds: int, tails: list[str]) -> None:
    print("| tails | emission | right | found | median degrees of freedom |")
    print("|---|---|---:|---|---:|")
    for name in tails:
        for emission in ("riemannian", "isotropic", "student"):
            found, degrees = [], []
            for seed in range(seeds):
                X = with_tails(TAILS[name], seed)
                best = select_n_components(
                    _DISK, X, range(1, _MOST + 1), emission=emission, random_state=seed
                ).best
                found.append(best.n_components)
                degrees.append(best.law_.degrees)
            right = found.count(_STATES)
            median = f"{np.median(degrees):.1f}" if emission == "student" else ""
            listed = " ".join(map(str, found))
            print(f"| {name} | {emission} | {right} of {seeds} | {listed} | {median} |", flush=True)


def tell_apart(seeds: int) -> None:
    print("| clusters at | emission | labelled fit | median gap | worst gap |")
    print("|---|---|---:|---:|---:|")
    for apart in _APART:
        _tell_apart(apart, seeds)


def _tell_apart(apart: float, seeds: int) -> None:
    ceilings: list[float] = []
    gaps: dict[str, list[float]] = {name: [] for name in ("riemannian", "tied", "diag", "full")}
    for seed in range(seeds):
        X, states = thin_clusters(apart, seed)
        known = fitted_with_labels(X, states, "full").predict(X)
        ceilings.append(accuracy(states, known, _STATES))
        for name, gap in gaps.items():
            model = RiemannianHMM(_DISK, _STATES, emission=name, random_state=seed).fit(X)
            gap.append(ceilings[-1] - accuracy(states, model.predict(X), _STATES))
    for name, gap in gaps.items():
        row = (np.median(ceilings), np.median(gap), max(gap))
        print(f"| {apart} | {name} | " + " | ".join(f"{value:.4f}" for value in row) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shapes", description=__doc__)
    parser.add_argument("--seeds", type=int, default=12, help="of each model (12)")
    parser.add_argument("--tails", nargs="*", choices=TAILS, default=list(TAILS))
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    if options.tails:
        count_states(options.seeds, options.tails)
        print()
    tell_apart(options.seeds)


if __name__ == "__main__":
    main()
