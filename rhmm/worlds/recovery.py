"""How fast a learner recovers when the world changes: measured as the stream runs, in constant
memory.

A learner's names of states are arbitrary. They are matched to the true ones (`Naming`) before each
block of 50 observations is judged, with that block in it.
"""

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from rhmm.validation import check_number
from rhmm.worlds.event import BLOCK, check_multiple
from rhmm.worlds.naming import Naming

_REMEMBERED = 100
"""Events that are reported, the latest."""


@dataclass(frozen=True)
class Recovered:
    """What one event has cost a learner."""

    at: int
    """The observation that the event came before."""
    steps: int | None
    """Observations until a window began in which the learner was as accurate as the ceiling, up to
    `within`; None if none did, so far or before the next event."""
    lost: int
    """How many more states the ceiling found than the learner in these steps, or so far."""


class Recovery:
    """Rolling causal accuracy of a learner and of the ceiling, and what each event has cost.

    Parameters
    ----------
    window
        Observations of a rolling accuracy, a multiple of 50. After an event the learner has
        recovered at the beginning of the first window after it in which its accuracy is within
        `within` of the ceiling's.
    within
        How far below the ceiling is as good as the ceiling.
    horizon
        The confusion matrix weighs an observation by e^{−age/horizon}.
    """

    def __init__(self, *, window: int = 500, within: float = 0.01, horizon: float = 500.0):
        self.window = check_multiple("window", window)
        self.within = check_number("within", within, at_least=0.0)
        self.horizon = check_number("horizon", horizon, at_least=1.0)
        self._naming = Naming(math.exp(-BLOCK / self.horizon))
        self._seen = self._judged = 0
        self._pending = np.empty((3, 0), np.int64)
        """States, labels and ceiling of observations that are not a block yet."""
        self._right = np.zeros((2, 0), bool)
        """Whether the learner and the ceiling were right lately, at most `window` columns."""
        self._lost = 0
        """States that the ceiling found more than the learner, in all."""
        self._marks: deque[int] = deque()
        """Events that are to come."""
        self._open: tuple[int, int] | None = None
        """The event that the learner has not recovered from: when, and `_lost` then."""
        self._recovered: deque[Recovered] = deque(maxlen=_REMEMBERED)

    @property
    def n_seen(self) -> int:
        """Observations added so far; they are judged in blocks of 50."""
        return self._seen

    @property
    def accuracy(self) -> float:
        """The learner's share of states found in the latest window; NaN before the first block."""
        return _share(self._right[0])

    @property
    def ceiling(self) -> float:
        """The same of the filter under the true parameters."""
        return _share(self._right[1])

    @property
    def matching(self) -> np.ndarray:
        """``matching[i]`` is the learner's name of the true state i, shape (N,); −1 if it has
        none."""
        return self._naming.matching.copy()

    @property
    def events(self) -> tuple[Recovered, ...]:
        """What each of the latest 100 events that were marked and reached has cost."""
        if self._open is None:
            return tuple(self._recovered)
        at, lost = self._open
        return (*self._recovered, Recovered(at, None, self._lost - lost))

    def mark(self, at: int) -> None:
        """Measure from observation `at` on, a multiple of 50: something happens then.

        It must not have been judged yet; several marks at one time are one.
        """
        at = check_multiple("at", at, at_least=0)
        if at < self._judged:
            raise ValueError(f"at must be {self._judged} or later, not {at}")
        self._marks = deque(sorted({*self._marks, at}))

    def add(self, states, labels, ceiling) -> None:
        """Take in true states, the learner's labels (−1 where it has none) and the ceiling's
        states, each of shape (n,). Any chunking gives the same.
        """
        columns = [np.asarray(values) for values in (states, labels, ceiling)]
        for name, values in zip(("states", "labels", "ceiling"), columns, strict=True):
            if values.dtype.kind not in "iu" or values.shape != columns[0].shape[:1]:
                raise ValueError(f"{name} must be whole numbers of shape ({columns[0].size},)")
        if (columns[0] < 0).any():
            raise ValueError("states must be known, from 0 on: leave out where they are not")
        self._seen += columns[0].size
        self._pending = np.concatenate([self._pending, np.stack(columns)], axis=1)
        begin, end = 0, self._pending.shape[1] // BLOCK * BLOCK
        while begin < end:
            if self._marks and self._marks[0] <= self._judged:
                self._close(None, self._lost)
                self._open = self._marks.popleft(), self._lost
            until = self._marks[0] - self._judged if self._marks else end
            stop = min(end, begin + max(until, BLOCK))
            self._judge(*self._pending[:, begin:stop])
            begin = stop
        self._pending = self._pending[:, begin:].copy()

    def _judge(self, states, labels, ceiling) -> None:
        """Judge whole blocks between two marks."""
        own = self._naming.judge(states, labels)
        right = np.concatenate([self._right, np.stack([own, ceiling == states])], axis=1)
        if self._open is not None:
            behind = right.astype(np.int64)
            sums = np.concatenate([[0], np.cumsum(behind[1] - behind[0])])
            self._look(self._lost + sums - sums[self._right.shape[1]], len(states))
        found, best = np.count_nonzero(right[:, -len(states) :], axis=1).tolist()
        self._lost += best - found
        self._right = right[:, -self.window :].copy()
        self._judged += len(states)

    def _look(self, total: np.ndarray, count: int) -> None:
        """Has the learner recovered within the latest `count` observations? `total` ends with the
        states lost before each of them, and after them all."""
        if self._open is None:
            return
        at = self._open[0]
        ends = np.arange(len(total) - count, len(total))
        begins = ends - self.window
        after = self._judged + count - (len(total) - 1) + begins
        fits = (begins >= 0) & (after >= at)
        ends, begins, after = ends[fits], begins[fits], after[fits]
        good = np.flatnonzero(total[ends] - total[begins] <= self.within * self.window)
        if len(good):
            first = good[0]
            self._close(int(after[first]) - at, int(total[begins[first]]))

    def _close(self, steps: int | None, total: int) -> None:
        if self._open is not None:
            at, lost = self._open
            self._recovered.append(Recovered(at, steps, total - lost))
            self._open = None


def _share(right: np.ndarray) -> float:
    return float(right.mean()) if len(right) else float("nan")
