"""EM with every number of states of a range, each from the best start that was found for it."""

import math
import os
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from rhmm.exceptions import ConvergenceWarning, DegenerateWarning
from rhmm.learners.em_steps import Monitor, run_em
from rhmm.manifolds import Manifold
from rhmm.parameters import Parameters, free_parameters, sigmas_from_delta
from rhmm.search import path_of_sizes, sample_for

CRITERIA = ("bic", "aic")
_TOL, _N_ITER = 0.1, 100
"""Nats that end EM, since differences between criteria are larger; and its most iterations."""


def fit_sizes(
    manifold: Manifold,
    X: np.ndarray,
    observed: np.ndarray,
    lengths: np.ndarray,
    sizes: list[int],
    rng: np.random.Generator,
    *,
    min_sigma: float,
    patience: int | None = None,
    callback: Callable[[int, int], None] | None = None,
) -> dict[int, Monitor]:
    """A fit to X (T, *point_shape) with each number of states in `sizes`, which rise.

    With `patience` the largest sizes are left out if so many in a row are no better on a sample.
    `callback` is called with how many fits are done, and of how many; before that with 0 after each
    number of states for which a start was searched.
    """
    least_delta = float(manifold.delta(min_sigma))
    sample = sample_for(manifold, X, observed, lengths, least_delta, sizes[-1])
    searched = None if callback is None else partial(callback, 0, len(sizes))
    path = path_of_sizes(sample, sizes[-1], rng, patience, searched)
    sizes = [n for n in sizes if n in path]

    def fit(n: int) -> Monitor:
        sigmas = sigmas_from_delta(manifold, path[n].delta, min_sigma)
        start = Parameters(np.full(n, 1.0 / n), path[n].transmat, path[n].means, sigmas)
        return run_em(
            manifold, X, observed, lengths, start,
            n_iter=_N_ITER, tol=_TOL, min_sigma=min_sigma, callback=None,
        )  # fmt: skip

    found = {}
    with warnings.catch_warnings(), ThreadPoolExecutor(os.cpu_count()) as pool:
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DegenerateWarning)
        for n, monitor in zip(sizes, pool.map(fit, sizes), strict=True):
            found[n] = monitor
            if callback is not None:
                callback(len(found), len(sizes))
    return found


def criterion_values(
    criterion: str, log_likelihood: np.ndarray, sizes: np.ndarray, dim: int, count: int
) -> np.ndarray:
    """BIC or AIC of models of these sizes that were fitted to `count` observations."""
    price = math.log(count) if criterion == "bic" else 2.0
    free = np.array([free_parameters(n, dim) for n in sizes])
    return -2.0 * log_likelihood + price * free
