"""``python -m benchmarks.refitted``: electrodes that were refitted while hand signs streamed.

In session mg_s1 of the electromyograms the electrodes sit one place further after the fourth of six
cycles: a permutation of the rows and columns of all matrices, which is an isometry of SPD(8). Here
the session is streamed as it is, and each cycle is a recording whose end the learners are told.
*Re-centred* streams go through `StreamingRecentring` first: it looks at nothing that comes later.

The state of each observation is what the learner says when it comes. States are matched to signs in
each cycle by itself, since a learner that starts anew may name its states anew; a line shows the
accuracy in each cycle, the median over the seeds. Learners start from the first cycle, or most of
it. *Anew* is after how many observations the automatic memory started anew, for each seed; the
electrodes were refitted after 1,216. The last two lines of each stream look only at the cycles
after that: a learner that was told where to start anew, and EM on both cycles at once.

With ``--made`` the electrodes of the other three sessions are refitted by us after the fourth
cycle: shifted by two places, the other way round, or not at all.
"""

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.emg import SIGNS
from rhmm import (
    AutoMemoryRiemannianHMM,
    ConvergenceWarning,
    DegenerateWarning,
    RiemannianHMM,
    StreamingRecentring,
    StreamingRiemannianHMM,
)
from rhmm.datasets import load_emg
from rhmm.datasets.recordings import EMG_CYCLES
from rhmm.scoring import accuracy

_FIXED = (50, 100, 200, 400)
_EMISSIONS = ("riemannian", "tied")
REFITTED = 4
"""The cycles before the electrodes were refitted."""
_RING = np.arange(8)
MADE = {"not at all": _RING, "by two": np.roll(_RING, 2), "other way round": _RING[::-1]}
"""How we refit the electrodes of sessions in which they were not."""


class Outcome(NamedTuple):
    accuracy: list[float]
    """In each cycle but the first."""
    restarts: list[int]


def learners(emission: str) -> dict[str, Callable]:
    """Each learner by its name, as a function of the manifold and a seed."""

    def streaming(**options):
        return lambda manifold, seed: StreamingRiemannianHMM(
            manifold, SIGNS, emission=emission, random_state=seed, **options
        )

    def automatic(manifold, seed):
        return AutoMemoryRiemannianHMM(manifold, SIGNS, emission=emission, random_state=seed)

    fixed = {f"fixed {m}": streaming(memory="fixed", window=m) for m in _FIXED}
    return {**fixed, "growing": streaming(window=300), "automatic": automatic}


def followed(make: Callable, manifold, X, signs, lengths, seed: int) -> Outcome:
    learner = make(manifold, seed)
    states = learner.partial_fit_predict_proba(X, lengths=lengths).argmax(axis=1)
    return Outcome(in_cycles(states, signs, lengths)[1:], getattr(learner, "restarts_", []))


def in_cycles(states, signs, lengths) -> list[float]:
    """The accuracy in each cycle."""
    ends = np.cumsum(lengths)[:-1]
    pairs = zip(np.split(signs, ends), np.split(states, ends), strict=True)
    return [accuracy(theirs, ours, SIGNS) for theirs, ours in pairs]


def told(emission: str, manifold, X, signs, lengths, seed: int) -> Outcome:
    """What a learner reaches in the last cycle that starts from the first after the refit."""
    learner = StreamingRiemannianHMM(
        manifold, SIGNS, emission=emission, window=int(lengths[REFITTED]), random_state=seed
    )
    begin = sum(lengths[:REFITTED])
    states = learner.partial_fit_predict_proba(X[begin:], lengths=lengths[REFITTED:])
    last = in_cycles(states.argmax(axis=1), signs[begin:], lengths[REFITTED:])[-1]
    return Outcome([np.nan] * REFITTED + [last], [])


def em_after(emission: str, manifold, X, signs, lengths, seed: int) -> Outcome:
    """What EM finds in the cycles after the refit, which it sees at once, again and again."""
    begin, after = sum(lengths[:REFITTED]), lengths[REFITTED:]
    model = RiemannianHMM(manifold, SIGNS, emission=emission, random_state=seed)
    states = model.fit(X[begin:], lengths=after).predict(X[begin:], lengths=after)
    found = in_cycles(states, signs[begin:], after)
    return Outcome([np.nan] * (REFITTED - 1) + found, [])


def print_row(row: str, outcomes: list[Outcome], *, with_restarts: bool) -> None:
    medians = np.median([outcome.accuracy for outcome in outcomes], axis=0)
    anew = "; ".join(", ".join(map(str, outcome.restarts)) or "–" for outcome in outcomes)
    cells = " | ".join("–" if np.isnan(m) else f"{m:.2f}".lstrip("0") for m in medians)
    print(f"{row} {cells} | {anew if with_restarts else ''} |", flush=True)


def head(*columns: str) -> None:
    cycles = [f"cycle {c}" for c in range(2, EMG_CYCLES + 1)]
    print("| " + " | ".join([*columns, *cycles, "anew"]) + " |")
    print("|---" * len(columns) + "|---:" * len(cycles) + "|---|")


def made(seeds: int) -> None:
    """The automatic memory where we refit the electrodes ourselves."""
    head("session", "refitted", "stream")
    automatic = learners("tied")["automatic"]
    for session in ("rr_s1", "rr_s2", "mg_s2"):
        data = load_emg([session])
        signs, begin = data.labels, sum(data.lengths[:REFITTED])
        for how, order in MADE.items():
            X = data.points.copy()
            X[begin:] = data.manifold.rearranged(X[begin:], order)
            for stream, points in streams_of(data.manifold, X, data.lengths).items():
                outcomes = [
                    followed(automatic, data.manifold, points, signs, data.lengths, seed)
                    for seed in range(seeds)
                ]
                print_row(f"| {session} | {how} | {stream} |", outcomes, with_restarts=True)


def streams_of(manifold, X, lengths) -> dict[str, np.ndarray]:
    recentring = StreamingRecentring(manifold)
    return {"as it is": X, "re-centred": recentring.partial_fit_transform(X, lengths=lengths)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="seeds of each learner (5)")
    parser.add_argument("--only", default="", help="learners whose name has this in it")
    parser.add_argument("--made", action="store_true", help="refit the other sessions")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", DegenerateWarning)
    if arguments.made:
        made(arguments.seeds)
        return
    data = load_emg(["mg_s1"])
    signs, lengths = data.labels, data.lengths
    assert signs is not None
    head("emission", "stream", "memory")
    for emission in _EMISSIONS:
        methods = {name: partial(followed, make) for name, make in learners(emission).items()}
        methods["told to start at cycle 5"] = partial(told, emission)
        methods["EM on cycles 5 and 6"] = partial(em_after, emission)
        for stream, X in streams_of(data.manifold, data.points, lengths).items():
            for name, run in methods.items():
                row = f"| {emission} | {stream} | {name} |"
                if arguments.only not in row:
                    continue
                outcomes = [
                    run(data.manifold, X, signs, lengths, seed) for seed in range(arguments.seeds)
                ]
                print_row(row, outcomes, with_restarts=name == "automatic")


if __name__ == "__main__":
    main()
