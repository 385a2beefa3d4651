"""What is measured of finished runs for a page: confusions, posteriors, clouds of estimates."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dashboard.compute.runs import ExperimentRun
from dashboard.compute.shared_cache import SharedCache
from dashboard.model.experiment import Experiment
from dashboard.model.methods import KMEANS, learner_of
from dashboard.model.space import DISK
from rhmm import Run

_posteriors = SharedCache(12)


def confusion(true_states: NDArray, states: NDArray, n_states: int) -> NDArray[np.integer]:
    """How often each true state (row) is given each label (column), shape (N, N)."""
    cells = n_states * np.asarray(true_states, np.int64) + states
    return np.bincount(cells, minlength=n_states**2).reshape(n_states, n_states)


def posteriors(run: ExperimentRun) -> dict[str, NDArray[np.float32]]:
    """P(s_t = i | all y), shape (T, N), of each method but K-means, which has only labels."""

    def posterior(method) -> NDArray[np.float32]:
        return _posteriors.get(
            (run.experiment, method.name),
            lambda: method.model.predict_proba(run.points).astype(np.float32),
        )

    return {method.name: posterior(method) for method in run.methods if method.name != KMEANS}


class Cloud(NamedTuple):
    """The estimates of one method over the seeds."""

    title: str
    means: np.ndarray
    """Shape (R, N, 2)."""
    distances: np.ndarray
    """d(c_i, ĉ_i), shape (R, N)."""


def clouds(experiment: Experiment, runs: Iterable[Run]) -> list[Cloud]:
    """Of the paper's algorithm at Δ = 100 and 200, and of EM: what the paper's figure shows."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        c = run.configuration
        if c.method == "em" or (learner_of(c) == "paper" and c.window in (100, 200)):
            title = "EM" if c.method == "em" else f"Windowed, Δ = {c.window}"
            groups.setdefault(title, []).append(run)
    truth = np.array(experiment.means)
    out = []
    for title in sorted(groups, key=lambda t: (t == "EM", t)):
        means = np.array([run.means for run in groups[title]])
        targets = np.broadcast_to(truth, means.shape)
        distances = DISK.dist(targets.reshape(-1, 2), means.reshape(-1, 2))
        out.append(Cloud(title, means, distances.reshape(means.shape[:2])))
    return out
