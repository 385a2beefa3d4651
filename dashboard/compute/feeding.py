"""Online learners that are given observations in pieces: they learn the same, to the bit."""

from collections.abc import Iterable, Iterator

import numpy as np

from rhmm.learners.online import OnlineHMM
from rhmm.model import HiddenMarkovModel


def feed(
    learner: OnlineHMM, points: np.ndarray, lengths: np.ndarray | None, first: int, stop: int
) -> None:
    """Let it learn observations `first` to `stop`, sequence by sequence."""
    ends = np.cumsum([] if lengths is None else lengths).astype(int).tolist()
    for end in ends:
        if first < end <= stop:
            learner.partial_fit(points[first:end], lengths=[end - first])
            first = end
    if first < stop:
        learner.partial_fit(points[first:stop])


def models_along(
    learner: OnlineHMM, points: np.ndarray, lengths: np.ndarray | None, steps: Iterable[int]
) -> Iterator[HiddenMarkovModel]:
    """The model of a learner that has seen nothing, after each of these numbers of observations."""
    done = 0
    for step in steps:
        feed(learner, points, lengths, done, step)
        done = step
        yield learner.to_hmm()
