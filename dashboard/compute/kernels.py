"""The engine's kernels, compiled by processes of their own before a page needs them.

The compiler holds the interpreter's lock: in the server's own process all pages would stand still
meanwhile. So processes beside it compile, two at a time, and the server loads what they have left
on disk. A mark on disk says which parts are there, so that the next server need not ask.

``python -m dashboard.compute.kernels`` compiles what the first page needs, and ends.
"""

import os
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numba
from llvmlite import binding

from dashboard.model.experiment import LEAST_LENGTH, LEAST_WINDOW, Experiment
from dashboard.model.methods import BASELINES, ONLINE_LEARNERS
from dashboard.model.spaces.registry import DEFAULT, SPACES
from rhmm._jit import cache_folder, cache_stamp
from rhmm.learners.registry import LEARNERS
from rhmm.sweeping.workers import processors
from rhmm.trial import run_trial

ROOT = Path(__file__).parents[2]
MODULE = "dashboard.compute.kernels"
AT_ONCE = 2
"""Compilers that run side by side."""
_LOOK = 0.1
"""Seconds between two looks at the compilers."""


class Part(NamedTuple):
    """The kernels of one method on one space."""

    space: str
    method: str

    @property
    def mark(self) -> Path:
        """The file that says that these kernels are on disk, for this engine and this machine."""
        machine = f"{numba.__version__}-{binding.get_host_cpu_name()}"
        return cache_folder() / f"compiled-{cache_stamp()}-{machine}-{self.space}-{self.method}"

    @property
    def is_there(self) -> bool:
        return self.mark.exists()

    def load(self) -> None:
        """Load the kernels into this process, or compile them in it if they are not on disk."""
        _load(self)
        with suppress(OSError):  # a folder that cannot be written to: the next server asks again
            self.mark.touch()


@cache
def _load(part: Part) -> None:
    """Learn from a few observations: this calls every kernel with the types of a real run."""
    online = part.method in ONLINE_LEARNERS
    chosen = {"algorithms": (part.method,)} if online else {}
    small = Experiment(
        **{**SPACES[part.space].truth, **chosen}, length=LEAST_LENGTH, window=LEAST_WINDOW
    )
    points, states = small.source.observe()
    run_trial(
        LEARNERS[part.method],
        small.source.true_model(),
        points,
        states,
        seed=small.seed,
        options=small.options_of(part.method) if online else {},
        trace_every=1 if online else None,
    )


def parts_of(space: str, algorithms: Iterable[str]) -> list[Part]:
    """What a run of these online learners needs: theirs, and those of all baselines."""
    return [Part(space, method) for method in (*algorithms, *BASELINES)]


class Compilers:
    """Processes that compile parts, the one that was asked for last first."""

    def __init__(self, at_once: int = AT_ONCE):
        self._at_once = max(1, min(at_once, processors()))
        self._changed = threading.Condition()
        self._waiting: OrderedDict[Part, None] = OrderedDict()
        self._running: dict[Part, subprocess.Popen] = {}

    def ask(self, parts: Iterable[Part]) -> None:
        """Let these be compiled before all others; those that are on disk are not."""
        with self._changed:
            for part in reversed([part for part in parts if not part.is_there]):
                if part not in self._running:
                    self._waiting[part] = None
                    self._waiting.move_to_end(part, last=False)
            self._start()

    def wait(self, parts: Iterable[Part], report: Callable[[int, int], None]) -> None:
        """Ask for these and wait until they are on disk.

        `report` gets how many of them are there and how many there are; it may raise to give up.
        """
        wanted = list(parts)
        self.ask(wanted)
        while True:
            with self._changed:
                self._collect()
                left = [part for part in wanted if part in self._running or part in self._waiting]
            if not left:
                return
            report(len(wanted) - len(left), len(wanted))
            time.sleep(_LOOK)

    def close(self) -> None:
        """End all compilers."""
        with self._changed:
            self._waiting.clear()
            for process in self._running.values():
                process.terminate()
                process.wait()
            self._running.clear()

    def _collect(self) -> None:
        """Take note of compilers that have ended, and start others in their place."""
        for part, process in list(self._running.items()):
            if process.poll() is not None:  # one that failed leaves its part to the server itself
                del self._running[part]
        self._start()

    def _start(self) -> None:
        while self._waiting and len(self._running) < self._at_once:
            part, _ = self._waiting.popitem(last=False)
            command = [sys.executable, "-m", MODULE, part.space, part.method]
            self._running[part] = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL)


@cache
def compilers() -> Compilers:
    """Those of this server."""
    return Compilers()


def prepare(parts: list[Part], report: Callable[[int, int], None]) -> None:
    """Have these kernels in this process, whoever compiles them."""
    if not all(part.is_there for part in parts):
        compilers().wait(parts, report)
    for part in parts:
        part.load()


def main(arguments: list[str]) -> None:
    if arguments:
        if hasattr(os, "nice"):
            os.nice(5)  # pages come first
        Part(*arguments).load()
        return
    wanted = parts_of(DEFAULT.key, Experiment().algorithms)
    if all(part.is_there for part in wanted):
        return
    print("Compiling the engine, once for this machine: about half a minute.", flush=True)
    compilers().wait(wanted, lambda done, total: None)


if __name__ == "__main__":
    main(sys.argv[1:])
