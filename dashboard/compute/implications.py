"""What a true model implies: shares of time, distances of its means, the best possible accuracy."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dashboard.compute.shared_cache import SharedCache
from dashboard.model.experiment import Experiment
from dashboard.model.spaces.registry import SPACES
from rhmm.parameters import closed_classes, stationary_law

SIMULATED = 20_000
"""Observations behind the best possible accuracy."""

_BLOCKS = 20

_ceilings = SharedCache(128)


class Ceiling(NamedTuple):
    """The best possible accuracy, as it was simulated."""

    accuracy: float
    standard_error: float


def time_shares(transmat: Sequence) -> np.ndarray | None:
    """The stationary law; None if where the chain ends up depends on where it starts."""
    matrix = np.array(transmat)
    return stationary_law(matrix) if len(closed_classes(matrix)) == 1 else None


def separations(experiment: Experiment) -> np.ndarray:
    """d(c_i, c_j) divided by the average of σ_i and σ_j, shape (N, N)."""
    space, sigmas = SPACES[experiment.space], np.array(experiment.sigmas)
    means, n = space.points(experiment.means), experiment.n_states
    rows, columns = np.indices((n, n)).reshape(2, -1)
    distances = space.manifold.dist(means[rows], means[columns]).reshape(n, n)
    return distances / (0.5 * (sigmas[:, None] + sigmas))


def ceiling(experiment: Experiment) -> Ceiling:
    """The accuracy of the smoother that knows the truth, with its standard error by blocks.

    Neighbours in time depend on each other; blocks much longer than that hardly do.
    """
    truth = tuple(experiment.truth.values())
    return _ceilings.get(truth, lambda: _simulated(experiment))


def _simulated(experiment: Experiment) -> Ceiling:
    model = experiment.simulated.true_model()
    points, states = model.sample(SIMULATED, random_state=0)
    blocks = (model.predict(points) == states).reshape(_BLOCKS, -1).mean(axis=1)
    return Ceiling(float(blocks.mean()), float(blocks.std(ddof=1) / math.sqrt(_BLOCKS)))
