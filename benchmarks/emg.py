"""``python -m benchmarks.emg``: five hand signs in electromyograms, found without labels.

Each session of the recording has six cycles of five signs. Windows of 100 samples give covariances
on SPD(8) with OAS shrinkage; each cycle is re-centred (`rhmm.recentred`). A line for each method:
the accuracy after matching its states to the signs, median over the seeds, for each session and in
the mean. In the last two cycles of mg_s1 the electrodes sit one place further; that shift is undone
for all methods. No method sees labels but the last one, which is trained on five cycles and tested
on the sixth.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from hmmlearn.hmm import GaussianHMM
from pyriemann.classification import MDM
from pyriemann.clustering import Kmeans

from rhmm import ConvergenceWarning, Manifold, RiemannianHMM, recentred
from rhmm.datasets import load_emg
from rhmm.emissions import EMISSIONS
from rhmm.scoring import accuracy

SESSIONS = ("rr_s1", "rr_s2", "mg_s2", "mg_s1")
SIGNS = 5
RESTARTS = 5
"""Of hmmlearn, whose starts are single K-means runs: the likeliest fit counts."""


class Session(NamedTuple):
    """The windows of one session."""

    manifold: Manifold
    raw: np.ndarray
    """Shape (T, 8, 8)."""
    centred: np.ndarray
    """The same with each cycle re-centred."""
    tangent: np.ndarray
    """Logarithms of these as vectors, shape (T, 36)."""
    labels: np.ndarray
    lengths: np.ndarray


def load(name: str) -> Session:
    data = load_emg([name])
    raw = data.points.copy()
    if name == "mg_s1":
        for cycle in (4, 5):
            raw[data.sequence(cycle)] = np.roll(raw[data.sequence(cycle)], (-1, -1), (1, 2))
    manifold, lengths = data.manifold, data.lengths
    centred, _ = recentred(manifold, raw, lengths=lengths)
    tangent, _ = manifold.normal_coordinates(manifold.origin, centred)
    assert data.labels is not None
    return Session(manifold, raw, centred, tangent, data.labels, lengths)


def ours(emission: str, *, raw: bool = False) -> Callable[[Session, int], np.ndarray]:
    def decode(session: Session, seed: int) -> np.ndarray:
        X = session.raw if raw else session.centred
        model = RiemannianHMM(session.manifold, SIGNS, emission=emission, random_state=seed)
        return model.fit(X, lengths=session.lengths).predict(X, lengths=session.lengths)

    return decode


def hmmlearn(covariance: str) -> Callable[[Session, int], np.ndarray]:
    """hmmlearn on the tangent space at the identity, the likeliest of several fits."""

    def decode(session: Session, seed: int) -> np.ndarray:
        data = (session.tangent, session.lengths)
        fits = [
            GaussianHMM(SIGNS, covariance, n_iter=100, random_state=RESTARTS * seed + k).fit(*data)
            for k in range(RESTARTS)
        ]
        return max(fits, key=lambda fit: fit.score(*data)).predict(*data)

    return decode


def kmeans(session: Session, seed: int) -> np.ndarray:
    clusters = Kmeans(SIGNS, max_iter=50, random_state=seed, init="random", n_init=3)
    return clusters.fit(session.centred).predict(session.centred)


def supervised(session: Session, seed: int) -> np.ndarray:
    """Minimum distance to the mean of each sign: five cycles teach, the sixth is decoded."""
    cycle = np.repeat(np.arange(len(session.lengths)), session.lengths)
    decoded = np.empty(len(cycle), int)
    for held in np.unique(cycle):
        taught = cycle != held
        model = MDM().fit(session.centred[taught], session.labels[taught])
        decoded[~taught] = model.predict(session.centred[~taught])
    return decoded


METHODS: dict[str, Callable[[Session, int], np.ndarray]] = {
    "ours, riemannian, not re-centred": ours("riemannian", raw=True),
    **{f"ours, {emission}": ours(emission) for emission in EMISSIONS},
    f"hmmlearn diag, best of {RESTARTS}": hmmlearn("diag"),
    f"hmmlearn tied, best of {RESTARTS}": hmmlearn("tied"),
    "pyriemann K-means": kmeans,
    "pyriemann MDM, supervised": supervised,
}
WITHOUT_SEED = ("pyriemann MDM, supervised",)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="seeds of each method (10)")
    parser.add_argument("--only", default="", help="methods whose name has this in it")
    parser.add_argument(
        "--out",
        type=Path,
        help="a .json file for the medians, as the Data page "
        "shows them; methods that are not run stay as they are there",
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    sessions = [load(name) for name in SESSIONS]
    print(f"accuracy, median of {arguments.seeds} seeds (least); seconds for each fit")
    print(f"{'':34}" + "".join(f"{name:>14}" for name in SESSIONS) + "   mean  seconds")
    for name, decode in METHODS.items():
        if arguments.only not in name:
            continue
        seeds = range(1 if name in WITHOUT_SEED else arguments.seeds)
        begin = time.perf_counter()
        found = np.array(
            [
                [accuracy(session.labels, decode(session, seed), SIGNS) for seed in seeds]
                for session in sessions
            ]
        )
        took = (time.perf_counter() - begin) / found.size
        medians = np.median(found, axis=1)
        cells = (f"{m:.3f} ({low:.3f})" for m, low in zip(medians, found.min(axis=1), strict=True))
        print(
            f"{name:34}" + "".join(f"{cell:>14}" for cell in cells)
            + f"  {medians.mean():.3f}  {took:7.1f}",
            flush=True,
        )  # fmt: skip
        if arguments.out is not None:
            keep(arguments.out, name, len(seeds), medians)


def keep(path: Path, name: str, seeds: int, medians: np.ndarray) -> None:
    """Write the medians of one method, with three digits as they are printed."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known[name] = {"seeds": seeds} | {
        session: round(float(median), 3) for session, median in zip(SESSIONS, medians, strict=True)
    }
    path.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
