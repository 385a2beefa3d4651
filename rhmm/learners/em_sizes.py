"""EM with every number of states of a range, each from the best start that was found for it."""

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from rhmm.emissions import RiemannianGaussians
from rhmm.learners.baum_welch import Iterate, Monitor, climb
from rhmm.learners.tangent_start import Emission, start_with
from rhmm.manifolds import Manifold
from rhmm.parameters import sigmas_from_delta
from rhmm.search import path_of_sizes, sample_for

PENALISED = ("bic", "aic")
"""Criteria that weigh the likelihood against the number of parameters."""
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
    emission: Emission,
    tried: int,
    min_sigma: float,
    patience: int | None = None,
    callback: Callable[[int, int], None] | None = None,
) -> dict[int, tuple[Monitor, Iterate]]:
    """A fit to X (T, *point_shape) with each number of states in `sizes`, which rise.

    `tried` starts compete where the emission is not the paper's. With `patience` the largest sizes
    are left out if so many in a row are no better on a sample. `callback` is called with how many
    fits are done, and of how many; before that with 0 after each number of states for which a start
    was searched.
    """
    least_delta = float(manifold.delta(min_sigma))
    sample = sample_for(manifold, X, observed, lengths, least_delta, sizes[-1])
    searched = None if callback is None else partial(callback, 0, len(sizes))
    path = path_of_sizes(sample, sizes[-1], rng, patience, searched)
    sizes = [n for n in sizes if n in path]

    seeds = dict(zip(path, rng.integers(2**63, size=len(path)), strict=True))

    def fit(n: int) -> tuple[Monitor, Iterate]:
        sigmas = sigmas_from_delta(manifold, path[n].delta, min_sigma)
        law = RiemannianGaussians(manifold, path[n].means, sigmas)
        start = start_with(
            emission, X, observed, lengths,
            Iterate(np.full(n, 1.0 / n), path[n].transmat, law),
            np.random.default_rng(seeds[n]),  # its own: fits run side by side
            tried=tried, min_sigma=min_sigma,
        )  # fmt: skip
        monitor, reached, _ = climb(
            X, observed, lengths, start, n_iter=_N_ITER, tol=_TOL, min_sigma=min_sigma
        )
        return monitor, reached

    found = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for n, fitted in zip(sizes, pool.map(fit, sizes), strict=True):
            found[n] = fitted
            if callback is not None:
                callback(len(found), len(sizes))
    return found


def criterion_values(
    criterion: str, log_likelihood: np.ndarray, free: np.ndarray, count: int
) -> np.ndarray:
    """BIC or AIC of models with so many free parameters, fitted to `count` observations."""
    price = math.log(count) if criterion == "bic" else 2.0
    return -2.0 * log_likelihood + price * free
