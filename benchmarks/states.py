"""``python -m benchmarks.states``: how often the number of states is found.

One line for each model: in how many seeds `select_n_components` finds its number of states, and in
how many it is off by one, or by more. With ``--online`` the same of a streaming learner that finds
it by itself, and how long it takes compared with one that is told. With ``--late`` one state of the
paper's chain appears in mid-stream: how many of its visits such a learner needs to find it. Models
and seeds are fixed in this file.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.hard import random_model, ring, ring_of_matrices, staying
from rhmm import SPD, Hyperbolic, RiemannianHMM, StreamingRiemannianHMM, select_n_components
from rhmm.manifolds import Manifold
from rhmm.paper import paper_model
from rhmm.scoring import accuracy

_T = 10_000
_MOST = 10
"""States that are tried, at most."""
_SOON, _BEFORE, _AFTER, _STEP = 500, (3_000, 5_000, 10_000), 6_000, 50
"""Visits within which a state that appears late should be found, observations before and after it
appears, and how many are learned at a time."""
_IDENTIFIABLE = 0.9
"""The ceiling of random models, at least: below, states cannot be told apart."""


class Case(NamedTuple):
    key: str
    title: str
    model: Callable[[int], RiemannianHMM]
    """The model of each seed."""


def few(n: int) -> RiemannianHMM:
    """One or two states on the disk."""
    means = np.array([[0.0, 0.0], [0.5, 0.3]])[:n]
    return RiemannianHMM.from_parameters(
        Hyperbolic(2), np.full(n, 1 / n), staying(n, 0.6), means, np.full(n, 0.4)
    )


def around(manifold: Manifold, n: int, distance: float, sigma: float) -> RiemannianHMM:
    """A state at the base point of the manifold and n − 1 around it, in directions far apart."""
    base = np.zeros(3) if isinstance(manifold, Hyperbolic) else np.eye(2)
    spread = np.linspace(-1.0, 1.0, max(n - 1, 2))[: n - 1]
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(n - 1)  # a spiral from pole to pole
    rim = np.sqrt(1.0 - spread**2)
    x, y, z = distance * rim * np.cos(turn), distance * rim * np.sin(turn), distance * spread
    if isinstance(manifold, Hyperbolic):
        logs = 0.5 * np.stack([x, y, z], axis=1)  # the metric at the origin is 4|dx|²
    else:
        trace, half = z / np.sqrt(2.0), y / np.sqrt(2.0)
        one, two = trace + x / np.sqrt(2.0), trace - x / np.sqrt(2.0)
        logs = np.stack([one, half, half, two], axis=1).reshape(-1, 2, 2)
    means = np.array([base, *(manifold.exp(base, log) for log in logs)])
    return RiemannianHMM.from_parameters(
        manifold, np.full(n, 1 / n), staying(n, 0.6), means, np.full(n, sigma)
    )


def identifiable(n: int, seed: int) -> RiemannianHMM:
    """The seed-th random model whose states can be told apart."""
    return _identifiable(n, seed + 1)[seed]


def _identifiable(n: int, count: int) -> list[RiemannianHMM]:
    found: list[RiemannianHMM] = []
    seed = 0
    while len(found) < count:
        truth = random_model(n, 100 + seed)
        X, states = truth.sample(2_000, random_state=seed)
        if accuracy(states, truth.predict(X), n) >= _IDENTIFIABLE:
            found.append(truth)
        seed += 1
    return found


def _always(model: RiemannianHMM, seed: int) -> RiemannianHMM:
    return model


CASES = [
    Case("one", "one state", lambda _: few(1)),
    Case("two", "two states", lambda _: few(2)),
    Case("paper", "the paper's chain, 3 states", lambda _: paper_model()),
    Case("ring-5", "ring, 5 states, σ = .6", lambda _: ring(5, 0.6)),
    Case("ring-8", "ring, 8 states, σ = .6", lambda _: ring(8, 0.6)),
    *(Case(f"random-{n}", f"random, {n} states", partial(identifiable, n)) for n in (3, 5, 8)),
    Case("matrices", "2×2 matrices, 5 states, σ = .4", lambda _: ring_of_matrices(0.4)),
    *(
        Case(f"{key}-{n}", f"{title}, {n}", partial(_always, around(manifold, n, distance, sigma)))
        for key, title, manifold, distance, sigma in (
            ("spd2", "2×2 matrices, σ = .7, states", SPD(2), 2.75, 0.7),
            ("h3", "H³, σ = .6, states", Hyperbolic(3), 1.95, 0.6),
        )
        for n in (1, 2, 3, 5, 8)
    ),
]


def offline(truth: RiemannianHMM, X, seed: int) -> tuple[int, float, float]:
    """How far the choice by BIC is from the truth, and the seconds it took."""
    began = time.perf_counter()
    found = select_n_components(truth.manifold, X, range(1, _MOST + 1), random_state=seed)
    return found.best.n_components - truth.n_components, time.perf_counter() - began, np.nan


def online(truth: RiemannianHMM, X, seed: int) -> tuple[int, float, float]:
    """How far a streaming learner is from the truth at the end, the seconds of processor time it
    took, and those of one that is told the number of states."""
    seconds, sizes = [], []
    for wanted in ("auto", truth.n_components):
        learner = StreamingRiemannianHMM(truth.manifold, wanted, random_state=seed)
        began = time.process_time()
        learner.fit(X)
        seconds.append(time.process_time() - began)
        sizes.append(learner.n_components_)
    return sizes[0] - sizes[1], seconds[0], seconds[1]


def trials(case: Case, way: Callable, seeds: int) -> Iterator[tuple[int, float, float]]:
    """What `way` finds for each seed."""
    for seed in range(seeds):
        truth = case.model(seed)
        X, _ = truth.sample(_T, random_state=1000 + seed)
        if seed == 0:
            way(truth, X[:2_000], seed)  # compiles
        yield way(truth, X, seed)


def visits_needed(late: int, before: int, seed: int) -> int:
    """Visits of a state of the paper's chain until it is found, if it does not appear before so
    many observations of the others."""
    truth = paper_model()
    X, states = truth.sample(3 * before + _AFTER, random_state=seed)
    begun = np.flatnonzero(states != late)[:before]
    rest = np.arange(begun[-1] + 1, min(begun[-1] + 1 + _AFTER, len(X)))
    learner = StreamingRiemannianHMM(truth.manifold, "auto", random_state=seed)
    learner.partial_fit(X[begun])
    for done in range(_STEP, len(rest) + 1, _STEP):
        learner.partial_fit(X[rest[done - _STEP : done]])
        if learner.n_components_ == truth.n_components:
            break
    return int((states[rest[:done]] == late).sum())


def print_late(seeds: int) -> None:
    print("| state | appears after | visits needed, median | most | more than 500 |")
    print("|---|---:|---:|---:|---:|")
    for late in range(paper_model().n_components):
        for before in _BEFORE:
            needed = np.array([visits_needed(late, before, seed) for seed in range(seeds)])
            over = f"{(needed > _SOON).sum()} of {seeds}"
            row = (late + 1, f"{before:,}", f"{np.median(needed):.0f}", needed.max(), over)
            print(f"| {' | '.join(map(str, row))} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.states", description=__doc__)
    keys = ", ".join(case.key for case in CASES)
    parser.add_argument("--only", nargs="+", metavar="CASE", default=[""], help=keys)
    parser.add_argument("--seeds", type=int, default=20, help="of each model (20)")
    parser.add_argument("--online", action="store_true", help="by a streaming learner")
    parser.add_argument("--late", action="store_true", help="a state that appears in mid-stream")
    options = parser.parse_args()
    if options.late:
        print_late(options.seeds)
        return
    way = online if options.online else offline
    how = "streaming, n_components='auto'" if options.online else f"BIC, 1 to {_MOST} states"
    print(f"{how}, T = {_T:,}\n")
    print("| model | right | off by one | worse | ms | times the learner that is told |")
    print("|---|---:|---:|---:|---:|---:|")
    for case in CASES:
        if not case.key.startswith(tuple(options.only)):
            continue
        off, took, told = map(np.array, zip(*trials(case, way, options.seeds), strict=True))
        right, near, far = (int(c.sum()) for c in (off == 0, abs(off) == 1, abs(off) > 1))
        cost = f"{np.median(took / told):.1f}" if options.online else ""
        milliseconds = f"{1e3 * np.median(took):.0f}"
        row = (case.title, f"{right} of {len(off)}", near, far, milliseconds, cost)
        print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
