"""``python -m benchmarks.states``: how often the number of states is found.

One line for each model: in how many seeds `select_n_components` finds its number of states, and in
how many it is off by more than one. Models and seeds are fixed in this file.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.hard import random_model, ring, ring_of_matrices, staying
from rhmm import Hyperbolic, RiemannianHMM, select_n_components
from rhmm.paper import paper_model
from rhmm.scoring import accuracy

_T = 10_000
_MOST = 10
"""States that are tried, at most."""
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


CASES = [
    Case("one", "one state", lambda _: few(1)),
    Case("two", "two states", lambda _: few(2)),
    Case("paper", "the paper's chain, 3 states", lambda _: paper_model()),
    Case("ring-5", "ring, 5 states, σ = .6", lambda _: ring(5, 0.6)),
    Case("ring-8", "ring, 8 states, σ = .6", lambda _: ring(8, 0.6)),
    *(Case(f"random-{n}", f"random, {n} states", partial(identifiable, n)) for n in (3, 5, 8)),
    Case("matrices", "2×2 matrices, 5 states, σ = .4", lambda _: ring_of_matrices(0.4)),
]


def trials(case: Case, seeds: int) -> Iterator[tuple[int, float]]:
    """For each seed how far the choice is from the truth, and the seconds it took."""
    for seed in range(seeds):
        truth = case.model(seed)
        X, _ = truth.sample(_T, random_state=1000 + seed)
        began = time.perf_counter()
        sizes = range(1, _MOST + 1)
        found = select_n_components(truth.manifold, X, sizes, random_state=seed)
        yield found.best.n_components - truth.n_components, time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.states", description=__doc__)
    keys = ", ".join(case.key for case in CASES)
    parser.add_argument("--only", nargs="+", metavar="CASE", default=[""], help=keys)
    parser.add_argument("--seeds", type=int, default=20, help="of each model (20)")
    options = parser.parse_args()
    print(f"BIC, 1 to {_MOST} states, T = {_T:,}\n")
    print("| model | right | off by more than one | seconds |")
    print("|---|---:|---:|---:|")
    for case in CASES:
        if case.key.startswith(tuple(options.only)):
            off, took = zip(*trials(case, options.seeds), strict=True)
            right, far = sum(d == 0 for d in off), sum(abs(d) > 1 for d in off)
            seconds = statistics.median(took)
            print(f"| {case.title} | {right} of {len(off)} | {far} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
