"""One state on its way through a stream, and several of them side by side."""

import sys
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rhmm._jit import lean_kernel
from rhmm.manifolds import Manifold
from rhmm.streams.checks import check_array, check_whole
from rhmm.streams.chunk import Chunk
from rhmm.streams.trace import Trace, empty_trace

_MOST = 10.0
"""Nats that a runner can fall behind the best by one observation."""


class Runner(NamedTuple):
    """A state of an online algorithm and the settings it runs under.

    Both are NamedTuples of the algorithm: numba compiles its kernel for their types.
    """

    settings: Any
    state: Any

    def copy(self) -> "Runner":
        return Runner(self.settings, self.state._make(map(np.ndarray.copy, self.state)))


class Ensemble:
    """Runners on the same stream, scored by how well each predicts it; the best one leads.

    `learn` is the algorithm's kernel, the same for all of them.
    """

    forget = 0.0
    """The share of its score that a runner loses at each observation."""
    sizes: ClassVar[tuple[int, int]] = (1, 1)
    """How many runners it has at least and at most, between two observations."""
    numbers: ClassVar[tuple[str, ...]] = ("leader",)
    arrays: ClassVar[tuple[str, ...]] = ("scores", "log_likelihood")
    """What a file keeps of it beside the runners: whole numbers, and arrays."""
    wants_predictions = False
    """Whether a runner that is alone tells its predictive log densities, too."""

    def __init__(self, learn: Callable, runners: list[Runner], scores: np.ndarray | None = None):
        self._learn = learn
        self.runners = runners
        self.scores = np.zeros(len(runners)) if scores is None else scores
        self.leader = self._best()
        self.log_likelihood = self.state.log_likelihood.copy()
        """Of several runners: Σ of the predictive log densities of the leaders, shape (1,)."""

    @property
    def handicaps(self) -> np.ndarray:
        """Nats by which each runner must be ahead of one without a handicap to lead."""
        return np.zeros(len(self.runners))

    def _best(self) -> int:
        """Who leads by these scores."""
        if len(self.runners) == 1:
            return 0
        return int(np.argmax(self.scores - self.handicaps))

    @property
    def state(self):
        """What the leader has learned."""
        return self.runners[self.leader].state

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for runner in self.runners for array in runner.state)

    def until_decision(self) -> int:
        """How many observations it learns at most before it decides something."""
        return sys.maxsize

    def learn(self, geometry, table, chunk: Chunk, want_filtered: bool) -> tuple[np.ndarray, Trace]:
        """Take in a chunk, or its beginning if there is something to decide before it ends; returns
        the leader's filtered probabilities (if wanted) and its trace.
        """
        first = int(self.state.counters[0])
        every = self.runners[0].settings.trace_every
        rows = (first + chunk.size) // every - first // every if every else 0
        is_scored = self.wants_predictions or len(self.runners) > 1
        predictive = np.empty((len(self.runners), chunk.size if is_scored else 0))
        length = chunk.size if want_filtered else 0
        filtered = [np.empty((length, len(runner.state.delta))) for runner in self.runners]
        traces = [empty_trace(rows, runner.state.means) for runner in self.runners]
        before = self.leader
        leaders = self._run(geometry, table, chunk, filtered, predictive, traces)
        filtered, traces = self._published(filtered, traces)
        taken = len(leaders)
        self._watch(chunk if taken == chunk.size else chunk.part(slice(taken)))
        if len(self.runners) == 1:
            return filtered[0], traces[0]
        led = np.append(before, leaders[:-1])
        sums = np.append(self.log_likelihood, predictive[led, np.arange(taken)]).cumsum()[1:]
        self.log_likelihood = sums[-1:].copy()
        trace = traces[0]
        if every:
            rows = (first + taken) // every - first // every
            at = trace.step[:rows] - first - 1
            picked = leaders[at], np.arange(rows)
            trace = Trace(*(np.stack(of_all)[picked] for of_all in zip(*traces, strict=True)))
            trace = trace._replace(log_likelihood=sums[at])
        if not want_filtered:
            return filtered[0], trace
        return np.stack(filtered)[leaders, np.arange(taken)], trace

    def _run(self, geometry, table, chunk: Chunk, filtered, predictive, traces) -> np.ndarray:
        """Let all runners learn from a chunk, and score them; returns who led after each
        observation, of the beginning of the chunk alone if there is something to decide then.

        `filtered` and `traces` have one entry for each runner, `predictive` one row, which stays
        empty for a runner that is alone unless `wants_predictions`.
        """
        for r, (settings, state) in enumerate(self.runners):
            self._learn(
                geometry, table, settings, chunk.points, chunk.observed, chunk.begins, state,
                filtered[r], predictive[r], traces[r],
            )  # fmt: skip
        leaders = np.zeros(chunk.size, np.int64)
        if len(self.runners) > 1:
            follow(
                predictive, chunk.observed, self.forget, self.handicaps, self.scores, self.leader,
                leaders,
            )  # fmt: skip
            self.leader = int(leaders[-1])
        return leaders

    def _published(
        self, filtered: list[np.ndarray], traces: list[Trace]
    ) -> tuple[list[np.ndarray], list[Trace]]:
        """What each runner tells, in arrays of the same shape for all of them."""
        return filtered, traces

    def in_columns(self, probabilities: np.ndarray) -> np.ndarray:
        """Those of the leader's states (N,) as it tells them."""
        return probabilities

    def _watch(self, chunk: Chunk) -> None:
        """For ensembles that decide something: note what was learned."""

    # Files

    def content(self) -> tuple[dict[str, int], dict[str, np.ndarray]]:
        """What a file keeps of it beside the runners: whole numbers, and arrays."""
        numbers = {name: getattr(self, name) for name in self.numbers}
        return numbers, {name: getattr(self, name) for name in self.arrays}

    @classmethod
    def restored(cls, learn: Callable, runners: list[Runner], content: dict) -> "Ensemble":
        """The ensemble that had this content, to be checked with `check`."""
        wanted = {*cls.numbers, *cls.arrays}
        if content.keys() != wanted:
            raise ValueError(f"a {cls.__name__} has {', '.join(sorted(wanted))}, and nothing else")
        ensemble = cls.__new__(cls)
        vars(ensemble).update(_learn=learn, runners=runners, **content)
        return ensemble

    def check(self, n: int, manifold: Manifold) -> None:
        """Refuse what a file says if it could not have come about; the states are checked before.

        `n` is the number of components.
        """
        count, (least, most) = len(self.runners), self.sizes
        if not least <= count <= most:
            raise ValueError(f"runners must be from {least} to {most}, not {count}")
        check_array("scores", self.scores, (count,))
        check_array("log_likelihood", self.log_likelihood, (1,))
        check_whole("leader", self.leader, 0, count - 1)
        if len({int(runner.state.counters[0]) for runner in self.runners}) > 1:
            raise ValueError("counters of all runners must have seen the same")


@lean_kernel
def follow(predictive, observed, forget, handicaps, scores, leader, leaders):
    """Add each log density to the scores, which fade; the leader is the one with the best score,
    its handicap taken off.

    No observation counts for more than `_MOST`: an outlier does not decide who leads.
    """
    for t in range(len(leaders)):
        if observed[t]:
            least = predictive[0, t]
            for c in range(1, len(scores)):
                least = max(least, predictive[c, t])
            least -= _MOST
            best = -np.inf
            for c in range(len(scores)):
                scores[c] += max(predictive[c, t], least) - forget * scores[c]
                if scores[c] - handicaps[c] > best:
                    best, leader = scores[c] - handicaps[c], c
        leaders[t] = leader
