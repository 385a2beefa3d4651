"""A learner that doubts itself: now and then it looks back for a model that explains better what it
has seen.

A start from few observations can miss a state, or give one state two clusters; the recursion never
finds out. A review looks at a thinned record of all observations. The first one, after a start from
too few, begins afresh; the later ones try splits and merges of what has been learned. What they
find runs beside the present model, and takes its place only when it is clearly ahead, on the record
and in predicting observations that neither has seen.

Where states overlap, one pass over the observations is worth a few iterations of EM, and EM needs
hundreds. With many states the record is therefore long, and as long as it is whole, having all that
was seen, EM on it goes on until it rests: nothing learned by one pass is better.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from rhmm.manifolds import Manifold
from rhmm.search import Fit, Sample, appraised, best_start, climbed, improved
from rhmm.streams.checks import check_whole
from rhmm.streams.chunk import Chunk, Present
from rhmm.streams.ensemble import Ensemble, Runner
from rhmm.streams.history import History, history_size, room_for
from rhmm.streams.shaped_kernel import AnyState
from rhmm.streams.streaming_kernel import StreamingState

_AHEAD, _BEHIND, _HEAD_START = 10.0, 10.0, 8.0
"""Nats ahead at which a challenger takes over, and behind at which it is dropped; and how many of
those that it is ahead on the record count."""
_EVERY = 50
"""Observations between two looks at the scores of a trial."""
_LOOK = 400
"""Observations for each state that moves are tried on."""
_LEAST_LOOK = 100
"""The same for a fresh search where points have many coordinates: of these, fewer tell as much."""
_TRIED, _STEPS = 4, 15
"""Moves that a review tries, and EM iterations of the best of them."""
_STARTS, _STARTS_KEPT, _TRIED_AFRESH, _STEPS_AFRESH = 16, 4, 8, 30
"""The same of a review that begins afresh: starts, how many of them go on, moves and iterations."""
LEAST_GAIN = 2.0
"""Nats that a challenger must be ahead on the record to be tried at all."""
_AT_REST, _STEPS_TO_REST = 0.02, 200
"""EM rests when an iteration gains no more nats, or after so many."""


class Challenger(NamedTuple):
    """A model that explains the record better than the present one."""

    state: AnyState
    gain: float
    """By so many nats; ∞ where it takes over at once."""
    is_fresh: bool
    """Whether it began afresh."""


class Found(NamedTuple):
    """What a review has found."""

    fit: Fit
    gain: float
    """Nats that it explains the record better than the present model; ∞ where that is sure."""


def review(
    history: History, manifold: Manifold, least_delta: float, state: StreamingState, rng,
    *, afresh: bool, to_rest: bool,
) -> Found | None:  # fmt: skip
    """A model that explains the record better than the present one, if any does.

    With `to_rest`, EM goes on until it rests if the record is whole and there are many states. Once
    it has as many observations as moves are tried on, that is from a fresh search as well.
    """
    n = len(state.delta)
    step = max(history.kept // (_LOOK * n), 1)
    look = history.sample(manifold, least_delta, step)
    found = _better(look, state, rng, afresh=afresh)
    if not (to_rest and history.is_whole and len(history.points) > history_size(n)):
        return found
    sample, prior = history.sample(manifold, least_delta), float(np.mean(state.delta))
    begun: list[Fit | StreamingState] = [] if found is None else [found.fit]
    if not afresh or found is None:
        begun.append(state)
    if history.kept >= _LOOK * n:
        enough = max(2 * _LOOK // manifold.dim, _LEAST_LOOK)
        few = history.sample(manifold, least_delta, max(history.kept // (enough * n), step))
        begun.append(_searched(few, n, rng))
    fits = [
        climbed(sample, b.transmat, b.means, b.delta, prior, _STEPS_TO_REST, _AT_REST)
        for b in begun
    ]
    return Found(max(fits, key=lambda fit: fit.log_likelihood), math.inf)


def _searched(sample: Sample, n: int, rng) -> Fit:
    """The best of several starts, improved by moves."""
    found, appraisal = best_start(sample, n, rng, tried=_STARTS, kept=_STARTS_KEPT, steps=_STEPS)
    return improved(
        sample, found, rng, tried=_TRIED_AFRESH, steps=_STEPS_AFRESH, appraisal=appraisal
    )


def _better(sample: Sample, state: StreamingState, rng, *, afresh: bool) -> Found | None:
    """The best model of the sample that moves have found, or a fresh search.

    A model that was fitted to the sample gains about half a nat for each parameter over one that
    was not, by chance: twice that does not count, unless a move gained it.
    """
    n, prior = len(state.delta), float(state.delta.sum()) / len(state.delta)
    present, appraisal = appraised(sample, state.transmat, state.means, state.delta, prior, rng)
    if not afresh and not appraisal.promises_a_move():
        return None
    settled = climbed(sample, state.transmat, state.means, state.delta, prior, _STEPS)
    if afresh:
        found = _searched(sample, n, rng)
        return Found(found, math.inf) if found.log_likelihood >= settled.log_likelihood else None
    found = improved(sample, settled, rng, tried=_TRIED, steps=_STEPS)
    by_chance = n * (n + sample.manifold.dim)
    gain = found.log_likelihood - present.log_likelihood - by_chance
    gain = max(gain, found.log_likelihood - settled.log_likelihood)
    return Found(found, gain) if gain >= LEAST_GAIN else None


@lru_cache(64)  # every chunk of a stream asks for it
def _first_review(room: int, n: int) -> int:
    """Half of the room, a quarter of it … as long as that tells good models of n states from bad
    ones."""
    due, least = room, history_size(n)
    while due % 2 == 0 and due // 2 >= least:
        due //= 2
    return due


class Recorder(Ensemble):
    """An ensemble that keeps a record of its stream, and reviews it whenever that is full.

    A long one is reviewed before as well, when a half of it, a quarter … is full, as long as that
    is enough to tell a good model from a bad one.
    """

    numbers: ClassVar[tuple[str, ...]] = (*Ensemble.numbers, "recorded", "reviewed")
    arrays: ClassVar[tuple[str, ...]] = (*Ensemble.arrays, "record", "record_sequence")

    def __init__(
        self,
        learn: Callable,
        runners: list[Runner],
        manifold: Manifold,
        first: Present,
        most: int | None = None,
    ):
        """The record begins with `first`; there can be so many states, or those that there are."""
        super().__init__(learn, runners)
        history = History.empty(manifold, self.room(most or len(self.state.delta)))
        self.record, self.record_sequence, self.recorded = history.points, history.sequence, 0
        self._note(first)
        self.reviewed = self.recorded
        """How much was recorded at the latest review."""

    @staticmethod
    def room(n: int) -> int:
        """How many observations the record has room for, with n states."""
        return room_for(n)

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

    @property
    def first_review(self) -> int:
        """How much is recorded at the first of all reviews."""
        return _first_review(len(self.record), len(self.state.delta))

    @property
    def next_review(self) -> int:
        """How much is recorded at the next one: twice as much as at the one before."""
        due = self.first_review
        while due <= self.recorded:
            due *= 2
        return due

    def _is_due(self) -> bool:
        """Whether it is time for a review; then it is noted."""
        due = self.recorded > self.reviewed and 2 * self.recorded == self.next_review
        due = due and self.recorded >= self.first_review
        if due:
            self.reviewed = self.recorded
        return due

    def check(self, n: int, manifold: Manifold) -> None:
        """Refuse what a file says if it could not have come about."""
        super().check(n, manifold)
        self.history.check(self.room(n), manifold)
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

    @property
    def _longest_trial(self) -> int:
        return 4 * history_size(len(self.state.delta))

    def until_decision(self) -> int:
        until_review = self.next_review - self.recorded
        if self._is_on_trial:
            return min(until_review, _EVERY - self.recorded % _EVERY)
        return until_review

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
        self.trial_ends = self.recorded + self._longest_trial
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
        check_whole("trial_ends", self.trial_ends, 0, self.recorded + self._longest_trial)
