"""``python -m benchmarks.scale``: EM on Parquet files beside EM in memory, and what a step costs.

Writes observations of the paper's chain to Parquet files (10⁷, or ``--rows``), fits them on one
process and on ``--workers``, and prints the time of an observation in an iteration (on the clock,
and of all processors together, which other programs disturb less) and the largest memory of all
processes together. The fit in memory takes as many of them as ``--in-memory`` says. The states of
all rows are decoded, too.
Then it prints what `rhmm.advance` costs for one key. The files are removed at the end.
"""

import argparse
import os
import pickle
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from rhmm import (
    ArrayChunks,
    AutoMemoryRiemannianHMM,
    ConvergenceWarning,
    RiemannianHMM,
    StreamingRiemannianHMM,
    WindowedRiemannianHMM,
    __version__,
    advance,
    open_executor,
    pack,
    predict_chunks,
    unpack,
)
from rhmm.learners import passes
from rhmm.learners.baum_welch import Iterate
from rhmm.learners.part_sums import Tree
from rhmm.paper import paper_model

ROWS_IN_A_FILE, ROWS_IN_A_GROUP = 10_000_000, 65_536
ITERATIONS = 5


class Memory:
    """The largest memory of this process and its descendants together, while it is open.

    What processes share is counted once (the proportional set size).
    """

    def __enter__(self) -> "Memory":
        self.peak, self._over = 0.0, Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.05):
            self.peak = max(self.peak, sum(map(_megabytes, _family(os.getpid()))))


def _family(process: int) -> list[int]:
    """The process and all that it has started."""
    found = [process]
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            for child in task.read_text().split():
                found += _family(int(child))
        except OSError:
            continue  # it has ended meanwhile
    return found


def _megabytes(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024.0


def _processor_seconds() -> float:
    """What this process and its descendants have used so far."""
    ticks = 0
    for process in _family(os.getpid()):
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Fitted(NamedTuple):
    seconds: np.ndarray
    """Of each iteration, on the clock and of all processors together; shape (I, 2)."""
    before: float
    """Seconds until the first iteration is done: one pass to check and sample, a search, one
    pass."""
    model: RiemannianHMM


def write_files(folder: Path, rows: int) -> None:
    """Files of one sequence each, drawn part by part so that no file has to fit into memory."""
    truth, rng = paper_model(), np.random.default_rng(0)
    schema = pa.schema({"x": pa.float64(), "y": pa.float64()})
    for k, first in enumerate(range(0, rows, ROWS_IN_A_FILE)):
        left = min(ROWS_IN_A_FILE, rows - first)
        with parquet.ParquetWriter(folder / f"{k:04}.parquet", schema, compression="none") as file:
            while left:
                X, _ = truth.sample(min(left, 1_000_000), random_state=rng)
                table = pa.table({"x": X[:, 0], "y": X[:, 1]}, schema)
                file.write_table(table, row_group_size=ROWS_IN_A_GROUP)
                left -= len(X)


def fit(X, **arguments) -> Fitted:
    """A fit of a few iterations."""
    truth, times = paper_model(), []
    model = RiemannianHMM(
        truth.manifold,
        3,
        n_iter=ITERATIONS,
        tol=0.0,
        random_state=0,
        callback=lambda monitor: times.append((time.perf_counter(), _processor_seconds())),
    )
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, **arguments)
    return Fitted(np.diff(times, axis=0), times[0][0] - begin, model)


def report(name: str, rows: int, fitted: Fitted, memory: Memory) -> np.ndarray:
    """Print a line; returns nanoseconds of an observation in an iteration, of both kinds."""
    clock, processors = 1e9 * fitted.seconds.mean(axis=0) / rows
    print(
        f"{name:<26}{rows:>12,}{clock:>9.1f} ns{processors:>9.1f} ns"
        f"{fitted.seconds[:, 0].mean():>8.2f} s{fitted.before:>8.2f} s{memory.peak:>9,.0f} MB",
        flush=True,
    )
    return np.array([clock, processors])


def fits(folder: Path, rows: int, workers: int, in_memory: int) -> None:
    fit([paper_model().sample(3000, random_state=0)[0]])  # compiles or loads kernels
    fit(paper_model().sample(3000, random_state=0)[0])
    print(
        f"{'':<26}{'rows':>12}{'clock':>12}{'processors':>12}{'iteration':>10}{'start':>10}{'memory':>12}"
    )
    with Memory() as memory:
        alone = fit(folder)
    report("Parquet, one process", rows, alone, memory)
    with Memory() as memory, open_executor(workers=workers) as executor:
        several = fit(folder, executor=executor)
    cost = report(f"Parquet, {workers} processes", rows, several, memory)
    same = all(
        np.array_equal(ours, theirs)
        for ours, theirs in zip(alone.model.parameters_, several.model.parameters_, strict=True)
    )
    with Memory() as memory:
        X, _ = paper_model().sample(in_memory, random_state=0)
        whole = fit(X)
    in_memory_cost = report("in memory, one process", in_memory, whole, memory)
    print(f"{workers} processes and one give the same bits: {same}")
    clock, processors = cost / in_memory_cost
    print(
        f"an observation takes {clock:.2f} of its time in memory on the clock of {workers} "
        f"processes, {processors:.2f} of the processors' time"
    )


def decoding(folder: Path, rows: int, workers: int) -> None:
    """States of all rows, a row group at a time."""
    model = paper_model()
    small = np.split(model.sample(100_000, random_state=0)[0], 10 * workers)
    with Memory() as memory, open_executor(workers=workers) as executor:
        list(predict_chunks(model, small, executor=executor))  # compiles or loads kernels
        begin, computed = time.perf_counter(), _processor_seconds()
        count = sum(len(states) for states in predict_chunks(model, folder, executor=executor))
        clock, processors = time.perf_counter() - begin, _processor_seconds() - computed
    print(
        f"states of {count:,} rows, {workers} processes: {1e9 * clock / rows:.1f} ns a row on the "
        f"clock, {1e9 * processors / rows:.1f} ns of processors, {memory.peak:,.0f} MB",
        flush=True,
    )


def coordination(count: int = 50, size: int = 4000) -> None:
    """What a piece of a sequence costs the process that hands out the pieces and adds up."""
    truth = paper_model()
    model = Iterate(truth.startprob_, truth.transmat_, truth.law_)
    X, _ = truth.sample(count * size, random_state=0)
    chunks = ArrayChunks(np.split(X, count), one_sequence=True)
    prints = passes.draw_sample(truth.manifold, chunks, 2000, 0, None).prints
    pieces = list(chunks.pieces())
    tasks = [
        passes.Task(__version__, truth.manifold, piece, mark)
        for piece, mark in zip(pieces, prints, strict=True)
    ]
    found = [passes.contribution(task, model) for task in tasks]

    def add_up(_) -> None:
        tree = Tree()
        for sums in passes.stitched(model, zip(pieces, found, strict=True)):
            tree.add(sums)

    add_up(None)
    cost = _microseconds(add_up, 50) / count
    without_data = tasks[1]._replace(piece=pieces[1]._replace(loader=None))
    sent, back = len(pickle.dumps((without_data, model))), len(pickle.dumps(found[1]))
    held = len(found[1].head) + len(found[1].tail)
    print(
        f"\na piece costs {cost:.0f} µs of the coordinator, {sent:,} bytes to the worker and "
        f"{back:,} bytes back, with {held} observations for its neighbours"
    )


def steps(size: int = 100, rounds: int = 200) -> None:
    """What a step of one key costs besides the learning itself."""
    truth = paper_model()
    X, _ = truth.sample(1000 + size, random_state=0)
    print(
        f"\n{'a key':<28}{'bytes':>9}{'pack':>10}{'unpack':>10}{f'step of {size}':>13}{'alone':>10}"
    )
    for kind, options in (
        (StreamingRiemannianHMM, {"memory": "fixed"}),
        (StreamingRiemannianHMM, {}),
        (WindowedRiemannianHMM, {"window": 60}),
        (AutoMemoryRiemannianHMM, {}),
    ):
        learner = kind(truth.manifold, 3, random_state=0, **options).partial_fit(X[:1000])
        state, chunk = pack(learner), X[1000:]
        works = (
            lambda _, learner=learner: pack(learner),
            lambda _, state=state: unpack(state),
            lambda _, state=state, chunk=chunk: advance(state, chunk),
            lambda fresh, chunk=chunk: fresh.partial_fit_predict_proba(chunk),
        )
        costs = "".join(
            f"{_microseconds(work, rounds, partial(unpack, state)):>7,.0f} µs" for work in works
        )
        name = " ".join([kind.__name__.removesuffix("RiemannianHMM"), *map(str, options.values())])
        print(f"{name:<28}{len(state):>9,}{costs}")


def _microseconds(work: Callable, rounds: int, prepare: Callable = lambda: None) -> float:
    """The least processor time of `work` on what `prepare` has made, which does not count.

    The least, because these times are so short that other programs only ever add to them.
    """
    times = []
    for _ in range(rounds):
        given = prepare()
        begin = time.process_time()
        work(given)
        times.append(time.process_time() - begin)
    return 1e6 * min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000, help="0: only what steps cost")
    parser.add_argument("--in-memory", type=int, default=2_000_000)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if given.rows:
        with tempfile.TemporaryDirectory(prefix="rhmm-scale-") as name:
            write_files(Path(name), given.rows)
            fits(Path(name), given.rows, given.workers, min(given.in_memory, given.rows))
            decoding(Path(name), given.rows, given.workers)
    coordination()
    steps()


if __name__ == "__main__":
    main()
