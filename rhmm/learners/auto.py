"""An automatic memory: streaming learners of several memories side by side, of which the one that
predicts best is followed.

Each member runs the streaming recursion with a memory of its own, and is scored by its recent
one-step predictive density. Two things keep the bank useful when the chain changes:

- *sync*: a member that has fallen far behind takes over the leader's state. A long memory that was
  left behind by a jump then converges again from where a short one has already arrived.
- *restart*: after a far jump every memory may sit in a wrong basin. When even the leader predicts
  clearly worse than it used to, the learner collects the next observations and starts a newcomer
  from them. The newcomer runs beside the others for a while, and takes the place of the growing
  memory only if it predicts clearly better than all of them: a false alarm costs nothing but time.

A single observation can neither cost a member much nor move the level: outliers do not decide.
"""

import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from rhmm._jit import kernel
from rhmm.learners.learner import OnlineLearner
from rhmm.learners.streaming import GROWING, INIT, StreamingHMM
from rhmm.manifolds import Manifold
from rhmm.streams import start
from rhmm.streams.checks import (
    check_array,
    check_laws,
    check_points,
    check_positive,
    check_whole,
)
from rhmm.streams.chunk import Chunk, Present
from rhmm.streams.ensemble import Ensemble, Runner
from rhmm.streams.review import Challenger, Recorder
from rhmm.streams.start import ENOUGH
from rhmm.streams.streaming_kernel import StreamingSettings, StreamingState, learn

BANK: tuple[int | str, ...] = (50, 100, 200, 400, 800, GROWING)
"""The memories that run side by side."""

_START, _LEAST_START = 20, 50
"""Observations for each state that it starts from, and the least of them in all."""

_HORIZON = 100.0
"""Scores are weighted by e^{−age/100}."""
_EVERY = 50
"""Observations between two looks at the scores."""
_BEHIND = 20.0
"""Nats behind the leader at which a member takes over the leader's state."""
_AHEAD = 10.0
"""Nats ahead of all members at which a newcomer is one of them."""
_ALARM, _DOUBT = 4.0, 1.0
"""Standard deviations that the leader's recent prediction falls below its mean to raise alarm, and
to doubt that the parameters are worth remembering."""
_OUTLIER = 6.0
"""Standard deviations that one observation counts for at most."""
_SETTLED, _TRIAL, _FRESH = 300, 400, 100
"""Observations before the first alarm, of a newcomer's trial, and how many those before an alarm
then count for in the mean."""
_GROWING = len(BANK) - 1
_REMEMBERED = 100
"""Restarts that `restarts_` tells of, the latest."""


class Bank(Recorder):
    """The memories of `BANK`, side by side; `recent` has room for what a restart begins from."""

    forget = 1.0 / _HORIZON
    sizes: ClassVar[tuple[int, int]] = (len(BANK), len(BANK) + 1)
    numbers: ClassVar[tuple[str, ...]] = (*Recorder.numbers, "seen", "looked", "due", "calm_until")
    arrays: ClassVar[tuple[str, ...]] = (
        *Recorder.arrays, "recent", "recent_sequence", "level", "restarts", "transmat", "means",
        "delta",
    )  # fmt: skip

    def __init__(self, learn: Callable, runners: list[Runner], manifold: Manifold, first: Present):
        super().__init__(learn, runners, manifold, first)
        size = _size_of_recent(len(self.state.delta))
        self.recent = np.zeros((size, *manifold.point_shape))
        self.recent_sequence = np.zeros(size, np.int64)
        self.seen = 0
        """Observations that were not missing."""
        self.looked = 0
        """How many of them there had been at the last decision."""
        self.due = -1
        """After how many of them a newcomer starts; −1 if none will."""
        self.calm_until = _SETTLED
        """After how many of them there may be an alarm, or a trial ends."""
        self.level = np.zeros(4)
        """Of the leader's predictive log density: count, mean, variance, recent mean."""
        self.restarts = np.zeros(0, np.int64)
        self._remember()

    def _remember(self) -> None:
        """Keep the leader's parameters: a restart recognises its states by them."""
        self.transmat, self.means = self.state.transmat.copy(), self.state.means.copy()
        self.delta = self.state.delta.copy()

    @property
    def nbytes(self) -> int:
        """With room for a newcomer, whether there is one or not."""
        kept = (self.recent, self.recent_sequence, self.transmat, self.means, self.delta)
        record = self.record.nbytes + self.record_sequence.nbytes
        members = (super().nbytes - record) // len(self.runners) * (len(BANK) + 1)
        return members + record + sum(array.nbytes for array in kept)

    @property
    def followed(self) -> int | str:
        """The memory that leads; a newcomer has a growing one."""
        return BANK[min(self.leader, _GROWING)]

    @property
    def _is_on_trial(self) -> bool:
        return len(self.runners) > len(BANK)

    def until_decision(self) -> int:
        return min(_EVERY - self.seen % _EVERY, self.history.until_full())

    def recent_scores(self) -> dict[int | str, float]:
        """Each memory's recent predictive log density per observation."""
        weight = _HORIZON * (1.0 - (1.0 - 1.0 / _HORIZON) ** max(self.seen, 1))
        scores = np.append(self.scores[:_GROWING], self.scores[_GROWING:].max())
        return {name: float(s) / weight for name, s in zip(BANK, scores, strict=True)}

    def _watch(self, chunk: Chunk, predictive, led) -> None:
        present = chunk.present
        self.seen += present.size
        self._note(present)
        recent = Present(self.recent, self.recent_sequence).followed_by(present)
        self.recent, self.recent_sequence = recent.latest(len(self.recent))
        _follow_level(predictive, chunk.observed, led, self.level)

    def decide(
        self,
        challenger: Callable[["Bank"], Challenger | None],
        start_anew: Callable[["Bank"], StreamingState],
    ) -> None:
        """Review, sync and restart if it is time; `start_anew` makes a state from `recent`."""
        if self._is_due():
            found = challenger(self)
            if found is not None:
                self._take_in(found)
        if self.seen == self.looked or self.seen % _EVERY:
            return
        self.looked = self.seen
        if self._is_on_trial:
            self._judge_newcomer()
        behind = self.scores[: len(BANK)] < self.scores[self.leader] - _BEHIND
        for member in np.flatnonzero(behind).tolist():
            self._replace(member, self.state)
        if 0 <= self.due <= self.seen:
            self._try(start_anew(self))
        elif self.due < 0 and self.seen >= self.calm_until and self._has_fallen_by(_ALARM):
            self.due = self.seen + len(self.recent)
        if self.due < 0 and not self._has_fallen_by(_DOUBT):
            self._remember()

    def _take_in(self, challenger: Challenger) -> None:
        """Let the growing memory, or all of them, go on from a better model of the record."""
        at_once = math.isinf(challenger.gain)
        if at_once or challenger.gain > _AHEAD:
            for member in range(len(BANK)) if at_once else [_GROWING]:
                self._replace(member, challenger.state)

    def _has_fallen_by(self, deviations: float) -> bool:
        _, mean, variance, recent = self.level
        return bool(recent < mean - deviations * math.sqrt(variance / (2.0 * _HORIZON)))

    def _replace(self, member: int, state: StreamingState) -> None:
        self.runners[member] = Runner(self.runners[member].settings, state).copy()
        self.scores[member] = self._just_behind()

    def _just_behind(self) -> float:
        """The score of a runner that takes the lead only by predicting better than the leader."""
        return np.nextafter(self.scores[self.leader], -np.inf)

    def _try(self, state: StreamingState) -> None:
        """Let a newcomer run beside the members."""
        self.runners.append(Runner(self.runners[_GROWING].settings, state))
        self.scores = np.append(self.scores, self._just_behind())
        self.due, self.calm_until = -1, self.seen + _TRIAL
        self.level[:2] = _FRESH, self.level[3]

    def _judge_newcomer(self) -> None:
        """Take the newcomer in or drop it, if that is clear or the trial is over."""
        lead = self.scores[-1] - self.scores[:-1].max()
        if lead > _AHEAD:
            self.runners[_GROWING], self.scores[_GROWING] = self.runners[-1], self.scores[-1]
            step = int(self.state.counters[0])
            self.restarts = np.append(self.restarts, step)[-_REMEMBERED:]
        elif lead > -_BEHIND and self.seen < self.calm_until:
            return
        self.runners.pop()
        self.scores = self.scores[:-1]
        self.leader = int(np.argmax(self.scores))

    def check(self, n: int, manifold: Manifold) -> None:
        """Refuse what a file says if it could not have come about."""
        super().check(n, manifold)
        size, all_seen = _size_of_recent(n), int(self.state.counters[0])
        check_array("recent", self.recent, (size, *manifold.point_shape))
        check_array("recent_sequence", self.recent_sequence, (size,), np.int64)
        check_array("transmat", self.transmat, (n, n))
        check_array("means", self.means, (n, *manifold.point_shape))
        check_array("delta", self.delta, (n,))
        check_array("level", self.level, (4,))
        check_array("restarts", self.restarts, (len(self.restarts),), np.int64)
        check_whole("seen", self.seen, 0, all_seen)
        check_whole("looked", self.looked, 0, self.seen)
        check_whole("calm_until", self.calm_until, 0, self.seen + _SETTLED + _TRIAL)
        if self.due != -1:  # a newcomer starts from observations alone
            check_whole("due", self.due, size, self.seen + size)
        check_points("recent", self.recent[size - min(self.seen, size) :], manifold)
        check_laws("transmat", self.transmat)
        check_points("means", self.means, manifold)
        check_positive("delta", self.delta)
        if self.level[0] < 0.0 or self.level[2] < 0.0:
            raise ValueError("level must have a count and a variance of at least 0")
        if not ((self.restarts >= 0) & (self.restarts <= all_seen)).all():
            raise ValueError(f"restarts must be from 0 to {all_seen}")


def _size_of_recent(n_components: int) -> int:
    """Observations that a restart begins from."""
    return max(200, ENOUGH * n_components)


@kernel
def _follow_level(predictive, observed, led, level):
    for t in range(len(led)):
        if observed[t]:
            value = predictive[led[t], t]
            level[0] += 1.0
            if level[0] == 1.0:
                level[1] = level[3] = value
                continue
            offset = value - level[1]
            if level[0] > _FRESH:
                most = _OUTLIER * math.sqrt(level[2])
                offset = min(max(offset, -most), most)
            level[3] += (level[1] + offset - level[3]) / min(level[0], _HORIZON)
            level[1] += offset / level[0]
            level[2] += (offset * offset - level[2]) / (level[0] - 1.0)


class AutoMemoryRiemannianHMM(StreamingHMM):
    """Streaming learners with the memories of `BANK` side by side: the one that has predicted best
    lately is followed, and a newcomer starts when all are lost.

    Parameters
    ----------
    manifold, n_components
        As for `RiemannianHMM`.
    lag, init, min_sigma, random_state, trace_every, callback
        As for `StreamingRiemannianHMM`.
    """

    def __init__(
        self,
        manifold: Manifold,
        n_components: int,
        *,
        lag: int = 8,
        init: str = "kmeans",
        min_sigma: float | None = None,
        random_state=None,
        trace_every: int | None = None,
        callback: Callable[["AutoMemoryRiemannianHMM"], None] | None = None,
    ):
        self.manifold = manifold
        self.n_components = n_components
        self.lag = lag
        self.init = init
        self.min_sigma = min_sigma
        self.random_state = random_state
        self.trace_every = trace_every
        self.callback = callback

    @property
    def start_size(self) -> int:
        """Observations that it starts from: 50, or 20 for each state if that is more; fewer if it
        starts cold."""
        if self.init == "cold":
            return self._cold_start_size
        return max(_LEAST_START, _START * self.n_components)

    @property
    def ensembles(self) -> tuple[type[Ensemble], ...]:
        """The kinds of ensembles that it runs."""
        return (Bank,)

    def _settled(self, state: StreamingState, first: Present) -> Ensemble:
        members = [Runner(self._settings_of(Bank, m), state).copy() for m in range(len(BANK))]
        return Bank(learn, members, self.manifold, first)

    def _settings_of(self, kind: type[Ensemble], runner: int) -> StreamingSettings:
        return self._memory(BANK[min(runner, _GROWING)])  # a newcomer has a growing memory

    def _decide(self, ensemble: Ensemble) -> Ensemble:
        if isinstance(ensemble, Bank):
            ensemble.decide(self._challenger, self._start_anew)
        return ensemble

    def _start_anew(self, bank: Bank) -> StreamingState:
        """A state from the bank's recent observations alone, its states named as they were."""
        found = self._best_start(Present(bank.recent, bank.recent_sequence), cold=False)
        found = start.recognised(self.manifold, bank.transmat, bank.means, bank.delta, found)
        return start.streaming_state(self.manifold, found, self.lag, self.n_samples_seen_)

    @property
    def _bank(self) -> Bank:
        ensemble = self._known_stream.ensemble
        if not isinstance(ensemble, Bank):
            raise self._not_fitted("its memories begin after the start")
        return ensemble

    @property
    def memory_(self) -> int | str:
        """The memory of `BANK` that is followed."""
        return self._bank.followed

    @property
    def bank_(self) -> dict[int | str, float]:
        """Each memory's recent predictive log density per observation.

        Recent means weighted by e^{−age/100}; `memory_` is the memory with the largest.
        """
        return self._bank.recent_scores()

    @property
    def restarts_(self) -> list[int]:
        """After how many observations it started anew, the latest 100 times."""
        return self._bank.restarts.tolist()


class _AutoMemory(OnlineLearner):
    def effort(self, length: int, options) -> float:
        """About how long it takes: six recursions in short pieces."""
        return 20.0 * length


LEARNER = _AutoMemory(
    key="auto",
    label="automatic memory",
    about="Streaming learners with several memories side by side: it follows the one that has "
    "predicted best of late.",
    estimator=AutoMemoryRiemannianHMM,
    options=(INIT,),
    variants={"auto": {}},
)
