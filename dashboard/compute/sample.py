"""The data of an experiment, few enough to draw while the visitor edits the truth."""

import numpy as np

from dashboard.compute.shared_cache import SharedCache
from dashboard.model.experiment import Experiment

MOST_POINTS = 3_000
"""Of longer chains every second, third, … point is drawn."""

_samples = SharedCache(32)


def sample_to_draw(experiment: Experiment) -> tuple[np.ndarray, np.ndarray]:
    """Points (M, …) and true states (M,) of the data that all pages show, M ≤ `MOST_POINTS`."""
    return _samples.get(experiment.source, lambda: _drawn(experiment))


def _drawn(experiment: Experiment) -> tuple[np.ndarray, np.ndarray]:
    points, states, _ = experiment.source.observe()
    stride = -(-len(points) // MOST_POINTS)
    return points[::stride].astype(np.float32), states[::stride].astype(np.int8)
