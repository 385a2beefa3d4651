"""A learner that is not told the number of states: states are born, and die.

It keeps a thinned record of its stream, and reviews itself ever more seldom: does one state explain
two clusters, or do two states share one? A review looks for splits and merges that explain the
record better than they cost (`recount`). As long as the record is whole, what it finds is
taken at once. Later it runs beside the present model, and takes its place when it predicts better:
the sum of predictive log densities is a code length, in which a model pays for its parameters
itself. A state more must be clearly ahead. A state less must not fall behind.

A state that appears in mid-stream would be rare in the record for long. So when predictions get
much worse than they used to be, there is a review that looks at the latest observations too.
"""

import math
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np

from rhmm.manifolds import Manifold
from rhmm.search import Sample
from rhmm.streams.checks import check_array, check_points, check_whole
from rhmm.streams.chunk import Chunk, Present, ends_of
from rhmm.streams.ensemble import Runner
from rhmm.streams.history import history_size
from rhmm.streams.recount import Recount, price_of_parameter
from rhmm.streams.review import Recorder
from rhmm.streams.trace import Trace, empty_trace

_AHEAD_OF_BIRTH, _AHEAD_OF_DEATH, _BEHIND = 6.0, 10.0, 20.0
"""Nats ahead at which a challenger takes over, and behind that at which it is dropped."""
_HEAD_START = 8.0
"""How many of those that it is ahead on the record count, if it has fewer states. The best of many
splits is ahead there by chance: those of a birth do not count."""
_EVERY, _SELDOM = 100, 200
"""Observations between two looks, during a trial and else."""
_TRIAL_OF_BIRTH, _TRIAL_OF_DEATH, _LEAST_TRIAL = 0.5, 0.25, 400
"""Observations that a trial takes at most: these shares of those before, and the least."""
_FOR_EACH_PAIR, _PAIRS, _CLOSER = 50, 4, 4
"""Observations of the record that a review looks at for each entry of A, with one state more than
there is, and 4 columns at least; and from how many lengths of the record on it looks at more of
them, in proportion: reviews have become rare by then."""
_RECENT = 400
"""The latest observations that a review after an alarm looks at too; it comes so many later."""
_PRICE_AFTER_ALARM = 2.0
"""Nats that a free parameter must be worth then: less than usual, since an alarm has a reason."""
_ALARM, _USUAL = 4.0, 0.75
"""Standard deviations that predictions fall below their mean in all to raise alarm, and those of
each look that are taken off."""
_SETTLED, _HORIZON = 5, 20
"""Looks before the first alarm, and looks over which mean and deviation are taken."""


class Moment(NamedTuple):
    """When the predictions since the moment before are judged."""

    recorded: int
    """How much is recorded then."""
    total: float
    """The sum of the predictive log densities of the leader, which is alone, until then."""


class Look(NamedTuple):
    """What a review looks at."""

    sample: Sample
    price: float
    """Nats that a free parameter must be worth on it."""
    is_whole: bool
    """Whether it is all that was seen."""


class Counting(Recorder):
    """One runner, and now and then a challenger with another number of states beside it."""

    sizes: ClassVar[tuple[int, int]] = (1, 2)
    wants_predictions = True
    _passed: tuple[Moment, ...] = ()
    """Those of the looks in the latest chunk, which `decide` has yet to judge."""
    numbers: ClassVar[tuple[str, ...]] = (
        *Recorder.numbers, "looked", "trial_ends", "due", "calm_until",
    )  # fmt: skip
    arrays: ClassVar[tuple[str, ...]] = (
        *Recorder.arrays, "names", "recent", "recent_sequence", "level",
    )  # fmt: skip

    def __init__(
        self, learn: Callable, runner: Runner, manifold: Manifold, first: Present, most: int
    ):
        super().__init__(learn, [runner], manifold, first, most)
        self.names = np.full((2, most), -1)
        """Of the states of each runner, shape (2, most); −1 where there is none."""
        n = len(self.state.delta)
        self.names[0, :n] = np.arange(n)
        self.looked = self.recorded
        """How much was recorded at the latest look."""
        self.trial_ends = 0
        """How much is recorded when a challenger is dropped that is not ahead."""
        self.due = -1
        """How much is recorded at the review after an alarm; −1 if there was none."""
        self.calm_until = 0
        """How much is recorded when there may be another alarm."""
        self.recent, self.recent_sequence = first.latest(_RECENT)
        """The latest observations, shape (R, *point_shape) with R ≤ 400, and their sequences
        (R,)."""
        self.level = np.zeros(5)
        """The sum of log densities at the latest look, how many looks there were, mean and variance
        of their log densities per observation, and how far they have fallen: the sum of deviations
        that raises alarm."""

    @staticmethod
    def room(n: int) -> int:
        """How many observations the record has room for, with up to n states."""
        return history_size(2 * n)

    @property
    def nbytes(self) -> int:
        return super().nbytes + self.recent.nbytes + self.recent_sequence.nbytes

    @property
    def present_names(self) -> np.ndarray:
        """The names of the leader's states, shape (N,)."""
        return self._names(self.leader)

    def _names(self, runner: int) -> np.ndarray:
        return self.names[runner, : len(self.runners[runner].state.delta)]

    def _published(self, filtered, traces):
        """Each state in the column of its name; others have probability 0, and NaN in a trace."""
        most, runners = self.names.shape[1], range(len(self.runners))
        if len(filtered[0]) or self._is_on_trial:
            filtered = [_wide(filtered[r], self._names(r), most) for r in runners]
        if len(traces[0].step) or self._is_on_trial:
            traces = [_wide_trace(traces[r], self._names(r), most) for r in runners]
        return filtered, traces

    def in_columns(self, probabilities: np.ndarray) -> np.ndarray:
        """Those of the leader's states (N,) in the columns of their names."""
        return _wide(probabilities, self.present_names, self.names.shape[1])

    @property
    def _is_on_trial(self) -> bool:
        return len(self.runners) > 1

    @property
    def _between_looks(self) -> int:
        return _EVERY if self._is_on_trial else _SELDOM

    @property
    def next_review(self) -> int:
        """How much is recorded then: twice as much as before, or as much as fills the record."""
        full = len(self.record)
        if 2 * self.reviewed < full:
            return 2 * self.reviewed
        while full <= self.reviewed:
            full *= 2
        return full

    def until_decision(self) -> int:
        until = self._between_looks - self.recorded % self._between_looks
        until_review = self.next_review - self.recorded
        if until_review <= 0:
            return until
        if not self._is_on_trial and self.due < 0:
            until += _RECENT  # an alarm at the next look is answered so much later
        return min(until, until_review)

    def _run(self, geometry, table, chunk: Chunk, filtered, predictive, traces) -> np.ndarray:
        before = float(self.state.log_likelihood[0])
        leaders = super()._run(geometry, table, chunk, filtered, predictive, traces)
        self._passed = self._looks_in(chunk, before, predictive[0])
        return leaders

    def _looks_in(self, chunk: Chunk, before: float, predictive) -> tuple[Moment, ...]:
        """The looks that are due in the next chunk, of which these are the log densities."""
        counts = chunk.observed.cumsum() + self.recorded
        at = np.flatnonzero(chunk.observed & (counts % self._between_looks == 0))
        if len(at) == 0:
            return ()
        totals = np.append(before, predictive).cumsum()  # one by one, as the learner itself
        return tuple(map(Moment, counts[at].tolist(), totals[at + 1].tolist()))

    def _watch(self, chunk: Chunk) -> None:
        present = chunk.present
        self._note(present)
        recent = Present(self.recent, self.recent_sequence).followed_by(present)
        self.recent, self.recent_sequence = recent.latest(_RECENT)

    def look_back(self, manifold: Manifold, least_delta: float, *, after_alarm: bool) -> Look:
        """What a review looks at: as much of the record as the present number of states needs, or
        after an alarm the latest observations and twice as many of the record."""
        history, kept = self.history, min(self.recorded, len(self.record))
        if after_alarm and not history.is_whole:
            sample = history.sample(manifold, least_delta, max(kept // (2 * _RECENT), 1))
            points = np.concatenate([sample.points, self.recent])
            ends = np.append(sample.ends, len(sample.points) + ends_of(self.recent_sequence))
            sample = sample._replace(points=points, ends=ends)
            return Look(sample, _PRICE_AFTER_ALARM, is_whole=False)
        closer = max(history.seen // (_CLOSER * len(self.record)), 1)
        n = len(self.state.delta) + 1
        enough = _FOR_EACH_PAIR * n * max(n, _PAIRS) * closer
        step = max(kept // enough, 1)
        every = history.every * step
        sample = history.sample(manifold, least_delta, step)
        return Look(sample, price_of_parameter(history.seen, every), is_whole=every == 1)

    def decide(self, review: Callable[["Counting", bool], Recount | None]) -> None:
        """Judge the challenger, or look for one if it is time.

        `review` also looks at the latest observations if it is told so.
        """
        # Any chunking must give the same, so nothing happens between two looks but a review.
        passed, self._passed = self._passed, ()
        is_look = len(passed) > 0 and passed[-1].recorded == self.recorded
        if self._is_on_trial:
            if is_look:
                self.looked = self.recorded
                self._judge()
            return
        for look in passed:
            self._follow_level(look)
        if is_look and 0 <= self.due <= self.recorded:
            found = review(self, True)
            again = self.recorded + _RECENT  # it may have been too early, but only once
            self.due = again if found is None and again < self.calm_until else -1
            self._try(found)
        elif self.recorded == self.next_review or (is_look and self.recorded > self.next_review):
            self.reviewed = self.recorded
            self._try(review(self, False))

    def _follow_level(self, look: Moment) -> None:
        """Compare the predictions since the latest look with those before; perhaps raise alarm."""
        before, looks = self.level[:2].tolist()
        offset = (look.total - before) / (look.recorded - self.looked) - self.level[2]
        self.looked, self.level[0] = look.recorded, look.total
        if looks >= _SETTLED:
            fallen = -offset / math.sqrt(max(self.level[3], 1e-300))
            self.level[4] = max(self.level[4] + fallen - _USUAL, 0.0)
        if self.level[4] >= _ALARM and self.due < 0 and look.recorded >= self.calm_until:
            self.due = look.recorded + _RECENT
            self.calm_until = self.due + 2 * _RECENT
            self.level[4] = 0.0
        self.level[1] = looks + 1.0
        weight = 1.0 / min(looks + 1.0, _HORIZON)
        self.level[2] += weight * offset
        self.level[3] = (1.0 - weight) * (self.level[3] + weight * offset**2)

    def _try(self, found: Recount | None) -> None:
        """Let a challenger run beside the present model, if there is one."""
        if found is None:
            return
        self.log_likelihood = self.state.log_likelihood.copy()
        self.runners.append(Runner(self.runners[0].settings, found.state))
        self.names[1] = -1
        self.names[1, : len(found.names)] = found.names
        is_death = len(found.names) < len(self.state.delta)
        begin = min(found.gain, _HEAD_START) - _AHEAD_OF_DEATH if is_death else -_AHEAD_OF_BIRTH
        self.scores = np.array([0.0, begin])
        share = _TRIAL_OF_DEATH if is_death else _TRIAL_OF_BIRTH
        self.trial_ends = self.recorded + max(int(share * self.recorded), _LEAST_TRIAL)
        if found.at_once:
            self._end_trial(1)

    def _judge(self) -> None:
        """Take the challenger in or drop it, if that is clear or the trial is over."""
        lead = self.scores[1] - self.scores[0]
        present, other = (len(runner.state.delta) for runner in self.runners)
        if lead > 0.0:
            self._end_trial(1)
        elif lead < -_BEHIND:
            self._end_trial(0)
        elif self.recorded >= self.trial_ends:
            self._end_trial(int(other < present and lead > -_AHEAD_OF_DEATH))

    def _end_trial(self, winner: int) -> None:
        self.runners = [self.runners[winner]]
        self.names[0], self.names[1] = self.names[winner].copy(), -1
        self.scores, self.leader = np.zeros(1), 0
        self.state.log_likelihood[:] = self.log_likelihood
        self.level[:2], self.level[4] = (self.log_likelihood[0], 0.0), 0.0
        self.looked = self.recorded

    def check(self, n: int, manifold: Manifold) -> None:
        """Refuse what a file says if it could not have come about; `n` is the most states."""
        super().check(n, manifold)
        recent = (min(self.recorded, _RECENT), *manifold.point_shape)
        check_array("recent", self.recent, recent)
        check_array("recent_sequence", self.recent_sequence, recent[:1], np.int64)
        check_array("level", self.level, (5,))
        check_array("names", self.names, (2, n), np.int64)
        for runner, names in enumerate(self.names):
            count = len(self.runners[runner].state.delta) if runner < len(self.runners) else 0
            used = np.unique(names[:count])
            if len(used) < count or (used < 0).any() or (used >= n).any():
                raise ValueError(f"names must be different numbers from 0 to {n - 1}")
            if (names[count:] != -1).any():
                raise ValueError("names must be -1 where there is no state")
        check_whole("looked", self.looked, 0, self.recorded)
        most = self.recorded + max(self.recorded, 4 * _RECENT)
        check_whole("trial_ends", self.trial_ends, 0, most)
        check_whole("calm_until", self.calm_until, 0, most)
        check_whole("due", self.due, -1, most)
        check_points("recent", self.recent, manifold)
        if min(self.level[1], self.level[3], self.level[4]) < 0.0:
            raise ValueError("level must have a count, a variance and a fall of at least 0")


def _wide(probabilities: np.ndarray, names: np.ndarray, most: int) -> np.ndarray:
    """Probabilities (…, N) in the columns of their names, (…, most)."""
    wide = np.zeros((*probabilities.shape[:-1], most))
    wide[..., names] = probabilities
    return wide


def _wide_trace(trace: Trace, names: np.ndarray, most: int) -> Trace:
    """The trace with each state in the column of its name, and NaN in all others."""
    rows = len(trace.step)
    wide = empty_trace(rows, np.empty((most, *trace.means.shape[2:])))
    for name in ("means", "delta", "sigmas", "gamma", "visits"):
        getattr(wide, name)[:] = np.nan
        getattr(wide, name)[:, names] = getattr(trace, name)
    wide.transmat[:] = np.nan
    wide.transmat[:, names[:, None], names] = trace.transmat
    return wide._replace(step=trace.step, log_likelihood=trace.log_likelihood)
