"""An automatic memory: streaming learners of several memories side by side, of which the one that
predicts best is followed.

Each member runs the streaming recursion with a memory of its own, and is scored by its recent
one-step predictive density. Two things keep the bank useful when the chain changes:

- *sync*: a member that has fallen far behind takes over the leader's state. A long memory that was
  left behind by a jump then converges again from where a short one has already arrived. A growing
  memory that does so has each length in turn, so few members are enough.
- *restart*: after a far jump every memory may sit in a wrong basin. When even the leader predicts
  clearly worse than it used to, the learner collects the next observations and starts a newcomer
  from them. The newcomer runs beside the others for a while, and takes the place of the growing
  memory only if it predicts clearly better than all of them: a false alarm costs nothing but time.
- *refit*: where points tell of sensors, these may have been put on again in another order. Now and
  then the latest observations are shown to what was known before in all of them
  (`rhmm.streams.rearranging`). If another order explains them clearly better, a newcomer goes on
  with the old states in that order, on trial like any other.

A single observation can neither cost a member much nor move the level: outliers do not decide.
"""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

import numpy as np

from rhmm.manifolds import Manifold
from rhmm.streams.bank_kernel import (
    ALARM,
    BEHIND,
    EVERY,
    FORGET,
    FRESH,
    HORIZON,
    Clock,
    Remembered,
    follow_level,
    has_fallen,
    run_pieces,
)
from rhmm.streams.checks import (
    check_array,
    check_laws,
    check_points,
    check_positive,
    check_state,
    check_whole,
)
from rhmm.streams.chunk import Chunk, Present
from rhmm.streams.ensemble import Ensemble, Runner
from rhmm.streams.review import Challenger, Recorder
from rhmm.streams.shaped_kernel import AnyState
from rhmm.streams.start import ENOUGH
from rhmm.streams.streaming_kernel import learn

BANK: tuple[int | str, ...] = (50, 400, "growing")
"""The memories that run side by side."""

_HANDICAP = 3.0
"""Nats that a memory must be ahead of the growing one to be followed: where nothing changes, a
shorter one is often ahead by chance, and its parameters are less good."""
_AHEAD = 10.0
"""Nats ahead of all members at which a newcomer is one of them."""
REFIT_EVERY = 240
"""Observations between two looks at the order of the sensors: each ends what is learned at a time,
and on small matrices that costs as much as the look."""
_SETTLED, _TRIAL = 300, 400
"""Observations before the first alarm or look at the sensors, and of a newcomer's trial."""
_GROWING = len(BANK) - 1
_EARLIER = "earlier"
"""How the names of arrays begin that a file keeps of `Bank.earlier`."""
_REMEMBERED = 100
"""Restarts that are told of, the latest."""


def memory_of(runner: int) -> int | str:
    """The memory of the runner at that place; a newcomer, the last, has a growing one."""
    return BANK[min(runner, _GROWING)]


class Bank(Recorder):
    """The memories of `BANK`, side by side; `recent` has room for what a restart begins from."""

    forget = FORGET
    sizes: ClassVar[tuple[int, int]] = (len(BANK), len(BANK) + 1)
    numbers: ClassVar[tuple[str, ...]] = (*Recorder.numbers, "seen", "looked", "due", "calm_until")
    arrays: ClassVar[tuple[str, ...]] = (
        *Recorder.arrays, "recent", "recent_sequence", "level", "restarts", "transmat", "means",
        "delta",
    )  # fmt: skip

    def __init__(self, runners: list[Runner], manifold: Manifold, first: Present):
        super().__init__(learn, runners, manifold, first)
        size = _size_of_recent(len(self.state.delta))
        self.recent = np.zeros((size, *manifold.point_shape))
        self.recent_sequence = np.zeros(size, np.int64)
        self.seen = 0
        """Observations that were not missing."""
        self.looked = 0
        """How many of them there had been when a newcomer or the sensors were last looked at."""
        self.due = -1
        """After how many of them a newcomer starts; −1 if none will."""
        self.calm_until = _SETTLED
        """After how many of them there may be an alarm, or a trial ends."""
        self.level = np.zeros(4)
        """Of the leader's predictive log density: count, mean, variance, recent mean."""
        self.restarts = np.zeros(0, np.int64)
        self.transmat, self.means = self.state.transmat.copy(), self.state.means.copy()
        self.delta = self.state.delta.copy()
        self.earlier: tuple[AnyState, ...] = ()
        """Where points tell of sensors: what the leader knew some time ago, the older first."""
        if manifold.n_sensors > 1:
            self.earlier = (self._known(),) * 2

    @property
    def nbytes(self) -> int:
        """With room for a newcomer, whether there is one or not."""
        kept = (self.recent, self.recent_sequence, self.transmat, self.means, self.delta)
        record = self.record.nbytes + self.record_sequence.nbytes
        members = (super().nbytes - record) // len(self.runners) * (len(BANK) + 1)
        earlier = sum(array.nbytes for state in self.earlier for array in state)
        return members + record + earlier + sum(array.nbytes for array in kept)

    @property
    def latest(self) -> Present:
        """What a restart begins from."""
        return Present(self.recent, self.recent_sequence)

    @property
    def followed(self) -> int | str:
        """The memory that leads."""
        return memory_of(self.leader)

    @property
    def handicaps(self) -> np.ndarray:
        handicaps = np.full(len(self.runners), _HANDICAP)
        handicaps[_GROWING] = 0.0
        return handicaps

    @property
    def _is_on_trial(self) -> bool:
        return len(self.runners) > len(BANK)

    def until_decision(self) -> int:
        until = self.next_review - self.recorded
        if self._is_on_trial:
            return min(EVERY - self.seen % EVERY, until)
        if self.earlier:
            until = min(REFIT_EVERY - self.seen % REFIT_EVERY, until)
        return min(self.due - self.seen, until) if self.due >= 0 else until

    def recent_scores(self) -> dict[int | str, float]:
        """Each memory's recent predictive log density per observation."""
        weight = HORIZON * (1.0 - (1.0 - 1.0 / HORIZON) ** max(self.seen, 1))
        scores = np.append(self.scores[:_GROWING], self.scores[_GROWING:].max())
        return {name: float(s) / weight for name, s in zip(BANK, scores, strict=True)}

    def _run(self, geometry, table, chunk: Chunk, filtered, predictive, traces) -> np.ndarray:
        observed = chunk.observed
        if self._is_on_trial:
            before = self.leader
            leaders = super()._run(geometry, table, chunk, filtered, predictive, traces)
            follow_level(predictive, observed, np.append(before, leaders[:-1]), self.level)
            self.seen += int(observed.sum())
            return leaders
        first = int(self.state.counters[0])
        leaders = np.empty(chunk.size, np.int64)
        remembered = Remembered(self.transmat, self.means, self.delta)
        done = 0
        is_alarmed = False
        while done < chunk.size and not is_alarmed:
            settings, states = zip(*self.runners, strict=True)
            clock = Clock(self.seen, self.calm_until, self.due)
            done, self.seen = run_pieces(
                geometry, table, settings, states, chunk.points, observed, chunk.begins,
                tuple(filtered), predictive, tuple(traces), self.handicaps, self.scores, self.level,
                self.leader, leaders, remembered, clock, done, first,
            )  # fmt: skip
            self.leader = int(leaders[done - 1])
            if self.seen % EVERY == 0:
                is_alarmed = self._settle(partial(self._young, chunk, done))
        return leaders[:done]

    def _young(self, chunk: Chunk, done: int) -> int:
        """How many observations the present sequence has when so many of a chunk are done, if it
        has just begun and follows a long one; otherwise 0."""
        latest = self.latest.followed_by(chunk.part(slice(done)).present)
        return _just_begun(latest.latest(len(self.recent)).sequence)

    def _watch(self, chunk: Chunk) -> None:
        present = chunk.present
        self._note(present)
        recent = self.latest.followed_by(present)
        self.recent, self.recent_sequence = recent.latest(len(self.recent))

    def decide(
        self,
        challenger: Callable[["Bank"], Challenger | None],
        start_anew: Callable[["Bank"], AnyState],
        refitted: Callable[["Bank"], AnyState | None],
    ) -> None:
        """Review, restart and look at the sensors if it is time; `start_anew` makes a state from
        `recent`, `refitted` from `earlier` if that explains `recent` in another order."""
        if self._is_due():
            found = challenger(self)
            if found is not None:
                self._take_in(found)
        if self._is_on_trial and self.seen % EVERY == 0 and self.seen > self.looked:
            self.looked = self.seen
            self._judge_newcomer()
            self._settle(lambda: _just_begun(self.recent_sequence))
        if self._is_on_trial:
            return
        if 0 <= self.due <= self.seen:
            self._start_trial(start_anew(self))
            self.due, self.calm_until = -1, self.seen + _TRIAL
            self.level[:2] = FRESH, self.level[3]
        elif self.earlier and self.seen % REFIT_EVERY == 0 and self.seen > self.looked:
            self.looked = self.seen
            self._look_at_sensors(refitted)

    def _look_at_sensors(self, refitted: Callable[["Bank"], AnyState | None]) -> None:
        """Try what was known some time ago, if it is true in another order, until the next look;
        remember what is known now."""
        found = refitted(self) if self.seen >= _SETTLED else None
        if found is not None:
            self._start_trial(found)
            self.calm_until = max(self.calm_until, self.seen + REFIT_EVERY)
        self.earlier = (self.earlier[1], self._known())

    def _known(self) -> AnyState:
        """What the leader knows now."""
        return self.runners[self.leader].copy().state

    def _settle(self, young: Callable[[], int]) -> bool:
        """Look at the scores: members far behind go on from the leader. Returns whether there was
        an alarm, since even the leader predicts worse than before.

        A newcomer starts from what follows the alarm; if a sequence has just begun, from all of it,
        of which there are as many as `young` says: the world may have changed before it.
        """
        behind = self.scores[: len(BANK)] < self.scores[self.leader] - BEHIND
        for member in np.flatnonzero(behind).tolist():
            self._replace(member, self.state)
        if self.due >= 0 or self.seen < self.calm_until or not has_fallen(self.level, ALARM):
            return False
        self.due = self.seen + len(self.recent) - young()
        return True

    def _take_in(self, challenger: Challenger) -> None:
        """Let the growing memory go on from a better model of the record, or all of them if the
        start was from too few."""
        if challenger.gain > _AHEAD:
            for member in range(len(BANK)) if challenger.is_fresh else [_GROWING]:
                self._replace(member, challenger.state)

    def _replace(self, member: int, state: AnyState) -> None:
        self.runners[member] = Runner(self.runners[member].settings, state).copy()
        less = max(self.handicaps[self.leader] - self.handicaps[member], 0.0)
        self.scores[member] = self._just_behind(less)

    def _just_behind(self, less: float = 0.0) -> float:
        """The score of a runner that takes the lead only by predicting better than the leader; it
        has so many nats less to make up for."""
        return np.nextafter(self.scores[self.leader] - less, -np.inf)

    def _start_trial(self, state: AnyState) -> None:
        """Let a newcomer run beside the members."""
        self.runners.append(Runner(self.runners[_GROWING].settings, state).copy())
        self.scores = np.append(self.scores, self._just_behind())

    def _judge_newcomer(self) -> None:
        """Take the newcomer in or drop it, if that is clear or the trial is over."""
        lead = self.scores[-1] - self.scores[:-1].max()
        if lead > _AHEAD:
            self.runners[_GROWING], self.scores[_GROWING] = self.runners[-1], self.scores[-1]
            step = int(self.state.counters[0])
            self.restarts = np.append(self.restarts, step)[-_REMEMBERED:]
            self.due = -1
            if self.earlier:
                self.earlier = (self.runners[-1].copy().state,) * 2
        elif lead > -BEHIND and self.seen < self.calm_until:
            return
        self.runners.pop()
        self.scores = self.scores[:-1]
        self.leader = self._best()

    # Files

    def content(self) -> tuple[dict[str, int], dict[str, np.ndarray]]:
        """What a file keeps of it beside the runners: whole numbers, and arrays."""
        numbers, arrays = super().content()
        for e, state in enumerate(self.earlier):
            arrays |= {f"{_EARLIER}{e}.{name}": array for name, array in state._asdict().items()}
        return numbers, arrays

    @classmethod
    def restored(cls, learn: Callable, runners: list[Runner], content: dict) -> "Ensemble":
        """The bank that had this content, to be checked with `check`."""
        earlier: dict[str, dict[str, np.ndarray]] = {}
        for name in sorted(content):
            if name.startswith(_EARLIER):
                place, field = name.split(".")
                earlier.setdefault(place, {})[field] = content[name]
        own = {name: value for name, value in content.items() if not name.startswith(_EARLIER)}
        bank = super().restored(learn, runners, own)
        vars(bank)["earlier"] = tuple(type(bank.state)(**fields) for fields in earlier.values())
        return bank

    def check(self, n: int, manifold: Manifold) -> None:
        """Refuse what a file says if it could not have come about."""
        super().check(n, manifold)
        if len(self.earlier) != (2 if manifold.n_sensors > 1 else 0):
            raise ValueError("earlier must be two states where points tell of sensors, or none")
        room = len(self.state.alpha)
        for state in self.earlier:
            check_state(state, n, manifold, 0, room - 1, room)
            check_whole("counters[0]", state.counters[0], 0, self.state.counters[0])
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
        if self.due != -1:  # a newcomer starts from observations alone, after any trial
            check_whole("due", self.due, size, self.seen + size)
            if self.due < self.seen and not self._is_on_trial:
                raise ValueError(f"due must be at least {self.seen} without a trial")
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


def _just_begun(sequence: np.ndarray) -> int:
    """How many of the latest observations are of the latest sequence, if these are few and all
    others of one other sequence; otherwise 0."""
    count = int((sequence == sequence[-1]).sum())
    return count if count <= HORIZON and sequence[0] == sequence[-count - 1] else 0
