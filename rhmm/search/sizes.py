"""How many states: models of every size for a sample, and the way from one size to the next.

The likelihood always grows with the number of states N, and EM may be lost at any of them. So a
model of one size is started from its neighbours as well: by a split of the model with one state
less, and by a merge of the model with one more.
"""

import numpy as np

from rhmm.search.climbing import Fit, climbed
from rhmm.search.moves import Appraisal, appraise, fitted, improved, merged, split
from rhmm.search.sample import Sample
from rhmm.search.starts import starts

_TRIED, _KEPT, _STEPS = 16, 4, 15
"""Starts of each search, how many of them go on, and their EM iterations."""
_NEIGHBOURS = 3
"""Splits and merges of a neighbour that are tried."""
_MOVES = 4
"""Moves that are tried on the best start of each size."""
_FIRST_LOOK, _SECOND_LOOKS = 4, 2
"""EM iterations after which the best of several splits or merges are chosen, and how many."""
_LEAST_GAIN = 2.0
"""Nats that another number of states must be worth to be chosen."""
_HOPELESS = 20.0
"""A merge does not go on if it loses so many nats more than it saves: by its appraisal twice what
it saves, or at the first look."""
_HOPE = 0.25
"""Nats for each parameter that a split must have gained at the first look to go on."""


def n_parameters(n: int, dim: int) -> int:
    """Free parameters of A, c and σ with n states on a manifold of this dimension."""
    return n * (n - 1) + n * dim + n


def path_of_sizes(sample: Sample, most: int, rng: np.random.Generator) -> dict[int, Fit]:
    """The best fit to the sample of every size up to `most`."""
    found: dict[int, Fit] = {}
    for n in range(1, most + 1):
        begun = starts(sample, n, rng, tried=_TRIED, kept=_KEPT, steps=_STEPS)[:1]
        if n > 1:
            appraisal = appraise(sample, found[n - 1], rng)
            begun += _splits(sample, found[n - 1], appraisal, _NEIGHBOURS, _STEPS)
        best = max(begun, key=_likelihood)
        found[n] = improved(sample, best, rng, tried=_MOVES, steps=_STEPS)
    for n in range(most - 1, 0, -1):
        appraisal = appraise(sample, found[n + 1], rng)
        begun = _merges(sample, found[n + 1], appraisal, np.inf, _STEPS)
        found[n] = max([found[n], *begun], key=_likelihood)
    return found


def resized(sample: Sample, fit: Fit, rng: np.random.Generator, most: int, price: float) -> Fit:
    """The fit after splits and merges, one after another as long as one pays.

    A free parameter must be worth `price` nats. There are never more than `most` states.
    """
    dim = sample.manifold.dim

    def value(fit: Fit) -> float:
        return fit.log_likelihood - price * n_parameters(len(fit.delta), dim)

    while True:
        n, appraisal = len(fit.delta), appraise(sample, fit, rng)
        found = []
        if n < most:
            more = n_parameters(n + 1, dim) - n_parameters(n, dim)
            begun = _splits(sample, fit, appraisal, n, _FIRST_LOOK)
            found += _further(sample, begun, fit.log_likelihood + _HOPE * more)
        if n > 1:
            saved = price * (n_parameters(n, dim) - n_parameters(n - 1, dim))
            begun = _merges(sample, fit, appraisal, 2.0 * saved + _HOPELESS, _FIRST_LOOK)
            found += _further(sample, begun, fit.log_likelihood - saved - _HOPELESS)
        best = max(found, key=value, default=fit)
        if value(best) < value(fit) + _LEAST_GAIN:
            return fit
        fit = best


def _further(sample: Sample, found: list[Fit], least: float) -> list[Fit]:
    """The best of several fits whose likelihood is not below the least, after more EM."""
    best = sorted(found, key=_likelihood)[-_SECOND_LOOKS:]
    return [
        climbed(sample, f.transmat, f.means, f.delta, f.prior, _STEPS)
        for f in best
        if f.log_likelihood >= least
    ]


def _splits(sample: Sample, fit: Fit, appraisal: Appraisal, count: int, steps: int) -> list[Fit]:
    """So many of the splits that promise the most."""
    states = np.argsort(-appraisal.gain, kind="stable")[:count]
    return [
        fitted(
            sample, *split(sample, fit.gamma, fit.means, k, appraisal.seeds[k]), fit.prior, steps
        )
        for k in states
        if appraisal.gain[k] > -np.inf
    ]


def _merges(sample: Sample, fit: Fit, appraisal: Appraisal, limit: float, steps: int) -> list[Fit]:
    """The merges that lose the least, each less than the limit by its appraisal."""
    loss = np.where(np.tri(len(fit.delta), dtype=bool), np.inf, appraisal.loss)
    found = []
    for pair in np.argsort(loss, axis=None)[:_NEIGHBOURS]:
        first, second = divmod(int(pair), len(loss))
        if first < second and loss[first, second] < limit:
            gamma, means = merged(fit.gamma, fit.means, first, second)
            found.append(fitted(sample, gamma, means, fit.prior, steps))
    return found


def _likelihood(fit: Fit) -> float:
    return fit.log_likelihood
