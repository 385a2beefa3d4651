"""``python -m benchmarks.drift``: who follows when the truth changes?

The paper's chain changes in one way after another. Printed is the causal accuracy after the change
of each fixed memory, of the automatic memory, and of two ways to combine the same memories: follow
the leader, and fixed share. Labels are matched once for each stretch between two events; runs are
counted in which the automatic memory matches otherwise at the end than before the first event.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rhmm import AutoMemoryRiemannianHMM, Hyperbolic, StreamingRiemannianHMM
from rhmm.gaussian.table import radial_table
from rhmm.paper import MEANS, SIGMAS, TRANSMAT
from rhmm.scoring import match_states
from rhmm.streams.streaming_kernel import learn
from rhmm.streams.trace import empty_trace
from rhmm.worlds import (
    Event,
    NewState,
    NewTransitions,
    Part,
    Scale,
    SlowTurn,
    StateAway,
    Turn,
    World,
)

MEMORIES: tuple[int | str, ...] = (50, 100, 200, 400, 800, "growing")
AT, AFTER = 5_000, 5_000
"""Observations before an event, and after it."""
SPACING = 3_000
"""Observations between two events of the sequence."""
NAMED = 2_000
"""Observations before the first event, and at the end, that tell the names of states."""
LEFT_ALONE = 2_000
"""Observations after which combined memories are left alone: they begin as those of the automatic
memory."""
SHARE = 0.01
"""Of its weight that each memory gives to all others at each observation, in fixed share."""
OTHER_A = ((0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.3, 0.3, 0.4))

EVENTS: dict[str, Event] = {
    "turn by 10°": Turn(angle=10),
    "turn by 30°": Turn(angle=30),
    "turn by 90°": Turn(angle=90),
    "means × −0.9": Scale(factor=-0.9),
    "slow full turn": SlowTurn(angle=360, length=AFTER),
    "another A": NewTransitions(transmat=OTHER_A),
    "a state away, and back": StateAway(state=2, length=2_000),
    "a new state": NewState(mean=(0.0, -0.7), sigma=0.4),
}


def sequence() -> list[Event]:
    """All events but the new state, which needs learners of four states, one after another."""
    back = NewTransitions(transmat=TRANSMAT)
    events = [event for event in EVENTS.values() if not isinstance(event, NewState)]
    events[4] = SlowTurn(angle=360, length=SPACING)
    events.insert(6, back)
    return [event.moved_to(SPACING * (k + 1)) for k, event in enumerate(events)]


def scenarios() -> Iterator[tuple[str, int, list[Event], list[int]]]:
    """The name of each, its number of states, its events, and the ends of the stretches that are
    scored, beginning with where scoring begins."""
    for name, event in EVENTS.items():
        n = 4 if isinstance(event, NewState) else 3
        ends = [AT, AT + AFTER]
        if isinstance(event, StateAway):
            ends.insert(1, AT + event.length)
        yield name, n, [event.moved_to(AT)], ends
    events = sequence()
    yield "all in sequence", 3, events, [SPACING * (k + 1) for k in range(len(events) + 1)]


def accuracy(part: Part, labels: np.ndarray, ends: list[int], n: int) -> float:
    """The share of states found, labels matched once for each stretch."""
    right = 0
    for begin, end in pairwise(ends):
        states, found = part.states[begin:end], labels[begin:end]
        right += int((match_states(states, found, n)[states] == found).sum())
    return right / (ends[-1] - ends[0])


def has_renamed(part: Part, labels: np.ndarray, at: int, n: int) -> bool:
    """Whether states have other names at the end than before an event."""
    before, after = (
        match_states(part.states[stretch], labels[stretch], n)
        for stretch in (slice(at - NAMED, at), slice(-NAMED, None))
    )
    return bool((before != after).any())


def single(memory: int | str):
    if memory == "growing":
        return StreamingRiemannianHMM
    return partial(StreamingRiemannianHMM, window=memory, memory="fixed")


def combined(X: np.ndarray, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of follow the leader and of fixed share, shape (T,) each.

    Both combine memories that start from the same state and then run on their own, without
    restarts or any exchange.
    """
    online = AutoMemoryRiemannianHMM(Hyperbolic(2), n, random_state=seed)
    begun = online.partial_fit_predict_proba(X[:LEFT_ALONE])
    table, T = radial_table(online.manifold.gaussian), len(X) - LEFT_ALONE
    observed = np.ones(T, bool)
    filtered, predictive = np.empty((len(MEMORIES), T, n)), np.empty((len(MEMORIES), T))
    for k, memory in enumerate(MEMORIES):
        state = online._bank.runners[online._bank.leader].copy().state
        learn(
            online.manifold.geometry, table, online._memory(memory), X[LEFT_ALONE:], observed,
            ~observed, state, filtered[k], predictive[k], empty_trace(0, state.means),
        )  # fmt: skip
    before = np.concatenate([np.zeros((len(MEMORIES), 1)), predictive.cumsum(axis=1)], axis=1)
    leaders = before[:, 1:].argmax(axis=0)
    led = filtered[leaders, np.arange(T)]
    weights = np.full(len(MEMORIES), 1.0 / len(MEMORIES))
    shared = np.empty((T, n))
    for t in range(T):
        weights = weights * np.exp(predictive[:, t] - predictive[:, t].max())
        weights /= weights.sum()
        shared[t] = weights @ filtered[:, t]
        weights = (1.0 - SHARE) * weights + SHARE / len(MEMORIES)
    both = [np.concatenate([begun, law]).argmax(axis=1) for law in (led, shared)]
    return both[0], both[1]


def measure(n: int, events: list[Event], ends: list[int], seed: int) -> list[float]:
    """Accuracies of the ceiling, the automatic memory, both combinations and each fixed memory,
    how often the automatic one started anew, and whether it has renamed states."""
    world = World(Hyperbolic(2), TRANSMAT, MEANS, SIGMAS, events=events, seed=seed)
    part = world.take(ends[-1])
    auto = AutoMemoryRiemannianHMM(Hyperbolic(2), n, random_state=seed)
    labels = [part.ceiling, auto.partial_fit_predict_proba(part.X).argmax(axis=1)]
    labels += combined(part.X, n, seed)
    for memory in MEMORIES:
        online = single(memory)(Hyperbolic(2), n, random_state=seed)
        labels.append(online.partial_fit_predict_proba(part.X).argmax(axis=1))
    scores = [accuracy(part, found, ends, n) for found in labels]
    restarts = sum(at >= ends[0] for at in auto.restarts_)
    return [*scores, restarts, has_renamed(part, labels[1], ends[0], n)]


def cost(repeats: int = 7) -> tuple[float, float]:
    """Microseconds of processor time for each observation after the first 2,000, of one memory and
    of the automatic one: the best of several."""
    X = World(Hyperbolic(2), TRANSMAT, MEANS, SIGMAS).take(22_000).X
    best = []
    for kind in (StreamingRiemannianHMM, AutoMemoryRiemannianHMM):
        times = []
        for _ in range(repeats):
            online = kind(Hyperbolic(2), 3, random_state=0).partial_fit(X[:2_000])
            begin = time.process_time()
            online.partial_fit(X[2_000:])
            times.append(1e6 * (time.process_time() - begin) / 20_000)
        best.append(min(times))
    return best[0], best[1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drift", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="of each event (20)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    options = parser.parse_args()
    seeds, first = options.seeds, options.first
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"Causal accuracy after the event, mean of seeds {first} to {first + seeds - 1}")
    print("'behind': how far the automatic memory is behind the best fixed one (negative: ahead),")
    print("with its standard error\n")
    head = ["event", "ceiling", "automatic", "leader", "share", *map(str, MEMORIES), "behind"]
    print("| " + " | ".join([*head, "restarts", "renamed"]) + " |")
    print("|---|" + "---:|" * (len(head) + 1))
    for name, n, events, ends in scenarios():
        rows = np.array([measure(n, events, ends, seed) for seed in range(first, first + seeds)])
        mean = rows.mean(axis=0)
        best = 4 + int(np.argmax(mean[4:-2]))
        behind = rows[:, best] - rows[:, 1]
        error = behind.std(ddof=1) / np.sqrt(seeds) if seeds > 1 else np.nan
        cells = [f"{value:.4f}" for value in mean[:-2]]
        cells += [f"{behind.mean():.4f} ± {error:.4f}", f"{mean[-2]:.1f}"]
        # A state that was not there before the event had no name to keep.
        cells.append(f"{rows[:, -1].sum():.0f} of {seeds}" if n == 3 else "–")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    one, auto = cost()
    print(f"\none memory {one:.2f} µs an observation, the automatic one {auto:.2f}: "
          f"{auto / one:.1f} times")  # fmt: skip


if __name__ == "__main__":
    main()
