"""Where a search begins: seeds among the points, judged after one iteration of EM."""

import numpy as np

from rhmm.search.appraising import Appraisal
from rhmm.search.exploring import Effort, Fit, seeded
from rhmm.search.sample import Sample


def best_start(
    sample: Sample, n: int, rng: np.random.Generator, *, tried: int, kept: int, steps: int
) -> tuple[Fit, Appraisal]:
    """The likeliest of `tried` starts with n states, and what moves of it promise.

    Those `kept` that are the likeliest after one iteration of EM have so many more.
    """
    return seeded(sample, n, rng, tried, Effort(kept, steps))


def seeds(sample: Sample, n: int, rng: np.random.Generator) -> Fit:
    """A bare start: it has points for means, one δ, and a chain that goes anywhere."""
    return seeded(sample, n, rng, 1, Effort(1, 0), cold=True)[0]
