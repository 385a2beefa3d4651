"""``python -m benchmarks.large_file``: a file of 100,000 matrices of 8 × 8 on the Data page.

Makes the file, then reads it and learns its states as the page does, in the process beside the
server. Prints how long that took, how much of it processors worked, the most memory that both
processes held, and how soon a visitor who cancels is rid of it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from dashboard.compute import data_workers, fits
from dashboard.compute.fits import FitRequest, ReadRequest
from dashboard.compute.jobs import Cancelled
from dashboard.model.analysis import BIC, EM, STREAMING, HeldFile, HeldRecording, ReadOptions
from rhmm import SPD, RiemannianHMM

MOST_SECONDS, MOST_MEGABYTES = 60.0, 1000.0
_TICKS = os.sysconf("SC_CLK_TCK")


def make(path: Path, rows: int, size: int, states: int) -> None:
    """A chain of states that are well apart, as a .npy file with an upper triangle in each row:
    whole matrices of 100,000 × 8 × 8 would have 51.2 MB, and the page takes 50."""
    rng = np.random.default_rng(0)
    roots = np.eye(size) + 0.12 * rng.standard_normal((states, size, size))
    means = roots @ roots.transpose(0, 2, 1)
    transmat = np.full((states, states), 0.05 / max(states - 1, 1))
    np.fill_diagonal(transmat, 0.95 if states > 1 else 1.0)
    model = RiemannianHMM.from_parameters(
        SPD(size), np.full(states, 1.0 / states), transmat, means, np.full(states, 0.25)
    )
    points, _ = model.sample(rows, random_state=rng)
    np.save(path, points[:, *np.triu_indices(size)])


class Gauge:
    """What this process and those that it has started hold and have worked; a `Report`."""

    def __init__(self) -> None:
        self.peaks: dict[int, float] = {}
        self.worked = 0.0
        self.doing: list[str] = []

    def __call__(self, result, doing: str, share: float) -> None:
        if self.doing[-1:] != [doing]:
            self.doing.append(doing)
        pids = [os.getpid()]
        for children in Path("/proc/self/task").glob("*/children"):
            pids += map(int, children.read_text().split())
        self.peaks |= {pid: _most_held(pid) for pid in pids}
        times = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
        self.worked = sum(int(t[11]) + int(t[12]) for t in times) / _TICKS

    def held(self) -> str:
        """The most memory of each process."""
        each = " + ".join(f"{peak:.0f}" for peak in self.peaks.values())
        return f"{sum(self.peaks.values()):8.0f} MB = {each}"


def _most_held(pid: int) -> float:
    """The most memory that a process has held so far, in MB."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition("VmHWM:")[2].split()[0]) / 1024


def measured(wanted: FitRequest) -> None:
    """Learn, and print a line of it."""
    gauge = Gauge()
    gauge(None, "", 0.0)
    before, begin = gauge.worked, time.perf_counter()
    result = fits.compute(wanted, gauge)
    took = time.perf_counter() - begin
    gauge(None, "", 1.0)
    name = f"{wanted.method}, {wanted.n_states} states, {len(gauge.doing)} reports"
    print(
        f"{name:34}{took:8.1f} s{gauge.worked - before:9.1f} s of processors"
        f"{gauge.held()}   {result.remark}",
        flush=True,
    )


def cancelled(wanted: FitRequest, after: float) -> float:
    """Seconds from the click to the end of a fit that is cancelled."""
    begin, clicked = time.perf_counter(), 0.0

    def report(*_) -> None:
        nonlocal clicked
        if time.perf_counter() - begin > after:
            clicked = time.perf_counter()
            raise Cancelled

    try:
        fits.compute(wanted, report)
    except Cancelled:
        return time.perf_counter() - clicked
    return np.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--states", type=int, default=5)
    parser.add_argument(
        "--bic", action="store_true", help="let BIC choose the number of states too"
    )
    parser.add_argument("--make", type=Path, help="only make the file, here")
    arguments = parser.parse_args()
    if arguments.make is not None:
        make(arguments.make, arguments.rows, arguments.size, arguments.states)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matrices.npy"
        options = [f"--rows={arguments.rows}", f"--size={arguments.size}"]
        options += [f"--states={arguments.states}", f"--make={path}"]
        subprocess.run([sys.executable, "-m", "benchmarks.large_file", *options], check=True)
        file = HeldFile.of(path.name, path.read_bytes())
    print(f"{len(file.content) / 1e6:.1f} MB; goals: {MOST_SECONDS:.0f} s, {MOST_MEGABYTES:.0f} MB")
    data_workers.start()
    try:
        gauge = Gauge()
        gauge(None, "", 0.0)
        before, begin = gauge.worked, time.perf_counter()
        read = fits.compute(ReadRequest(file, ReadOptions()), gauge)
        gauge(None, "", 1.0)
        print(
            f"{'reading':34}{time.perf_counter() - begin:8.1f} s{gauge.worked - before:9.1f} s of "
            f"processors{gauge.held()}",
            flush=True,
        )
        assert read.reading is not None, read.problem
        held = HeldRecording((file, ReadOptions()), read.reading.recording)
        for method, n_states in ((EM, arguments.states), (STREAMING, arguments.states)):
            measured(FitRequest(held, n_states, method))
        if arguments.bic:
            measured(FitRequest(held, BIC, EM))
        wait = cancelled(FitRequest(held, BIC, EM), after=2.0)
        print(f"{'cancelled':34}{wait:8.1f} s after the click")
    finally:
        data_workers.stop()


if __name__ == "__main__":
    main()
