"""Splits and merges: how a fit that sits in a wrong optimum gets out of it.

A fit that is stuck has, as a rule, one state that explains two clusters and two states that share
one. A move splits the first and merges the others; EM then shows whether that was better. A split
or a merge alone leads from a model of N states to one of N + 1 or N − 1.
"""

import numpy as np

from rhmm.search.appraising import Appraisal, Move
from rhmm.search.exploring import Fit, appraised, climbed, fitted
from rhmm.search.sample import Sample

_LEAST_GAIN = 2.0
"""Nats that a move must gain to be made."""
_FIRST_LOOK, _SECOND_LOOKS = 8, 2
"""EM iterations after which the best of several moves are chosen, and how many of them."""


def appraise(sample: Sample, fit: Fit, rng: np.random.Generator) -> Appraisal:
    """Look at every split and every merge of a fit."""
    return appraised(sample, fit.transmat, fit.means, fit.delta, fit.prior, rng)[1]


def improved(
    sample: Sample,
    fit: Fit,
    rng: np.random.Generator,
    *,
    tried: int,
    steps: int,
    appraisal: Appraisal | None = None,
) -> Fit:
    """The fit after moves that keep N, one after another as long as one is found that gains.

    `appraisal` is that of the fit, if it is known.
    """
    while True:
        appraisal = appraise(sample, fit, rng) if appraisal is None else appraisal
        found = [moved(sample, fit, move, _FIRST_LOOK) for move in appraisal.moves(tried)]
        found = sorted(found, key=_likelihood)[-_SECOND_LOOKS:]
        found = [climbed(sample, f.transmat, f.means, f.delta, f.prior, steps) for f in found]
        best = max(found, key=_likelihood, default=fit)
        # Not `<`: NaN and −∞, of points that are none, must end the search, too.
        if not best.log_likelihood > fit.log_likelihood + _LEAST_GAIN:
            return fit
        fit, appraisal = best, None


def _likelihood(fit: Fit) -> float:
    return fit.log_likelihood


def moved(sample: Sample, fit: Fit, move: Move, steps: int) -> Fit:
    """The fit after a move and so many iterations of EM."""
    gamma, means = split(sample, fit.gamma, fit.means, move.state, move.seeds)
    gamma, means = merged(gamma, means, move.first, move.second)
    return fitted(sample, gamma, means, fit.prior, steps)


def split(sample: Sample, gamma, means, state: int, seeds) -> tuple[np.ndarray, np.ndarray]:
    """Weights (T, N + 1) and rough means after a state was split: the new state comes last."""
    points = sample.points[seeds]
    d2 = sample.manifold.squared_distances(sample.points, points)
    kept = gamma[:, state] * (d2[0] <= d2[1])
    gamma = np.column_stack([gamma, gamma[:, state] - kept])
    gamma[:, state] = kept
    means = np.concatenate([means, points[1:]])
    means[state] = points[0]
    return gamma, means


def merged(gamma, means, first: int, second: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights (T, N − 1) and rough means after the second state was merged into the first."""
    means = means.copy()
    if gamma[:, second].sum() > gamma[:, first].sum():
        means[first] = means[second]
    together = gamma.copy()
    together[:, first] += gamma[:, second]
    return np.delete(together, second, axis=1), np.delete(means, second, axis=0)
