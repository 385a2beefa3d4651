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

    def _next_block(self) -> Part:
        self._change()
        truth = self._truth
        rng = np.random.default_rng((self._seed, self._produced // BLOCK))
        X, states = self._draw(truth, rng)
        spoiled = self._disturb(X)
        unknown = spoiled | self._note(X)
        ceiling, log_density = self._filter(truth, X, unknown)
        self._produced += BLOCK
        return Part(X, states, ceiling, log_density, ~unknown)

    def _change(self) -> None:
        """Let happen what happens before the next block."""
        for event in self._ahead:
            elapsed = self._produced - time_of(event)
            if isinstance(event, Change) and elapsed in event.moments:
                self._truth = event.apply(self.manifold, self._truth, elapsed)
        self._forget_past()

    def _draw(self, truth: Truth, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The observations and states of a block, as if no observation were disturbed."""
        rows = truth.transmat.cumsum(axis=1)
        first = truth.startprob.cumsum() if self._state < 0 else rows[self._state]
        states = np.empty(BLOCK, np.int64)
        walk(first, rows, rng.random(BLOCK), states)
        X = np.empty((BLOCK, *self.manifold.point_shape))
        for i in range(truth.n_states):
            mine = states == i
            count = int(mine.sum())
            if count:
                X[mine] = self.manifold.draw(rng, truth.means[i], truth.sigmas[i], count)
        self._state = int(states[-1])
        return X, states

    def _filter(self, truth: Truth, X, unknown) -> tuple[np.ndarray, np.ndarray]:
        """The most probable states under the truth and the predictive log densities, (50,) each."""
        known = np.where(unknown.reshape(-1, *[1] * (X.ndim - 1)), truth.means[0], X)
        d2 = self.manifold.squared_distances(known, truth.means)
        if self._log_z[0] != tuple(truth.sigmas):
            log_z = self.manifold.gaussian.moments(truth.sigmas).log_z
            self._log_z = tuple(truth.sigmas), log_z
        density = np.ascontiguousarray(-0.5 * (d2.T / truth.sigmas**2) - self._log_z[1])
        if not len(self._alpha):
            predicted = truth.startprob
        else:
            alpha = np.zeros(truth.n_states)
            alpha[: len(self._alpha)] = self._alpha
            predicted = alpha @ truth.transmat
        filtered, predictive = np.empty((BLOCK, truth.n_states)), np.empty(BLOCK)
        density[unknown] = np.nan
        filter_onward(predicted, truth.transmat, density, filtered, predictive)
        self._alpha = filtered[-1].copy()
        return filtered.argmax(axis=1), predictive
