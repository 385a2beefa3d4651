"""Candidates of a start race on the observations that follow it.

A short buffer does not tell a good start from a bad one. So several candidates go on with a short
memory, scored by their one-step predictive density, and fewer and fewer of them are kept.
"""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from rhmm.manifolds import Manifold
from rhmm.streams.checks import check_whole
from rhmm.streams.ensemble import Ensemble, Runner
from rhmm.streams.start import ENTRANTS

ENOUGH = 60
"""Observations for each state that tell a good start from a bad one at once."""
_CUTS = ((40, 8), (80, 4), (240, 1))
"""After how many observations for each state how many candidates are left."""


class Race(Ensemble):
    """Candidates on the observations after their start, until one is left."""

    sizes: ClassVar[tuple[int, int]] = (2, ENTRANTS)
    numbers: ClassVar[tuple[str, ...]] = (*Ensemble.numbers, "seen")

    def __init__(self, learn: Callable, runners: list[Runner], scores: np.ndarray, seen: int):
        super().__init__(learn, runners, scores)
        self.seen = seen
        """Observations that were not missing, those of the start included."""
        self.decide()

    @property
    def is_over(self) -> bool:
        return len(self.runners) == 1

    def until_decision(self) -> int:
        n = len(self.state.delta)
        return next(length * n - self.seen for length, _ in _CUTS if length * n > self.seen)

    def _watch(self, X, observed, predictive, led) -> None:
        self.seen += int(observed.sum())

    def decide(self) -> None:
        """Drop the candidates that have fallen behind, if it is time."""
        n = len(self.state.delta)
        passed = [left for length, left in _CUTS if length * n <= self.seen]
        kept = min(passed, default=len(self.runners))
        if kept < len(self.runners):
            best = np.sort(np.argsort(-self.scores, kind="stable")[:kept])
            self.runners = [self.runners[c] for c in best]
            self.scores = self.scores[best]
            self.leader = int(np.argmax(self.scores))

    def check(self, n: int, manifold: Manifold) -> None:
        """Refuse what a file says if it could not have come about: a race has an end."""
        super().check(n, manifold)
        end = _CUTS[-1][0] * n
        check_whole("seen", self.seen, 0, min(end - 1, int(self.state.counters[0])))
