"""How many states? Models of every size from a range, and the one that a criterion prefers.

The likelihood always grows with the number of states N, and EM may be lost at any of them. So each
model begins with the best of three: a search of its own, a split of the model with one state less,
and a merge of the model with one more. A criterion then weighs the likelihood against N.
"""

import math
import os
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from rhmm.exceptions import ConvergenceWarning, DegenerateWarning
from rhmm.learners.em import RiemannianHMM
from rhmm.manifolds import Manifold, check_manifold
from rhmm.parameters import floor_of_sigma, sigmas_from_delta
from rhmm.search import Fit, Sample, appraise, improved, sample_for, starts
from rhmm.search.moves import fitted, merged, split
from rhmm.validation import (
    as_generator,
    check_callback,
    check_choice,
    check_integer,
    check_lengths,
)

CRITERIA = ("bic", "aic")
_TRIED, _KEPT, _STEPS = 16, 4, 15
"""Starts of each search, how many of them go on, and their EM iterations."""
_NEIGHBOURS = 3
"""Splits and merges of a neighbour that are tried."""
_MOVES = 4
"""Moves that are tried on the best start of each size."""
_TOL = 0.1
"""Nats that end EM: differences between criteria are larger."""


@dataclass(frozen=True, eq=False)
class Selection:
    """A model of each number of states, and what the criterion says of them."""

    criterion: str
    models: tuple[RiemannianHMM, ...]
    """By their number of states, fewest first."""
    log_likelihood: np.ndarray
    """log p(X) of each, shape (K,)."""
    values: np.ndarray
    """The criterion of each, shape (K,): less is better."""

    @property
    def n_components(self) -> np.ndarray:
        """The numbers of states that were tried, shape (K,)."""
        return np.array([model.n_components for model in self.models])

    @property
    def best(self) -> RiemannianHMM:
        """The model that the criterion prefers."""
        return self.models[int(np.argmin(self.values))]

    def explanation(self) -> str:
        """Why this number of states, in a sentence or two."""
        chosen = int(np.argmin(self.values))
        n = self.n_components
        name = self.criterion.upper()
        text = f"{name} is least with {_states(n[chosen])}"
        others = np.delete(np.arange(len(n)), chosen)
        if not len(others):
            return text + ", the only number that was tried."
        second = others[np.argmin(self.values[others])]
        text += f", and larger by {self.values[second] - self.values[chosen]:.1f} with {n[second]}."
        if chosen in (0, len(n) - 1):
            end = "fewest" if chosen == 0 else "most"
            text += f" That is the {end} that were tried: the best may lie beyond."
        return text


def select_n_components(
    manifold: Manifold,
    X,
    n_components: Iterable[int] = range(1, 9),
    *,
    criterion: str = "bic",
    lengths=None,
    min_sigma: float | None = None,
    random_state=None,
    callback: Callable[[int, int], None] | None = None,
) -> Selection:
    """Fit a model of each number of states to X (T, *point_shape), and choose by the criterion.

    ``"bic"`` finds the number of states behind data that have one; ``"aic"`` prefers what predicts
    best, which is often more. `callback` is called with how many models are done, and of how many;
    before that with 0 after each number of states, up to the most, for which a start was searched.
    """
    check_manifold(manifold)
    check_choice("criterion", criterion, CRITERIA)
    check_callback(callback)
    sizes = _sizes(n_components)
    X, observed = manifold.observations("X", X)
    lengths = check_lengths(lengths, len(X))
    if observed.sum() < sizes[-1]:
        raise ValueError(
            f"X must hold at least {sizes[-1]} observations, as many as states are tried"
        )
    rng = as_generator("random_state", random_state)
    manifold.check_min_sigma(min_sigma)
    floor = floor_of_sigma(manifold, X[observed], min_sigma)
    sample = sample_for(manifold, X, observed, lengths, float(manifold.delta(floor)), sizes[-1])
    searched = None if callback is None else partial(callback, 0, len(sizes))
    path = _path(sample, sizes[-1], rng, searched)

    def model_of(n: int) -> tuple[RiemannianHMM, float]:
        fit = path[n]
        start = RiemannianHMM.from_parameters(
            manifold, np.full(n, 1.0 / n), fit.transmat, fit.means,
            sigmas_from_delta(manifold, fit.delta, floor),
        )  # fmt: skip
        model = RiemannianHMM(manifold, n, init=start, tol=_TOL, min_sigma=floor)
        model.fit(X, lengths=lengths)
        return model, model.monitor_.log_likelihood[-1]

    models, likelihoods = [], []
    with warnings.catch_warnings(), ThreadPoolExecutor(os.cpu_count()) as pool:
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DegenerateWarning)
        for done, (model, likelihood) in enumerate(pool.map(model_of, sizes), start=1):
            models.append(model)
            likelihoods.append(likelihood)
            if callback is not None:
                callback(done, len(sizes))
    log_likelihood = np.array(likelihoods)
    free = np.array([model.n_parameters for model in models])
    penalty = math.log(observed.sum()) if criterion == "bic" else 2.0
    values = -2.0 * log_likelihood + penalty * free
    return Selection(criterion, tuple(models), log_likelihood, values)


def _path(
    sample: Sample, most: int, rng: np.random.Generator, searched: Callable[[], None] | None
) -> dict[int, Fit]:
    """The best fit to the sample of every size up to `most`; `searched` is called for each."""
    path: dict[int, Fit] = {}
    for n in range(1, most + 1):
        found = starts(sample, n, rng, tried=_TRIED, kept=_KEPT, steps=_STEPS)[:1]
        if n > 1:
            found += _splits(sample, path[n - 1], rng)
        best = max(found, key=_likelihood)
        path[n] = improved(sample, best, rng, tried=_MOVES, steps=_STEPS)
        if searched is not None:
            searched()
    for n in range(most - 1, 0, -1):
        path[n] = max([path[n], *_merges(sample, path[n + 1], rng)], key=_likelihood)
    return path


def _splits(sample: Sample, fit: Fit, rng: np.random.Generator) -> list[Fit]:
    appraisal = appraise(sample, fit, rng)
    states = np.argsort(-appraisal.gain, kind="stable")[:_NEIGHBOURS]
    return [
        fitted(
            sample, *split(sample, fit.gamma, fit.means, k, appraisal.seeds[k]), fit.prior, _STEPS
        )
        for k in states
        if appraisal.gain[k] > -np.inf
    ]


def _merges(sample: Sample, fit: Fit, rng: np.random.Generator) -> list[Fit]:
    loss = appraise(sample, fit, rng).loss
    pairs = np.argsort(np.where(np.tri(len(loss), dtype=bool), np.inf, loss), axis=None)
    found = []
    for pair in pairs[:_NEIGHBOURS]:
        first, second = divmod(int(pair), len(loss))
        if first < second:
            gamma, means = merged(fit.gamma, fit.means, first, second)
            found.append(fitted(sample, gamma, means, fit.prior, _STEPS))
    return found


def _likelihood(fit: Fit) -> float:
    return fit.log_likelihood


def _sizes(n_components: Iterable[int]) -> list[int]:
    try:
        sizes = sorted({check_integer("n_components", n, at_least=1) for n in n_components})
    except (TypeError, ValueError):
        sizes = []
    if not sizes:
        raise ValueError(
            f"n_components must be whole numbers from 1 on, as range(1, 9), not {n_components!r}"
        )
    return sizes


def _states(n: int) -> str:
    return "1 state" if n == 1 else f"{n} states"
