"""A hidden Markov chain that never ends, and whose truth changes while it runs.

Time is cut into blocks of 50 observations. Each block is drawn from a random generator of its own,
seeded by the seed of the world and the number of the block, so the same script gives the same
observations bit for bit, in whatever pieces they are taken and whether events were planned or
added live. What is carried from block to block is small: the state of the chain, the filter under
the true parameters, and the events that are not over.
"""

import math
from collections.abc import Iterable

import numpy as np

from rhmm.inference.onward import filter_onward
from rhmm.manifolds import Manifold
from rhmm.model import walk
from rhmm.worlds.blocks import BlockStream, Part, time_of
from rhmm.worlds.event import BLOCK, Change, Disturbance, Event
from rhmm.worlds.truth import Truth, first_truth

_MOST_TOGETHER = 100
"""Blocks that are drawn at a time."""


class World(BlockStream):
    """A hidden Markov chain with a script of events.

    Parameters
    ----------
    manifold, transmat, means, sigmas
        The parameters at the beginning: A of shape (N, N), c (N, *point_shape), σ (N,). The chain
        starts stationary.
    events
        What happens: see `rhmm.worlds`. Events at the same time happen in the order given.
    seed
        A whole number.
    """

    def __init__(
        self, manifold: Manifold, transmat, means, sigmas, *, events: Iterable[Event] = (), seed=0
    ):
        self._truth = first_truth(manifold, transmat, means, sigmas)
        super().__init__(manifold, events, seed)
        self._state = -1
        self._alpha = np.empty(0)
        self._log_z: tuple[tuple[float, ...], np.ndarray] = (), np.empty(0)
        """The latest σ, and the logarithms of their Z: these are slow to compute."""

    @property
    def truth(self) -> Truth:
        """The parameters of the moment: those of the latest observation that was drawn."""
        return self._truth

    @property
    def until_end(self) -> float:
        """The chain has no end."""
        return math.inf

    def _rehearse(self) -> None:
        """Refuse a script that cannot happen: a state goes that is not there, for example."""
        truth, steps = self._truth, []
        for event in self._ahead:
            if isinstance(event, Disturbance):
                event.check(self.manifold)
            if isinstance(event, Change):
                for elapsed in {event.moments[0], event.moments[-1]}:
                    moment = time_of(event) + elapsed
                    if moment >= self._produced:
                        steps.append((moment, event, elapsed))
        for _, event, elapsed in sorted(steps, key=lambda step: step[0]):
            truth = event.apply(self.manifold, truth, elapsed)

    def _next_blocks(self, most: int) -> Part:
        self._change()
        truth, count = self._truth, min(most, self._blocks_until_event())
        X = np.empty((count * BLOCK, *self.manifold.point_shape))
        states = np.empty(len(X), np.int64)
        rows = truth.transmat.cumsum(axis=1)
        for begin in range(0, len(X), BLOCK):
            block = slice(begin, begin + BLOCK)
            rng = np.random.default_rng((self._seed, (self._produced + begin) // BLOCK))
            self._draw(truth, rows, rng, X[block], states[block])
        spoiled = self._disturb(X) if count == 1 else np.zeros(len(X), bool)
        unknown = spoiled | self._note(X)
        ceiling, log_density = self._filter(truth, X, unknown)
        self._produced += len(X)
        return Part(X, states, ceiling, log_density, ~unknown)

    def _blocks_until_event(self) -> int:
        """How many blocks follow from the same truth: one while an event is going on."""
        until = [max(time_of(event) - self._produced, BLOCK) for event in self._ahead]
        return min(until, default=_MOST_TOGETHER * BLOCK) // BLOCK

    def _change(self) -> None:
        """Let happen what happens before the next block."""
        for event in self._ahead:
            elapsed = self._produced - time_of(event)
            if isinstance(event, Change) and elapsed in event.moments:
                self._truth = event.apply(self.manifold, self._truth, elapsed)
        self._forget_past()

    def _draw(self, truth: Truth, rows, rng: np.random.Generator, X, states) -> None:
        """Draw a block of observations and states, as if no observation were disturbed; `rows` are
        the sums of A along each row."""
        first = truth.startprob.cumsum() if self._state < 0 else rows[self._state]
        walk(first, rows, rng.random(BLOCK), states)
        self.manifold.draw_states(rng, truth.means, truth.sigmas, states, X)
        self._state = int(states[-1])

    def _filter(self, truth: Truth, X, unknown) -> tuple[np.ndarray, np.ndarray]:
        """The most probable states under the truth and the predictive log densities, (n,) each."""
        known = X
        if unknown.any():
            known = np.where(unknown.reshape(-1, *[1] * (X.ndim - 1)), truth.means[0], X)
        d2 = self.manifold.squared_distances(known, truth.means)
        if self._log_z[0] != tuple(truth.sigmas):
            log_z = self.manifold.gaussian.moments(truth.sigmas).log_z
            self._log_z = tuple(truth.sigmas), log_z
        density = np.ascontiguousarray(-0.5 * (d2.T / truth.sigmas**2) - self._log_z[1])
        density[unknown] = np.nan
        filtered, predictive = np.empty(density.shape), np.empty(len(X))
        for begin in range(0, len(X), BLOCK):
            block = slice(begin, begin + BLOCK)
            predicted = self._predicted(truth)
            filter_onward(
                predicted, truth.transmat, density[block], filtered[block], predictive[block]
            )
            self._alpha = filtered[begin + BLOCK - 1]
        self._alpha = self._alpha.copy()
        return filtered.argmax(axis=1), predictive

    def _predicted(self, truth: Truth) -> np.ndarray:
        """The law of the first state of a block given all before it, shape (N,)."""
        if not len(self._alpha):
            return truth.startprob
        alpha = np.zeros(truth.n_states)
        alpha[: len(self._alpha)] = self._alpha
        return alpha @ truth.transmat
