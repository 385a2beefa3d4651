"""Labels of a recording: how states agree with them, and what a model reaches that knows them."""

from typing import NamedTuple

import numpy as np

from rhmm import RiemannianHMM
from rhmm.parameters import floor_of_sigma, sigmas_from_delta
from rhmm.recording import Recording
from rhmm.scoring import accuracy, match_states

_LESSONS = 5
"""Steps of EM with labels: if there are no others, the first is the last."""


class Agreement(NamedTuple):
    """How the states agree with the labels, each label matched with the state it fits best."""

    accuracy: float
    marks: np.ndarray
    """The state that each label is matched with, shape (labels,). Where there are more labels than
    states, those left over have numbers that no state has."""

    def label_of(self, state: int) -> int | None:
        """The label that is matched with this state, if one is."""
        found = np.flatnonzero(self.marks == state)
        return int(found[0]) if len(found) else None


def agreement(recording: Recording, states: np.ndarray, n_states: int) -> Agreement | None:
    """How states (T,) agree with the labels, if there are any."""
    if recording.labels is None:
        return None
    known = recording.labels >= 0
    labels, found = recording.labels[known], states[known]
    n_labels = len(recording.label_names)
    n = max(n_states, n_labels)
    marks = match_states(labels, found, n)[:n_labels]
    return Agreement(accuracy(labels, found, n), marks)


def taught(few: Recording, recording: Recording, emission: str) -> float | None:
    """The share of a recording's labels that a model tells right which was taught those of a part
    of it; None without labels."""
    if few.labels is None or recording.labels is None:
        return None
    manifold, observed = few.manifold, few.observed
    present = np.unique(few.labels[observed & (few.labels >= 0)])
    n = len(present)
    if n == 0:
        return None
    means = np.stack([manifold.mean(few.points[observed & (few.labels == k)]) for k in present])
    delta = manifold.squared_distances(few.points[observed], means).min(axis=0).mean()
    floor = floor_of_sigma(manifold, few.points[observed], None)
    sigmas = sigmas_from_delta(manifold, np.full(n, delta), floor)
    even = np.full(n, 1.0 / n)
    start = RiemannianHMM.from_parameters(manifold, even, np.tile(even, (n, 1)), means, sigmas)
    model = RiemannianHMM(manifold, n, emission=emission, init=start, n_iter=_LESSONS)
    states = np.searchsorted(present, few.labels)
    states[~np.isin(few.labels, present)] = -1
    model.fit(few.points, lengths=few.lengths, labels=states)
    told = present[model.predict(recording.points, lengths=recording.lengths)]
    known = recording.labels >= 0
    return float((told == recording.labels)[known].mean())
