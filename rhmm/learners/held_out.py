"""How well models of every size predict observations that they have not seen.

A third of the observations is held out at a time, in blocks all over the data. While a model is
learned they are missing, as any observation may be; so sequences stay whole, and time goes on. Then

    log p(held out | all others) = log p(X) − log p(all others)

under that model, which knows what came before a block and after it. Each observation is held out
once; the sum over the three parts is that of the data.
"""

from collections.abc import Callable

import numpy as np

from rhmm.learners.baum_welch import expected
from rhmm.learners.em_sizes import fit_sizes
from rhmm.learners.tangent_start import Emission
from rhmm.manifolds import Manifold
from rhmm.search.sample import BLOCK

PARTS = 3


def parts(length: int) -> list[np.ndarray]:
    """Which of so many observations are held out together: masks (length,), one for each part.

    Blocks are so short that each part has at least eight, if there are so many observations.
    """
    block = min(BLOCK, max(length // (8 * PARTS), 1))
    part = np.arange(length) // block % PARTS
    return [part == number for number in range(PARTS)]


def held_out_density(
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
    callback: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """log p of all observations, each held out once, under models of these sizes; shape (K,).

    Arguments are those of `fit_sizes`, which learns the models.
    """
    total, points = np.zeros(len(sizes)), X[observed]
    for held in parts(len(X)):
        seen = observed & ~held
        if seen.sum() < sizes[-1]:
            raise ValueError(
                f"X must hold at least {sizes[-1]} observations besides those that are held out"
            )
        found = fit_sizes(
            manifold, X, seen, lengths, sizes, rng,
            emission=emission, tried=tried, min_sigma=min_sigma, callback=callback,
        )  # fmt: skip
        for k, (monitor, reached) in enumerate(found.values()):
            whole = expected(reached, reached.law.view(points), observed, lengths)
            total[k] += whole.log_likelihood - monitor.log_likelihood[-1]
    return total
