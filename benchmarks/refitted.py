"""``python -m benchmarks.refitted``: electrodes that were refitted while hand signs streamed.

In session mg_s1 of the electromyograms the electrodes sit one place further after the fourth of six
cycles: a permutation of the rows and columns of all matrices, which is an isometry of SPD(8). Here
the session is streamed as it is, and each cycle is a recording whose end the learners are told.
*Re-centred* streams go through `StreamingRecentring` first: it looks at nothing that comes later.

The state of each observation is what the learner says when it comes. States are matched to signs in
each cycle by itself, since a learner that starts anew may name its states anew; a line shows the
accuracy in each cycle, the median over the seeds. Learners start from the first cycle, or most of
it. *Anew* is after how many observations the automatic memory started anew, for each seed; the
electrodes were refitted after 1,216.
"""

import argparse
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.emg import SIGNS
from rhmm import (
    AutoMemoryRiemannianHMM,
    ConvergenceWarning,
    DegenerateWarning,
    StreamingRecentring,
    StreamingRiemannianHMM,
)
from rhmm.datasets import load_emg
from rhmm.scoring import accuracy

_FIXED = (50, 100, 200, 400)
_EMISSIONS = ("riemannian", "tied")


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
    cycle = np.repeat(np.arange(len(lengths)), lengths)
    found = [accuracy(signs[cycle == c], states[cycle == c], SIGNS) for c in range(1, len(lengths))]
    return Outcome(found, getattr(learner, "restarts_", []))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="seeds of each learner (5)")
    parser.add_argument("--only", default="", help="learners whose name has this in it")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", DegenerateWarning)
    data = load_emg(["mg_s1"])
    signs, lengths = data.labels, data.lengths
    assert signs is not None
    recentring = StreamingRecentring(data.manifold)
    streams = {
        "as it is": data.points,
        "re-centred": recentring.partial_fit_transform(data.points, lengths=lengths),
    }
    cycles = range(2, len(lengths) + 1)
    print(
        "| emission | stream | memory | " + " | ".join(f"cycle {c}" for c in cycles) + " | anew |"
    )
    print("|---|---|---|" + "---:|" * len(cycles) + "---|")
    for emission in _EMISSIONS:
        for stream, X in streams.items():
            for name, make in learners(emission).items():
                row = f"| {emission} | {stream} | {name} |"
                if arguments.only not in row:
                    continue
                outcomes = [
                    followed(make, data.manifold, X, signs, lengths, seed)
                    for seed in range(arguments.seeds)
                ]
                medians = np.median([outcome.accuracy for outcome in outcomes], axis=0)
                anew = "; ".join(
                    ", ".join(map(str, outcome.restarts)) or "–" for outcome in outcomes
                )
                cells = " | ".join(f"{median:.2f}".lstrip("0") for median in medians)
                print(f"{row} {cells} | {anew if name == 'automatic' else ''} |", flush=True)


if __name__ == "__main__":
    main()
