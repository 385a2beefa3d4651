"""Where a search begins: seeds among the points, judged after one iteration of EM."""

import numpy as np

from rhmm.parameters import median
from rhmm.search.appraising import Appraisal
from rhmm.search.exploring import Effort, Fit, seeded
from rhmm.search.sample import Sample

_LOOKS, _FAR, _MOST_FAR = 9, 25.0, 0.03
"""Points from which the d² of all others are compared, an odd number; how many times the usual one
is far, and the share of the points that can be."""


def best_start(
    sample: Sample, n: int, rng: np.random.Generator, *, tried: int, kept: int, steps: int
) -> tuple[Fit, Appraisal]:
    """The likeliest of `tried` starts with n states, and what moves of it promise.

    Those `kept` that are the likeliest after one iteration of EM have so many more.
    """
    return seeded(sample, _without_far_points(sample), n, rng, Effort(tried, kept, steps))


def seeds(sample: Sample, n: int, rng: np.random.Generator) -> Fit:
    """A bare start: it has points for means, one δ, and a chain that goes anywhere."""
    effort = Effort(1, 1, 0, is_cold=True)
    return seeded(sample, _without_far_points(sample), n, rng, effort)[0]


def _without_far_points(sample: Sample) -> np.ndarray:
    """The points but for outliers, of which every seeding would take as many as it can."""
    points = sample.points
    looks = np.linspace(0, len(points) - 1, _LOOKS).astype(int)
    d2 = sample.manifold.squared_distances(points, points[looks])
    away = np.sort(d2, axis=0)[_LOOKS // 2]
    most = int(_MOST_FAR * len(points))
    furthest = np.partition(away, len(points) - 1 - most)[len(points) - 1 - most]
    near = away <= max(furthest, _FAR * median(away))
    return points if near.all() else points[near]
