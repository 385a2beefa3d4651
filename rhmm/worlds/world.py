"""A hidden Markov chain that never ends, and whose truth changes while it runs.

Time is cut into blocks of 50 observations. Each block is drawn from a random generator of its own,
seeded by the seed of the world and the number of the block, so the same script gives the same
observations bit for bit, in whatever pieces they are taken and whether events were planned or
added live. What is carried from block to block is small: the state of the chain, the filter under
the true parameters, and the events that are not over.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel
from rhmm.manifolds import Manifold
from rhmm.model import walk
from rhmm.validation import check_integer
from rhmm.worlds.event import BLOCK, Change, Disturbance, Event
from rhmm.worlds.truth import Truth, first_truth


class Part(NamedTuple):
    """The next n observations of a world."""

    X: np.ndarray
    """Shape (n, *point_shape); NaN where an observation is missing."""
    states: np.ndarray
    """The true states, shape (n,)."""
    ceiling: np.ndarray
    """The most probable state under the true parameters of the moment given all observations up to
    then, shape (n,): what no learner beats on average. It knows which observations are disturbed,
    and takes them as missing."""
    log_density: np.ndarray
    """One-step predictive log densities of that filter, shape (n,); 0 where it takes an observation
    as missing."""


class World:
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
        self.manifold = manifold
        self._truth = first_truth(manifold, transmat, means, sigmas)
        self._seed = check_integer("seed", seed, at_least=0)
        self._produced = 0
        self._script: list[Event] = []
        """All events, in the order in which they begin."""
        self._ahead: list[Event] = []
        """Those that are not over."""
        for event in events:
            if not isinstance(event, Event) or event.at is None:
                raise ValueError(f"events must be events with a time each, not {event!r}")
            self._plan(event)
        self._rehearse()
        self._state = -1
        self._alpha = np.empty(0)
        self._latest = np.full(manifold.point_shape, np.nan)
        self._log_z: tuple[tuple[float, ...], np.ndarray] = (), np.empty(0)
        """The latest σ, and the logarithms of their Z: these are slow to compute."""
        self._rest = _joined(manifold, [])
        """What was drawn and not taken yet: less than a block."""

    @property
    def n_taken(self) -> int:
        """Observations taken so far."""
        return self._produced - len(self._rest.states)

    @property
    def truth(self) -> Truth:
        """The parameters of the moment: those of the latest observation that was drawn."""
        return self._truth

    @property
    def events(self) -> tuple[Event, ...]:
        """The whole script so far, live events included: a world with it is the same."""
        return tuple(self._script)

    def add(self, event: Event) -> Event:
        """Let something happen while the world runs; returns the event with the time it got.

        An event without a time happens before the next block that is not drawn yet. A ValueError
        says why an event cannot happen; the world then goes on without it.
        """
        if not isinstance(event, Event):
            raise ValueError(f"event must be an event such as Turn(angle=90), not {event!r}")
        if event.at is None:
            event = event.moved_to(self._produced)
        if _time_of(event) < self._produced:
            raise ValueError(f"at must be {self._produced} or later, not {event.at}")
        before = self._script, self._ahead
        self._plan(event)
        try:
            self._rehearse()
        except ValueError:
            self._script, self._ahead = before
            raise
        return event

    def _plan(self, event: Event) -> None:
        self._script = sorted([*self._script, event], key=_time_of)
        self._ahead = sorted([*self._ahead, event], key=_time_of)

    def _rehearse(self) -> None:
        """Refuse a script that cannot happen: a state goes that is not there, for example."""
        truth, steps = self._truth, []
        for event in self._ahead:
            if isinstance(event, Disturbance):
                event.check(self.manifold)
            if isinstance(event, Change):
                for elapsed in {event.moments[0], event.moments[-1]}:
                    moment = _time_of(event) + elapsed
                    if moment >= self._produced:
                        steps.append((moment, event, elapsed))
        for _, event, elapsed in sorted(steps, key=lambda step: step[0]):
            truth = event.apply(self.manifold, truth, elapsed)

    def take(self, n: int) -> Part:
        """The next n observations, with what is true about them."""
        n = check_integer("n", n, at_least=1)
        parts, count = [self._rest], len(self._rest.states)
        while count < n:
            parts.append(self._next_block())
            count += BLOCK
        drawn = _joined(self.manifold, parts)
        self._rest = Part(*(field[n:].copy() for field in drawn))
        return Part(*(field[:n] for field in drawn))

    def _next_block(self) -> Part:
        self._change()
        truth = self._truth
        number = self._produced // BLOCK
        X, states = self._draw(truth, np.random.default_rng((self._seed, number)))
        spoiled = np.zeros(BLOCK, bool)
        if self._ahead:
            spoiled = self._disturb(truth, X, number)
        unknown = np.isnan(X).reshape(BLOCK, -1).any(axis=1)
        if not unknown.all():
            self._latest = X[np.flatnonzero(~unknown)[-1]].copy()
        ceiling, log_density = self._filter(truth, X, spoiled | unknown)
        self._produced += BLOCK
        return Part(X, states, ceiling, log_density)

    def _change(self) -> None:
        """Let happen what happens before the next block."""
        for event in self._ahead:
            elapsed = self._produced - _time_of(event)
            if isinstance(event, Change) and elapsed in event.moments:
                self._truth = event.apply(self.manifold, self._truth, elapsed)
        self._ahead = [e for e in self._ahead if self._produced - _time_of(e) < e.ends]

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

    def _disturb(self, truth: Truth, X: np.ndarray, number: int) -> np.ndarray:
        """Disturb X in place; returns which of its observations are, shape (50,)."""
        rng = np.random.default_rng((self._seed, number, 1))
        spoiled = np.zeros(BLOCK, bool)
        for event in self._ahead:
            if isinstance(event, Disturbance) and _time_of(event) <= self._produced:
                spoiled |= event.disturb(self.manifold, truth, X, self._latest, rng)
        return spoiled

    def _filter(self, truth: Truth, X, unknown) -> tuple[np.ndarray, np.ndarray]:
        """The most probable states under the truth and the predictive log densities, (50,) each."""
        known = np.where(unknown.reshape(-1, *[1] * (X.ndim - 1)), truth.means[0], X)
        d2 = self.manifold.squared_distances(known, truth.means)
        if self._log_z[0] != tuple(truth.sigmas):
            log_z = self.manifold.gaussian.moments(truth.sigmas).log_z
            self._log_z = tuple(truth.sigmas), log_z
        density = -0.5 * (d2.T / truth.sigmas**2) - self._log_z[1]
        if not len(self._alpha):
            predicted = truth.startprob
        else:
            alpha = np.zeros(truth.n_states)
            alpha[: len(self._alpha)] = self._alpha
            predicted = alpha @ truth.transmat
        ceiling, predictive = np.empty(BLOCK, np.int64), np.empty(BLOCK)
        self._alpha = _filter_block(
            predicted, truth.transmat, density, unknown, ceiling, predictive
        )
        return ceiling, predictive


def _time_of(event: Event) -> int:
    assert event.at is not None  # a world gives each event a time
    return event.at


def _joined(manifold: Manifold, parts: list[Part]) -> Part:
    nothing = Part(
        np.empty((0, *manifold.point_shape)), np.empty(0, np.int64), np.empty(0, np.int64),
        np.empty(0),
    )  # fmt: skip
    return Part(*(np.concatenate(fields) for fields in zip(nothing, *parts, strict=True)))


@kernel
def _filter_block(predicted, transmat, log_density, unknown, best, predictive):
    """The forward recursion over a block; returns the filtered law of its last observation.

    `predicted` is the law of the first state given what was before, shape (N,).
    """
    n = len(predicted)
    law, joint = predicted.copy(), np.empty(n)
    for t in range(len(best)):
        if t > 0:
            for j in range(n):
                joint[j] = 0.0
                for i in range(n):
                    joint[j] += law[i] * transmat[i, j]
            law[:] = joint
        predictive[t] = 0.0
        if not unknown[t]:
            largest = -math.inf
            for j in range(n):
                joint[j] = math.log(law[j]) + log_density[t, j] if law[j] > 0.0 else -math.inf
                largest = max(largest, joint[j])
            total = 0.0
            for j in range(n):
                law[j] = math.exp(joint[j] - largest)
                total += law[j]
            law /= total
            predictive[t] = largest + math.log(total)
        best[t] = np.argmax(law)
    return law
