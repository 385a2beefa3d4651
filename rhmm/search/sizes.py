"""How many states: models of every size for a sample, and the way from one size to the next.

The likelihood always grows with the number of states N, and EM may be lost at any of them. So a
model of one size is started from its neighbours as well: by a split of the model with one state
less, and by a merge of the model with one more.
"""

from collections.abc import Callable

import numpy as np

from rhmm.search.appraising import Appraisal
from rhmm.search.exploring import Effort, Fit, moved
from rhmm.search.moves import appraise, improved
from rhmm.search.sample import Sample
from rhmm.search.starts import best_start

_TRIED, _KEPT, _STEPS = 16, 4, 15
"""Starts of each search, how many of them go on, and their EM iterations."""
_NEIGHBOURS = 3
"""Splits and merges of a neighbour that are tried."""
_MOVES = 4
"""Moves that are tried on the best start of each size."""
_TO_NEIGHBOURS = Effort(kept=1, steps=0, first_steps=_STEPS)
"""All splits or merges on the way from one size to the next go as far."""
_RESIZING = Effort(kept=1, steps=_STEPS, first_steps=3)
"""Those that may change the size of a fit are chosen from early."""
_LEAST_GAIN = 2.0
"""Nats that another number of states must be worth to be chosen."""
_HOPELESS = 20.0
"""A merge is not tried if its appraisal loses twice what it saves, and so many nats more."""
_FIRST_HOPE, _HOPE = 0.2, 0.4
"""Nats for each parameter that a split must have gained after one iteration, and at the first look,
to go on."""


def n_parameters(n: int, dim: int) -> int:
    """Free parameters of A, c and σ with n states on a manifold of this dimension."""
    return n * (n - 1) + n * (dim + 1)  # a search begins each sequence with a flat law


def path_of_sizes(
    sample: Sample,
    most: int,
    rng: np.random.Generator,
    patience: int | None = None,
    searched: Callable[[], None] | None = None,
) -> dict[int, Fit]:
    """The best fit to the sample of every size up to `most`; `searched` is called after each.

    With `patience` it ends before that, once so many sizes in a row were no better by BIC.
    """
    found: dict[int, Fit] = {}
    begun: list[Fit | None]
    bic: list[float] = []
    for n in range(1, most + 1):
        begun = [best_start(sample, n, rng, tried=_TRIED, kept=_KEPT, steps=_STEPS)[0]]
        if n > 1:
            appraisal = appraise(sample, found[n - 1], rng)
            begun.append(moved(sample, found[n - 1], appraisal.splits(_NEIGHBOURS), _TO_NEIGHBOURS))
        best = _likeliest(begun)
        found[n] = improved(sample, best, rng, tried=_MOVES, steps=_STEPS)
        penalty = 0.5 * np.log(len(sample.points)) * n_parameters(n, sample.manifold.dim)
        bic.append(penalty - found[n].log_likelihood)
        if searched is not None:
            searched()
        if patience is not None and n - 1 - int(np.argmin(bic)) >= patience:
            break
    for n in range(len(found) - 1, 0, -1):
        appraisal = appraise(sample, found[n + 1], rng)
        merges = appraisal.merges(_NEIGHBOURS, np.inf)
        found[n] = _likeliest([found[n], moved(sample, found[n + 1], merges, _TO_NEIGHBOURS)])
    return found


def evidence(sample: Sample, fit: Fit) -> float:
    """log p of the sample if each sequence begins in a state as often as that is visited.

    EM on a sample lets all sequences begin in any state alike. In a sample of many short ones a
    state that is visited often would then better be counted twice.
    """
    begins = np.concatenate([[0], sample.ends[:-1]])
    visits = fit.visits
    law = len(visits) * visits / visits.sum()
    return fit.log_likelihood + float(np.log(fit.gamma[begins] @ law).sum())


def resized(
    sample: Sample,
    fit: Fit,
    rng: np.random.Generator,
    most: int,
    price: float,
    appraisal: Appraisal | None = None,
) -> Fit:
    """The fit after splits and merges, one after another as long as one pays.

    A free parameter must be worth `price` nats. There are never more than `most` states.
    `appraisal` is that of the fit, if it is known.
    """
    dim = sample.manifold.dim

    def value(fit: Fit) -> float:
        return evidence(sample, fit) - price * n_parameters(len(fit.delta), dim)

    while True:
        n, begun = len(fit.delta), []
        appraisal = appraise(sample, fit, rng) if appraisal is None else appraisal
        if n < most:
            more = n_parameters(n + 1, dim) - n_parameters(n, dim)
            first, then = (fit.log_likelihood + hope * more for hope in (_FIRST_HOPE, _HOPE))
            effort = _RESIZING._replace(hope=first, least=then)
            begun.append(moved(sample, fit, appraisal.splits(n), effort))
        if n > 1:  # EM has far to go after a merge
            saved = price * (n_parameters(n, dim) - n_parameters(n - 1, dim))
            merges = appraisal.merges(_NEIGHBOURS, 2.0 * saved + _HOPELESS)
            begun.append(moved(sample, fit, merges, _RESIZING))
        best = max((found for found in begun if found is not None), key=value, default=fit)
        # Not `<`: NaN and −∞, of points that are none, must end the search, too.
        if not value(best) > value(fit) + _LEAST_GAIN:
            return fit
        fit, appraisal = best, None


def _likeliest(found: list[Fit | None]) -> Fit:
    return max((fit for fit in found if fit is not None), key=lambda fit: fit.log_likelihood)
