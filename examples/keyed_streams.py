"""``python -m examples.keyed_streams``: a learner for each of 1,000 keys, on a cluster.

Each key (a sensor, a patient, …) has a stream of its own. Its learner lives as bytes in the table
of this program; a round sends the bytes of each key with its next observations to a worker, and
puts what comes back into the table. The step is a pure function, so a worker that is killed loses
nothing: its steps are taken again elsewhere, from the same bytes, with the same result.

Without ``--scheduler`` a Dask cluster of two processes is started, one of them is killed in the
middle, and all numbers are compared with those of one process that does the same.
"""

import argparse
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor

import numpy as np

from rhmm import StreamingRiemannianHMM, advance, open_executor, pack
from rhmm.paper import paper_model

KEYS_IN_A_TASK = 25
"""Keys that travel together: a step takes less time than a message."""

States = dict[str, bytes]
Chunks = dict[str, np.ndarray]


def first_states(count: int) -> States:
    """A learner for each key that has seen nothing, with a seed of its own."""
    manifold = paper_model().manifold
    return {
        f"sensor {k}": pack(StreamingRiemannianHMM(manifold, 3, window=60, random_state=k))
        for k in range(count)
    }


def observations(count: int, size: int, round_: int) -> Chunks:
    """What the sensors have measured in a round, shape (size, 2) each."""
    truth = paper_model()
    return {f"sensor {k}": truth.sample(size, random_state=[k, round_])[0] for k in range(count)}


def advance_several(pairs: list[tuple[bytes, np.ndarray]]) -> list[tuple[bytes, np.ndarray]]:
    """The work of a task: one step of each key."""
    return [tuple(advance(state, X)) for state, X in pairs]


def advance_round(executor: Executor | None, states: States, chunks: Chunks) -> Chunks:
    """Replace the state of each key by the next; returns the filtered probabilities of each."""
    filtered = {}
    keys = list(chunks)
    batches = [keys[k : k + KEYS_IN_A_TASK] for k in range(0, len(keys), KEYS_IN_A_TASK)]
    work = [[(states[key], chunks[key]) for key in batch] for batch in batches]
    if executor is None:
        found: Iterator = map(advance_several, work)
    else:
        found = (future.result() for future in [executor.submit(advance_several, w) for w in work])
    for batch, results in zip(batches, found, strict=True):
        for key, (state, probabilities) in zip(batch, results, strict=True):
            states[key], filtered[key] = state, probabilities
    return filtered


def run(
    executor: Executor | None,
    rounds: list[Chunks],
    on_round: Callable[[int], None] | None = None,
) -> States:
    """All rounds; `on_round` is called while a round is under way, with its number."""
    states = first_states(len(rounds[0]))
    for number, chunks in enumerate(rounds):
        if on_round is not None:
            on_round(number)
        advance_round(executor, states, chunks)
    return states


def _on_a_cluster(rounds: list[Chunks]) -> States:
    from distributed import Client, LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as cluster:
        with Client(cluster.scheduler_address, set_as_default=False) as client:
            victim, *_ = client.run(os.getpid).values()

        def kill(round_: int) -> None:
            if round_ == len(rounds) // 2:
                print(f"round {round_}: worker {victim} is killed")
                os.kill(victim, signal.SIGKILL)

        with open_executor(cluster.scheduler_address) as executor:
            return run(executor, rounds, kill)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--size", type=int, default=100, help="observations of a key in a round")
    parser.add_argument("--scheduler", help="address of a Dask scheduler")
    given = parser.parse_args()
    rounds = [observations(given.keys, given.size, number) for number in range(given.rounds)]
    begin = time.perf_counter()
    if given.scheduler:
        with open_executor(given.scheduler) as executor:
            states = run(executor, rounds)
    else:
        states = _on_a_cluster(rounds)
    seconds = time.perf_counter() - begin
    total = given.keys * given.rounds * given.size
    held = sum(map(len, states.values()))
    print(
        f"{given.keys:,} keys, {total:,} observations in {seconds:.1f} s; {held:,} bytes of state"
    )
    begin = time.process_time()
    same = states == run(None, rounds)
    seconds = time.process_time() - begin
    print(f"the same bytes as on one process, which computed for {seconds:.1f} s: {same}")


if __name__ == "__main__":
    main()
