"""Where EM begins if labels or forbidden transitions say which state is which.

A search finds states in any order. Here they get the names under which they fit what is known.
"""

from itertools import permutations

import numpy as np
from scipy.optimize import linear_sum_assignment, quadratic_assignment

from rhmm.learners.baum_welch import Iterate, climb, expected
from rhmm.learners.constraints import UNKNOWN, Constraints
from rhmm.parameters import stationary_law

_FEW = 6
"""States of which every order is tried."""
_TRIES = 20
"""Searches for the order of more states than these, each by exchanges from a random one."""
_STEPS, _TOL = 5, 1e-2
"""EM steps that decide between two starts, and the gain that ends them."""


def named(
    start: Iterate,
    X: np.ndarray,
    observed: np.ndarray,
    lengths: np.ndarray,
    constraints: Constraints,
    min_sigma: float,
) -> Iterate:
    """The start with its states in the order that the constraints ask for, and within them."""
    if constraints.labels is not None:
        return _like_labels(start, X, observed, lengths, constraints, min_sigma)
    if constraints.allowed is None:
        return start
    start = _permuted(start, order_within(constraints.allowed, start.transmat))
    return start._replace(transmat=constraints.masked(start.transmat))


def order_within(allowed: np.ndarray, transmat: np.ndarray) -> np.ndarray:
    """The order of states, shape (N,), in which the most transitions of A (N, N) are allowed."""
    often = stationary_law(transmat)[:, None] * transmat
    n = len(often)
    if n > _FEW:
        options = {"maximize": True, "rng": np.random.default_rng(0)}
        tried = [
            quadratic_assignment(allowed.astype(float), often, "2opt", options)
            for _ in range(_TRIES)
        ]
        return max(tried, key=lambda found: found.fun).col_ind
    orders = np.array(list(permutations(range(n))))
    kept = (often[orders[:, :, None], orders[:, None, :]] * allowed).sum(axis=(1, 2))
    return orders[np.argmax(kept)]


def _like_labels(
    start: Iterate, X, observed, lengths, constraints: Constraints, min_sigma: float
) -> Iterate:
    """The better of two: the start with its states named by labels, and the same with parameters
    of labelled observations where a state has some."""
    labels, n = constraints.labels, len(start.startprob)
    assert labels is not None
    points, of_points = X[observed], labels[observed]
    view = start.law.view(points)
    gamma = expected(start, view, observed, lengths).gamma
    known = labels != UNKNOWN
    overlap = (labels[known, None] == np.arange(n)).T.astype(float) @ gamma[known]
    start = _permuted(start, linear_sum_assignment(-overlap)[1])
    start = start._replace(transmat=constraints.masked(start.transmat))
    weights = (of_points == np.arange(n)[:, None]).astype(float)
    alive = weights.sum(axis=1) > 0.0
    candidates = [start]
    if alive.any():
        law, _ = start.law.maximised(points, weights, alive, start.law.view(points), min_sigma)
        candidates.append(start._replace(law=law))
    runs = [
        climb(
            X, observed, lengths, one,
            n_iter=_STEPS, tol=_TOL, min_sigma=min_sigma, constraints=constraints,
        )
        for one in candidates
    ]  # fmt: skip
    return max(runs, key=lambda run: run[0].log_likelihood[-1])[1]


def _permuted(start: Iterate, order: np.ndarray) -> Iterate:
    """The start with state ``order[i]`` renamed to i."""
    startprob, transmat, law = start
    return Iterate(startprob[order], transmat[np.ix_(order, order)], law.permuted(order))
