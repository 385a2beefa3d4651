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
from rhmm.learners.learner import Path

_posteriors = SharedCache(12)


_STRETCH = 0.1
"""The share of a recording over which a predictive density is averaged."""


def confusion(true_states: NDArray, states: NDArray, n_states: int) -> NDArray[np.integer]:
    """How often each true state (row) is given each label (column), shape (N, N)."""
    cells = n_states * np.asarray(true_states, np.int64) + states
    return np.bincount(cells, minlength=n_states**2).reshape(n_states, n_states)


def predictive_densities(path: Path, length: int) -> NDArray[np.floating]:
    """log p(y_k | those before it) of an online learner at each row of its path, shape (R,).

    It is the mean over the last tenth of the recording, as far as the path goes back.
    """
    step, total = path.step, path.log_likelihood
    back = np.searchsorted(step, step - _STRETCH * length)
    back = np.minimum(back, np.maximum(np.arange(len(step)) - 1, 0))
    with np.errstate(invalid="ignore"):
        slopes = (total - total[back]) / (step - step[back])
    return np.append(slopes[1:2] if len(step) > 1 else 0.0, slopes[1:])


def posteriors(run: ExperimentRun) -> dict[str, NDArray[np.float32]]:
    """P(s_t = i | all y), shape (T, N), of each method that has one, by its key."""

    def posterior(method) -> NDArray[np.float32]:
        return _posteriors.get(
            (run.experiment.digest, method.key),
            lambda: method.model.predict_proba(run.points, lengths=run.lengths).astype(np.float32),
            beside=run.experiment.own,
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
