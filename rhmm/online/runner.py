"""One state on its way through a stream, and several of them side by side."""

from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel
from rhmm.online import streaming, windowed
from rhmm.online.trace import Trace, empty_trace

_CHUNK = 4096
"""Observations between two calls of a callback, at most."""
_MOST = 10.0
"""Nats that a runner can fall behind the best by one observation."""


class Settings(NamedTuple):
    """What the kernels need to know besides their state."""

    window: int
    convex: bool
    dim: int
    gain: float
    cap: float
    least_delta: float
    trace_every: int


class Runner(NamedTuple):
    """A state and the settings it runs under."""

    settings: Settings
    state: streaming.StreamingState | windowed.WindowedState

    def copy(self) -> "Runner":
        state = type(self.state)(*(array.copy() for array in self.state))
        return Runner(self.settings, state)


class Field:
    """Runners on the same stream, scored by how well each predicts it; the best one leads."""

    forget = 0.0
    """The share of its score that a runner loses at each observation."""

    def __init__(self, runners: list[Runner], scores: np.ndarray | None = None):
        self.runners = runners
        self.scores = np.zeros(len(runners)) if scores is None else scores
        self.leader = int(np.argmax(self.scores))
        self.log_likelihood = self.state.log_likelihood.copy()
        """Of several runners: Σ of the predictive log densities of whoever led at that time."""

    @property
    def state(self):
        """What the leader has learned."""
        return self.runners[self.leader].state

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for runner in self.runners for array in runner.state)

    def until_decision(self) -> int:
        """How many observations can be learned at once."""
        return _CHUNK

    def learn(self, geometry, table, X, observed, want_filtered: bool) -> tuple[np.ndarray, Trace]:
        """Take in X; returns the leader's filtered probabilities (if wanted) and its trace."""
        first, n = int(self.state.counters[0]), len(self.state.delta)
        every = self.runners[0].settings.trace_every
        rows = (first + len(X)) // every - first // every if every else 0
        predictive = np.empty((len(self.runners), len(X) if len(self.runners) > 1 else 0))
        filtered = np.empty((len(self.runners), len(X) if want_filtered else 0, n))
        traces = [empty_trace(rows, runner.state.means) for runner in self.runners]
        for r, (settings, state) in enumerate(self.runners):
            is_streaming = isinstance(state, streaming.StreamingState)
            learn = streaming.learn if is_streaming else windowed.learn
            learn(
                geometry, table, settings, X, observed, state, filtered[r], predictive[r], traces[r]
            )
        leaders = np.zeros(len(X), np.int64)
        if len(self.runners) == 1:
            return filtered[0], traces[0]
        _follow(predictive, observed, self.forget, self.scores, self.leader, leaders)
        led = np.append(self.leader, leaders[:-1])
        sums = np.append(self.log_likelihood, predictive[led, np.arange(len(X))]).cumsum()[1:]
        self.log_likelihood = sums[-1:].copy()
        self.leader = int(leaders[-1])
        self._watch(X, observed, predictive, led)
        at = traces[0].step - first - 1
        picked = leaders[at]
        trace = Trace(*(np.stack(f)[picked, np.arange(rows)] for f in zip(*traces, strict=True)))
        trace = trace._replace(log_likelihood=sums[at])
        return filtered[leaders, np.arange(len(X))] if want_filtered else filtered[0], trace

    def _watch(self, X, observed, predictive, led) -> None:
        """For fields that decide something: take note of what was learned, and of who led then."""


@kernel
def _follow(predictive, observed, forget, scores, leader, leaders):
    """Add each log density to the scores, which fade; the leader is the one with the best score.

    No observation counts for more than `_MOST`: an outlier does not decide who leads.
    """
    for t in range(len(leaders)):
        if observed[t]:
            least = np.max(predictive[:, t]) - _MOST
            for c in range(len(scores)):
                scores[c] += max(predictive[c, t], least) - forget * scores[c]
            leader = np.argmax(scores)
        leaders[t] = leader
