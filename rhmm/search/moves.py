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
    weights, means = split(sample, fit.gamma.T, fit.means, move.state, move.seeds)
    weights, means = merged(weights, means, move.first, move.second)
    return fitted(sample, weights, means, fit.prior, steps)


def split(sample: Sample, weights, means, state: int, seeds) -> tuple[np.ndarray, np.ndarray]:
    """Weights (N + 1, T) and rough means after a state was split: the new state comes last."""
    points = sample.points[seeds]
    d2 = sample.manifold.squared_distances(sample.points, points)
    is_first, of_both = d2[0] <= d2[1], weights[state]
    parted = np.empty((len(weights) + 1, len(of_both)))
    parted[:-1] = weights
    np.multiply(of_both, is_first, out=parted[state])
    np.subtract(of_both, parted[state], out=parted[-1])
    means = np.concatenate([means, points[1:]])
    means[state] = points[0]
    return parted, means


def merged(weights, means, first: int, second: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights (N − 1, T) and rough means after the second state was merged into the first."""
    together, means = weights.copy(), means.copy()
    if weights[second].sum() > weights[first].sum():
        means[first] = means[second]
    together[first] += weights[second]
    left = np.arange(len(means)) != second
    return together[left], means[left]
