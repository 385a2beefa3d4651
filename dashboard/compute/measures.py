"""What is measured of finished runs for a page: confusions, posteriors, clouds of estimates."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dashboard.compute.runs import ExperimentRun
from dashboard.compute.shared_cache import SharedCache, shared
from dashboard.model.experiment import Experiment
from dashboard.model.methods import EM, WINDOWED, has_posterior, method_name
from dashboard.model.spaces.registry import SPACES
from rhmm import Run

_posteriors = SharedCache(12)


def confusion(true_states: NDArray, states: NDArray, n_states: int) -> NDArray[np.integer]:
    """How often each true state (row) is given each label (column), shape (N, N)."""
    cells = n_states * np.asarray(true_states, np.int64) + states
    return np.bincount(cells, minlength=n_states**2).reshape(n_states, n_states)


def posteriors(run: ExperimentRun) -> dict[str, NDArray[np.float32]]:
    """P(s_t = i | all y), shape (T, N), of each method that has one, by its key."""

    def posterior(method) -> NDArray[np.float32]:
        return _posteriors.get(
            (run.experiment, method.key),
            lambda: method.model.predict_proba(run.points).astype(np.float32),
        )

    return {method.key: posterior(method) for method in run.methods if has_posterior(method.key)}


class Cloud(NamedTuple):
    """The estimates of one method over the seeds."""

    title: str
    means: np.ndarray
    """Shape (R, N, *point_shape)."""
    distances: np.ndarray
    """d(c_i, ĉ_i), shape (R, N)."""


@shared(16)
def clouds(experiment: Experiment, runs: Iterable[Run]) -> list[Cloud]:
    """Of the paper's algorithm at Δ = 100 and 200, and of EM: what the paper's figure shows."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        way = run.configuration
        printed = way.settings.get("transition_update") == "paper" and way.window in (100, 200)
        if way.learner == EM:
            groups.setdefault(method_name(EM), []).append(run)
        elif way.learner == WINDOWED and printed:
            groups.setdefault(f"Windowed, Δ = {way.window}", []).append(run)
    space = SPACES[experiment.space]
    shape, truth = space.manifold.point_shape, space.points(experiment.means)
    out = []
    for title in sorted(groups, key=lambda t: (t == method_name(EM), t)):
        means = np.array([run.means for run in groups[title]])
        targets = np.broadcast_to(truth, means.shape)
        distances = space.manifold.dist(targets.reshape(-1, *shape), means.reshape(-1, *shape))
        out.append(Cloud(title, means, distances.reshape(means.shape[:2])))
    return out
