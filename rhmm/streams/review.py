"""A learner that doubts itself: now and then it looks back for a model that explains better what it
has seen.

A start from few observations can miss a state, or give one state two clusters; the recursion never
finds out. A review looks at a thinned record of all observations. The first one, after a start from
too few, begins afresh; the later ones try splits and merges of what has been learned. What they
find runs beside the present model, and takes its place only when it is clearly ahead, on the record
and in predicting observations that neither has seen.
"""

import math
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np

from rhmm.manifolds import Manifold
from rhmm.search import Fit, Sample, appraise, climbed, improved, starts
from rhmm.streams.checks import check_whole
from rhmm.streams.chunk import Chunk, Present
from rhmm.streams.ensemble import Ensemble, Runner
from rhmm.streams.history import History
from rhmm.streams.shaped_kernel import AnyState
from rhmm.streams.streaming_kernel import StreamingState

_AHEAD, _BEHIND, _HEAD_START = 10.0, 10.0, 8.0
"""Nats ahead at which a challenger takes over, and behind at which it is dropped; and how many of
those that it is ahead on the record count."""
_EVERY = 50
"""Observations between two looks at the scores of a trial."""
_TRIED, _STEPS = 4, 15
"""Moves that a review tries, and EM iterations of the best of them."""
_STARTS, _STARTS_KEPT, _TRIED_AFRESH, _STEPS_AFRESH = 16, 4, 8, 30
"""The same of a review that begins afresh: starts, how many of them go on, moves and iterations."""
LEAST_GAIN = 2.0
"""Nats that a challenger must be ahead on the record to be tried at all."""


class Challenger(NamedTuple):
    """A model that explains the record better than the present one."""

    state: AnyState
    gain: float
    """By so many nats; ∞ where it began afresh and takes over at once."""


def better_fit(sample: Sample, state: StreamingState, rng, *, afresh: bool) -> tuple[Fit, float]:
    """The best model of the sample that was found, and its gain over the present one in nats.

    A model that was fitted to the sample gains about half a nat for each parameter over one that
    was not, by chance: twice that does not count, unless a move gained it.
    """
    n, prior = len(state.delta), float(np.mean(state.delta))
    present = climbed(sample, state.transmat, state.means, state.delta, prior, 0)
    if not afresh and not appraise(sample, present, rng).promises_a_move():
        return present, 0.0
    settled = climbed(sample, state.transmat, state.means, state.delta, prior, _STEPS)
    if afresh:
        found = starts(sample, n, rng, tried=_STARTS, kept=_STARTS_KEPT, steps=_STEPS)[0]
        found = improved(sample, found, rng, tried=_TRIED_AFRESH, steps=_STEPS_AFRESH)
        return found, found.log_likelihood - settled.log_likelihood
    found = improved(sample, settled, rng, tried=_TRIED, steps=_STEPS)
    by_chance = n * (n + sample.manifold.dim)
    gain = found.log_likelihood - present.log_likelihood - by_chance
    return found, max(gain, found.log_likelihood - settled.log_likelihood)


class Recorder(Ensemble):
    """An ensemble that keeps a record of its stream, and reviews it whenever that is full."""

    numbers: ClassVar[tuple[str, ...]] = (*Ensemble.numbers, "recorded", "reviewed")
    arrays: ClassVar[tuple[str, ...]] = (*Ensemble.arrays, "record", "record_sequence")
    rooms: ClassVar[int] = 1
    """How many times the usual size its record has."""

    def __init__(
        self,
        learn: Callable,
        runners: list[Runner],
        manifold: Manifold,
        first: Present,
        room_for: int | None = None,
    ):
        """The record begins with `first`; it has room for so many states, or for those it has."""
        super().__init__(learn, runners)
        history = History.empty(manifold, self.rooms * (room_for or len(self.state.delta)))
        self.record, self.record_sequence, self.recorded = history.points, history.sequence, 0
        self._note(first)
        self.reviewed = self.recorded
        """How much was recorded at the latest review."""

    @property
    def history(self) -> History:
        """The record; `_note` adds to it."""
        return History(self.record, self.record_sequence, self.recorded)

    @property
    def nbytes(self) -> int:
        return super().nbytes + self.record.nbytes + self.record_sequence.nbytes

    def _note(self, present: Present) -> None:
        history = self.history
        history.add(*present)
        self.recorded = history.seen

    def _is_due(self) -> bool:
        """Whether it is time for a review; it is not until the record is full again."""
        due = self.history.is_full and self.recorded > self.reviewed
        if due:
            self.reviewed = self.recorded
        return due

    def check(self, n: int, manifold: Manifold) -> None:
        """Refuse what a file says if it could not have come about."""
        super().check(n, manifold)
        self.history.check(self.rooms * n, manifold)
        check_whole("reviewed", self.reviewed, 0, self.recorded)


class Reviewed(Recorder):
    """One runner, and now and then a challenger beside it."""

    sizes: ClassVar[tuple[int, int]] = (1, 2)
    numbers: ClassVar[tuple[str, ...]] = (*Recorder.numbers, "trial_ends")

    def __init__(self, learn: Callable, runner: Runner, manifold: Manifold, first: Present):
        super().__init__(learn, [runner], manifold, first)
        self.trial_ends = 0
        """How much is recorded when a challenger is dropped that is not clearly ahead."""

    @property
    def _is_on_trial(self) -> bool:
        return len(self.runners) > 1

    def until_decision(self) -> int:
        until_full = self.history.until_full()
        if self._is_on_trial:
            return min(until_full, _EVERY - self.recorded % _EVERY)
        return until_full

    def _watch(self, chunk: Chunk) -> None:
        self._note(chunk.present)

    def decide(self, challenger: Callable[["Reviewed"], Challenger | None]) -> None:
        """Judge the challenger, or look for one if it is time."""
        if self._is_on_trial:
            if self.recorded % _EVERY == 0:  # any chunking must give the same
                self._judge()
        elif self._is_due():
            found = challenger(self)
            if found is not None:
                self._try(found)

    def _try(self, challenger: Challenger) -> None:
        self.log_likelihood = self.state.log_likelihood.copy()
        self.runners.append(Runner(self.runners[0].settings, challenger.state))
        self.scores = np.array([0.0, min(challenger.gain, _HEAD_START)])
        self.leader = 1
        self.trial_ends = self.recorded + 4 * len(self.record)
        if math.isinf(challenger.gain):
            self._end_trial(1)

    def _judge(self) -> None:
        """Take the challenger in or drop it, if that is clear or the trial is over."""
        lead = self.scores[1] - self.scores[0]
        if not -_BEHIND < lead <= _AHEAD or self.recorded >= self.trial_ends:
            self._end_trial(int(lead > 0.0))

    def _end_trial(self, winner: int) -> None:
        self.runners = [self.runners[winner]]
        self.scores, self.leader = np.zeros(1), 0
        self.state.log_likelihood[:] = self.log_likelihood

    def check(self, n: int, manifold: Manifold) -> None:
        """Refuse what a file says if it could not have come about."""
        super().check(n, manifold)
        check_whole("trial_ends", self.trial_ends, 0, self.recorded + 4 * len(self.record))
