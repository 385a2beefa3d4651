"""Another number of states: what a learner would go on with if states were born, or died.

Splits and merges are tried on a record of the stream (`rhmm.search.sizes`). What is found changes
only those states that explain other observations than before. All others keep what they have
learned from the whole stream, and all keep their names.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from rhmm.manifolds import Manifold
from rhmm.search import Fit, Sample, appraised, evidence, n_parameters, resized
from rhmm.streams.start import dispersion, streaming_state
from rhmm.streams.streaming_kernel import FLOOR, StreamingState

_LEAST_PRICE = 1.25
"""Nats that a free parameter must be worth on any record."""
_STEPS = 15
"""EM iterations that the present model makes on the record before it is compared."""
_SAME = 0.9
"""The share of the observations of two states that both must explain to be the same state."""


class Recount(NamedTuple):
    """A model that another number of states leads to."""

    state: StreamingState
    names: np.ndarray
    """Of its states, shape (N,)."""
    gain: float
    """Nats that it is ahead on the record, the cost of its parameters taken off."""
    at_once: bool
    """Whether it takes over without a trial: it was fitted to all that was seen."""


def price_of_parameter(seen: int, every: int) -> float:
    """Nats that a free parameter must be worth on a record of one in `every` observations.

    On the whole stream that is half the logarithm of its length, as in BIC. A parameter that is
    fitted to the record gains about half a nat by chance, and that of the best split up to one.
    """
    return max(0.5 * math.log(seen) / every, _LEAST_PRICE)


def first_count(sample: Sample, most: int, rng: np.random.Generator) -> Fit:
    """The model of the first observations with as many states as BIC prefers."""
    points = sample.points
    mean, d2, _ = sample.manifold.recentre(points, np.ones((1, len(points))), points[:1].copy())
    prior = max(float(d2.mean()), sample.least_delta)
    one, appraisal = appraised(sample, np.ones((1, 1)), mean, np.array([prior]), prior, rng, _STEPS)
    return resized(sample, one, rng, most, price_of_parameter(len(points), 1), appraisal)


def recount(
    sample: Sample,
    state: StreamingState,
    names: np.ndarray,
    rng: np.random.Generator,
    *,
    most: int,
    price: float,
    is_whole: bool,
) -> Recount | None:
    """What another number of states would make of the sample, if that pays.

    Unless the sample is all that was seen, states that it leaves alone keep their parameters.
    """
    prior = float(np.mean(state.delta))
    settled, appraisal = appraised(
        sample, state.transmat, state.means, state.delta, prior, rng, _STEPS
    )
    found = resized(sample, settled, rng, most, price, appraisal)
    n, dim, before = len(settled.delta), sample.manifold.dim, evidence(sample, settled)
    cost_of_state = price * (n_parameters(n, dim) - n_parameters(n - 1, dim))
    if len(found.delta) == n and evidence(sample, found) < before + cost_of_state:
        # A birth for a death must gain as much as a birth: else only a death is tried.
        found = settled if found is settled else resized(sample, settled, rng, 1, price)
    if found is settled:
        return None
    more = n_parameters(len(found.delta), dim) - n_parameters(n, dim)
    gain = evidence(sample, found) - before - price * more
    order, source = _in_order(found.gamma, settled.gamma)
    found = found.permuted(order)
    lag, seen = len(state.points) // 2, int(state.counters[0])
    begun = streaming_state(sample.manifold, found, lag, seen)
    if not is_whole:
        parents = _parents(found.gamma, settled.gamma, source)
        same = _same(found.gamma, settled.gamma @ parents.T)
        _graft(sample.manifold, begun, state, parents, same)
    return Recount(begun, _named(names, source, most), gain, at_once=is_whole)


def _in_order(gamma: np.ndarray, old: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The order of new states in which those that go on come first, as before, and births last;
    and for each of them the old state that it goes on from, −1 for a birth.

    Both weights have shape (T, states). A state goes on as the one that explains the most of the
    same observations.
    """
    new_state, old_state = linear_sum_assignment(-(gamma.T @ old))
    source = np.full(gamma.shape[1], -1)
    source[new_state] = old_state
    order = np.argsort(np.where(source < 0, old.shape[1], source), kind="stable")
    return order, source[order]


def _parents(gamma: np.ndarray, old: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Which old states each new one goes on from, shape (new, old): 0 or 1.

    A state that dies leaves its observations to the one that explains the most of them.
    """
    parents = (source[:, None] == np.arange(old.shape[1])).astype(float)
    for dead in np.flatnonzero(parents.sum(axis=0) == 0.0):
        parents[np.argmax(gamma.T @ old[:, dead]), dead] = 1.0
    return parents


def _same(gamma: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Which states explain the same observations as those that they go on from."""
    shared = np.minimum(gamma, before).sum(axis=0)
    return shared > _SAME * np.maximum(gamma, before).sum(axis=0)


def _graft(
    manifold: Manifold,
    new: StreamingState,
    old: StreamingState,
    parents: np.ndarray,
    same: np.ndarray,
) -> None:
    """Give the new states that are the same as old ones what these have learned."""
    share = parents * old.visits
    share /= np.maximum(share.sum(axis=1, keepdims=True), 1e-300)
    for i in np.flatnonzero(same):
        of = np.flatnonzero(parents[i])
        mean = old.means[of[0]] if len(of) == 1 else manifold.mean(old.means[of], share[i, of])
        apart = manifold.dist(mean, old.means[of]) ** 2
        new.means[i] = mean
        new.delta[i] = share[i, of] @ (old.delta[of] + apart)
        new.visits[i] = old.visits[of].sum()
    new.half_precision[:], new.log_z[:] = dispersion(manifold, new.delta)
    known = (share @ old.transmat @ parents.T)[np.ix_(same, same)]
    others = np.maximum(new.transmat[np.ix_(same, ~same)], FLOOR)
    left = 1.0 - known.sum(axis=1, keepdims=True)
    new.transmat[np.ix_(same, same)] = known
    new.transmat[np.ix_(same, ~same)] = left * others / others.sum(axis=1, keepdims=True)
    new.transmat[:] = np.maximum(new.transmat, FLOOR)
    new.transmat[:] /= new.transmat.sum(axis=1, keepdims=True)


def _named(names: np.ndarray, source: np.ndarray, most: int) -> np.ndarray:
    """The names of states that go on from these old ones; a birth gets the least free name."""
    kept = names[source[source >= 0]]
    free = np.setdiff1d(np.arange(most), kept)
    return np.concatenate([kept, free[: len(source) - len(kept)]])
