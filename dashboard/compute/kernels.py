"""The engine's kernels, compiled by processes of their own before a page needs them.

The compiler holds the interpreter's lock: in the server's own process all pages would stand still
meanwhile. So processes beside it compile, one for each space, and the server loads what they have
left on disk. A mark on disk says which parts are there, so that the next server need not ask.

Two processes for one space are no quicker: most of the work is in kernels that all methods share,
and both would compile them.

``python -m dashboard.compute.kernels`` compiles what the first page needs, and ends; with ``all``
it compiles what any page may need.
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
from typing import Any, NamedTuple

import numba
from llvmlite import binding

from dashboard.model.experiment import LEAST_WINDOW, Experiment
from dashboard.model.methods import BASELINES, EMISSION, ONLINE_LEARNERS, has_emission
from dashboard.model.spaces.registry import DEFAULT, SPACES
from rhmm import Manifold, evaluate
from rhmm._jit import cache_folder, cache_stamp
from rhmm.learners.registry import LEARNERS
from rhmm.sweeping.workers import processors
from rhmm.worlds import BLOCK, Recovery, World

ROOT = Path(__file__).parents[2]
MODULE = "dashboard.compute.kernels"
AT_ONCE = 2
"""Spaces that are compiled for side by side."""
_ENOUGH = 1_000
"""Observations from which a learner has called each of its kernels."""
_LOOK = 0.1
"""Seconds between two looks at the compilers."""
WITH_SHAPES = "+shapes"
_SHAPED = "full"
"""An emission whose kernels are those of all shapes."""
_FLAT = "plane"
"""The recording whose kernels stand for those of flat spaces."""


class Part(NamedTuple):
    """The kernels of one method on one space."""

    space: str
    """See `space_for`."""
    method: str
    """The key of a learner; with `WITH_SHAPES` behind it, of states that have shapes."""

    @property
    def mark(self) -> Path:
        """The file that says that these kernels are on disk, for this engine and this machine."""
        machine = f"{numba.__version__}-{binding.get_host_cpu_name()}"
        return cache_folder() / f"compiled-{cache_stamp()}-{machine}-{self.space}-{self.method}"

    @property
    def learner(self) -> str:
        return self.method.removesuffix(WITH_SHAPES)

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
    learner, small = LEARNERS[part.learner], _small(part)
    options = small.options_of(part.learner)
    truth, (points, states, _) = small.source.true_model(), small.source.observe()
    if learner.needs_truth:
        if truth is not None:
            evaluate(truth, truth, points, states)
        return
    manifold, points = small.source.manifold, points[:_ENOUGH]
    manifold.normal_coordinates(points[0], points)  # maps of recordings, and their shapes
    learner.learn(learner.make(manifold, small.n_states, 0, options, trace_every=1), points)
    if truth is not None:  # streams are drawn and judged by kernels of their own
        world = World(manifold, truth.transmat_, truth.means_, truth.sigmas_)
        drawn = world.take(BLOCK)
        Recovery().add(drawn.states, drawn.ceiling, drawn.ceiling)


def _small(part: Part) -> Experiment:
    learning: dict[str, Any] = {"length": _ENOUGH, "window": LEAST_WINDOW}
    if part.learner in ONLINE_LEARNERS:
        learning["algorithms"] = (part.learner,)
    if part.method != part.learner:
        learning[EMISSION.name] = _SHAPED
    if part.space in SPACES:
        return Experiment(**SPACES[part.space].truth, **learning)
    return Experiment(recording=part.space, **learning)


def space_for(manifold: Manifold) -> str:
    """The key of a space, or of a recording, whose kernels are those of this manifold: they do not
    depend on its size."""
    kind = type(manifold.geometry)
    alike = (key for key, space in SPACES.items() if type(space.manifold.geometry) is kind)
    return next(alike, _FLAT)


def parts_of(space: str, algorithms: Iterable[str], with_shapes: bool = False) -> list[Part]:
    """What a run of these online learners needs: theirs, and those of all baselines."""

    def name(method: str) -> str:
        return method + WITH_SHAPES if with_shapes and has_emission(method) else method

    return [Part(space, name(method)) for method in (*BASELINES, *algorithms)]


class Compilers:
    """Processes that compile parts: one for each space, the space that was asked for last first."""

    def __init__(self, at_once: int = AT_ONCE):
        self._at_once = max(1, min(at_once, processors()))
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, list[Part]] = OrderedDict()
        self._running: dict[str, subprocess.Popen] = {}
        self._is_watched = False

    def ask(self, parts: Iterable[Part]) -> None:
        """Let these be compiled before all others that have not begun."""
        wanted = [part for part in parts if not part.is_there]
        with self._lock:
            for space in dict.fromkeys(part.space for part in wanted):
                mine = [part for part in wanted if part.space == space]
                before = [part for part in self._waiting.get(space, []) if part not in mine]
                self._waiting[space] = mine + before
                self._waiting.move_to_end(space, last=False)
            self._go_on()
            if self._running and not self._is_watched:
                self._is_watched = True
                threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        """Start the next compiler when one has ended, until there are no more."""
        while True:
            time.sleep(_LOOK)
            with self._lock:
                self._go_on()
                self._is_watched = bool(self._running)
                if not self._is_watched:  # `ask` starts another watch from here on
                    return

    def wait(self, parts: Iterable[Part], report: Callable[[int, int], None]) -> None:
        """Ask for these and wait until they are on disk.

        `report` gets how many of them are there and how many there are; it may raise to give up.
        """
        wanted = list(parts)
        if all(part.is_there for part in wanted):
            return
        self.ask(wanted)
        while True:
            with self._lock:
                busy = {*self._running, *self._waiting}
            left = [part for part in wanted if not part.is_there and part.space in busy]
            if not left:  # a compiler that failed leaves its parts to the server itself
                return
            report(len(wanted) - len(left), len(wanted))
            time.sleep(_LOOK)

    def close(self) -> None:
        """End all compilers."""
        with self._lock:
            self._waiting.clear()
            for process in self._running.values():
                process.terminate()
                process.wait()
            self._running.clear()

    def _go_on(self) -> None:
        """Take note of compilers that have ended, and start others in their place."""
        for space, process in list(self._running.items()):
            if process.poll() is not None:
                del self._running[space]
        for space in [s for s in self._waiting if s not in self._running]:
            if len(self._running) == self._at_once:
                return
            parts = [part.method for part in self._waiting.pop(space) if not part.is_there]
            if parts:
                command = [sys.executable, "-m", MODULE, space, *parts]
                self._running[space] = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL)


@cache
def compilers() -> Compilers:
    """Those of this server."""
    return Compilers()


ALL = "all"
"""The argument of this program that asks for all parts."""


def every_part() -> list[Part]:
    """Those of all spaces and learners."""
    return [part for space in SPACES for part in parts_of(space, ONLINE_LEARNERS)]


def main(arguments: list[str]) -> None:
    if arguments and arguments != [ALL]:
        if hasattr(os, "nice"):
            os.nice(5)  # pages come first
        space, *methods = arguments
        for method in methods:
            part = Part(space, method)
            if part.learner in LEARNERS:  # one from outside is registered in the server alone
                part.load()
        return
    wanted = every_part() if arguments else parts_of(DEFAULT.key, Experiment().algorithms)
    if all(part.is_there for part in wanted):  # then nothing is said
        return
    print("Compiling the engine, once for this machine.", flush=True)
    begin = time.monotonic()
    compilers().wait(wanted, lambda done, total: None)
    print(f"Compiled in {time.monotonic() - begin:.0f} s.", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
