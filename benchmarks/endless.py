"""``python -m benchmarks.endless``: what a learner needs when the stream does not end.

Streams 10⁷ observations in chunks and watches the memory of the process, times the first
`partial_fit` of a new process, and draws the cost of an observation against Δ. Then the Stream
page: processor time for an observation at its highest pace, drawing the chain, learning, judging
and news included, and the pace that follows for one core. ``--page`` prints this alone.
"""

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from dashboard.compute.endless import EndlessStream
from dashboard.compute.pacing import BUSY, TICK
from dashboard.model.endless import MOST_PACE, Endless, Setup
from dashboard.model.experiment import Experiment
from rhmm import AutoMemoryRiemannianHMM, StreamingRiemannianHMM, WindowedRiemannianHMM
from rhmm.paper import paper_model

FIGURE = Path(__file__).with_name("cost.svg")
WINDOWS = (25, 50, 100, 200, 400, 800, 1600)


def resident_megabytes() -> float:
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024.0


def memory(total: int = 10_000_000, chunk: int = 50_000) -> None:
    truth = paper_model()
    learner = StreamingRiemannianHMM(truth.manifold, 3, random_state=0)
    rng = np.random.default_rng(0)
    first, learning = None, 0.0
    for _ in range(total // chunk):
        X, _ = truth.sample(chunk, random_state=rng)
        begin = time.perf_counter()
        learner.partial_fit(X)
        learning += time.perf_counter() - begin
        first = resident_megabytes() if first is None else first
    growth = resident_megabytes() - first
    print(f"{total:,} observations in chunks of {chunk:,}: {learning:.1f} s of learning")
    print(f"resident memory grew by {growth:.1f} MB after the first chunk")
    print(f"state: {learner.state_nbytes_:,} bytes")


def first_call() -> None:
    program = (
        "import time; begin = time.perf_counter()\n"
        "from rhmm import StreamingRiemannianHMM\nfrom rhmm.paper import paper_model\n"
        "truth = paper_model(); X, _ = truth.sample(1000, random_state=0)\n"
        "StreamingRiemannianHMM(truth.manifold, 3, random_state=0).partial_fit(X)\n"
        "print(time.perf_counter() - begin)"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        for name in ("first process, which compiles", "second process, kernels on disk"):
            command = [sys.executable, "-c", program]
            run = subprocess.run(command, check=True, capture_output=True, env=environment)
            print(f"{name}: import, sample and first partial_fit take {float(run.stdout):.2f} s")


def microseconds(X, kind: type, **options) -> float:
    """For each observation after the first 2,000, the best of three."""
    measured = []
    for _ in range(3):
        learner = kind(paper_model().manifold, 3, random_state=0, **options)
        learner.partial_fit(X[:2000])
        begin = time.perf_counter()
        learner.partial_fit(X[2000:])
        measured.append(1e6 * (time.perf_counter() - begin) / (len(X) - 2000))
    return min(measured)


def cost() -> None:
    X, _ = paper_model().sample(6000, random_state=0)
    figure, axes = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
    kinds = {"windowed": (WindowedRiemannianHMM, "s"), "streaming": (StreamingRiemannianHMM, "o")}
    for name, (kind, marker) in kinds.items():
        times = [microseconds(X, kind, window=window) for window in WINDOWS]
        print(name, ", ".join(f"Δ={w}: {t:.2f} µs" for w, t in zip(WINDOWS, times, strict=True)))
        axes.loglog(WINDOWS, times, marker=marker, label=name)
    print(f"automatic memory: {microseconds(X, AutoMemoryRiemannianHMM):.2f} µs")
    axes.set(xlabel="Δ", ylabel="µs for each observation")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(FIGURE)


def page(total: int = 200_000) -> None:
    """What a stream of the page costs the process that runs it, the best of three."""
    for learners in (Endless().learners, ("streaming", "auto")):
        setup = Setup.of(Experiment(), Endless(learners=learners))
        micros = min(_streamed(setup, total) for _ in range(3))
        reached = min(MOST_PACE, 1e6 * BUSY / micros)
        print(f"Stream page, {', '.join(learners)}, Δ={setup.window}: {micros:.2f} µs of processor "
              f"time an observation, {reached:,.0f} a second on one core")  # fmt: skip


def _streamed(setup: Setup, total: int) -> float:
    """Microseconds for an observation after the first 5,000, news and their sending included."""
    stream, each = EndlessStream(setup), round(MOST_PACE * TICK)
    stream.set_pace(MOST_PACE)
    begin, told = 0.0, 0
    while stream.taken < total + 5_000:
        if not begin and stream.taken >= 5_000:
            begin, first = time.process_time(), stream.taken
        stream.advance(4_000)
        if stream.taken - told >= each:
            told = stream.taken
            pickle.dumps(stream.news())
    return 1e6 * (time.process_time() - begin) / (stream.taken - first)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="only the Stream page")
    if not parser.parse_args().page:
        memory()
        first_call()
        cost()
    page()
