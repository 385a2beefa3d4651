"""How an online learner begins: candidates from the first observations, compiled for speed.

A learner that starts in a wrong basin never leaves it. So several starts are tried on the buffered
observations: greedy k-means++ seeds, then EM with a weak prior, one iteration to judge them all and
a few more for the likeliest. Where the buffer is short, several go on to race (see `race`).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from rhmm._jit import kernel, piece
from rhmm.clustering import place_seeds
from rhmm.gaussian.table import half_precision_and_log_z, radial_table
from rhmm.inference.forward import forward_pass, scale_rows
from rhmm.inference.forward_backward import smooth_pass
from rhmm.manifolds import Manifold, verbs
from rhmm.streams.streaming_kernel import StreamingState

_LEAST_WEIGHT = 1e-6


class Candidate(NamedTuple):
    """Where the streaming algorithm may begin."""

    transmat: np.ndarray
    means: np.ndarray
    delta: np.ndarray
    visits: np.ndarray
    """Expected visits of each state among the buffered observations."""
    alpha: np.ndarray
    """Filtered probabilities of the last buffered observation, shape (N,)."""
    log_likelihood: float
    """Of the buffered observations."""


_LEAST_TRIED, ENTRANTS, _FINALISTS = 8, 16, 8
"""Starts that are tried, at least, where the likeliest is chosen at once; where there is a race
those that are tried, and those that take part."""
_TRIALS = 4
"""Points that compete to be the next seed."""
_EM = 5
"""EM iterations of the starts that go on; every start is judged after one."""
_TOL = 1e-4
"""The gain in log-likelihood for each observation that ends EM."""


def candidates(
    manifold: Manifold,
    points: np.ndarray,
    rng: np.random.Generator,
    n: int,
    least_delta: float,
    *,
    cold: bool,
    race: bool,
) -> list[Candidate]:
    """Starts with n states each, for a race or the likeliest alone; if `cold`, bare seeds."""
    count = ENTRANTS if race else max(_LEAST_TRIED, 2 * n)
    geometry, table = manifold.geometry, radial_table(manifold.gaussian)
    transmat = np.full((count, n, n), 1.0 / n)
    means, delta = np.empty((count, n, *points.shape[1:])), np.empty((count, n))
    prior, likelihood = np.empty(count), np.zeros(count)
    _screen(
        geometry, table, points, rng.random((count, n, _TRIALS)), least_delta, cold,
        transmat, means, delta, prior, likelihood,
    )  # fmt: skip
    chosen = np.argsort(-likelihood, kind="stable")
    if not race:
        chosen = chosen[:1]
    elif not cold:
        chosen = chosen[:_FINALISTS]
    found = []
    for c in chosen:
        mine = transmat[c], means[c], delta[c]
        steps = 0 if cold else _EM
        reached = _refine(geometry, table, points, prior[c], least_delta, steps, *mine)
        found.append(Candidate(*mine, *reached))
    return found


def in_order_of(manifold: Manifold, means: np.ndarray, candidate: Candidate) -> Candidate:
    """The candidate with its states named as in `means`: a change of leader keeps the labels."""
    return _reordered(candidate, manifold.squared_distances(candidate.means, means))


def recognised(manifold: Manifold, transmat, means, delta, candidate: Candidate) -> Candidate:
    """The candidate with its states named as in the parameters, which were true before a jump.

    The means may have gone anywhere, so a distance counts by its logarithm only; how long a state
    lasts and how wide it is are compared as likelihoods: what a jump of the means leaves alone.
    """
    d2 = manifold.squared_distances(candidate.means, means)
    wider = candidate.delta / delta[:, None]
    new, old = (np.clip(np.diagonal(A), 0.01, 0.99) for A in (candidate.transmat, transmat))
    old = old[:, None]
    lasting = new * np.log(new / old) + (1.0 - new) * np.log((1.0 - new) / (1.0 - old))
    width = 0.5 * manifold.dim * (wider - 1.0 - np.log(wider))
    moved = 0.5 * (manifold.dim + 1) * np.log1p(d2 / delta[:, None])
    return _reordered(candidate, moved + candidate.visits * (lasting + width))


def _reordered(candidate: Candidate, cost: np.ndarray) -> Candidate:
    """State i becomes the one that ``cost[i]``, with all others, is cheapest for."""
    order = linear_sum_assignment(cost)[1]
    return Candidate(
        np.ascontiguousarray(candidate.transmat[np.ix_(order, order)]),
        candidate.means[order],
        candidate.delta[order],
        candidate.visits[order],
        candidate.alpha[order],
        candidate.log_likelihood,
    )


def streaming_state(
    manifold: Manifold, candidate: Candidate, lag: int, seen: int
) -> StreamingState:
    """Where the streaming algorithm goes on from a candidate, after `seen` observations."""
    room, n = 2 * lag, len(candidate.delta)
    return StreamingState(
        candidate.transmat,
        candidate.means,
        candidate.delta,
        *dispersion(manifold, candidate.delta),
        np.maximum(candidate.visits, 1.0),
        np.zeros((room, *manifold.point_shape)),
        np.zeros(room, bool),
        np.zeros((room, n)),
        np.ones((room, n)),
        candidate.alpha,
        np.array([seen, 0]),
        np.zeros(1),
    )


def dispersion(manifold: Manifold, delta) -> tuple[np.ndarray, np.ndarray]:
    """1/2σ² and log Z of every state."""
    table = radial_table(manifold.gaussian)
    half_precision, log_z = zip(*(half_precision_and_log_z(table, d) for d in delta), strict=True)
    return np.array(half_precision), np.array(log_z)


@kernel
def _screen(
    geometry, table, points, uniforms, least_delta, cold, transmat, means, delta, prior, likelihood
):
    """Seed every start; unless `cold`, cluster the points around its seeds and judge it."""
    n, size = len(delta[0]), len(points)
    layout = verbs.prepared(geometry, points)
    d2, alpha = np.empty((n, size)), np.empty((size, n))
    one = np.int64(1)  # a plain 1 would be a type of its own, and have `_climb` compiled twice
    for c in range(len(uniforms)):
        spread = place_seeds(geometry, points, layout, uniforms[c], means[c], d2)
        prior[c] = max(spread, least_delta)
        delta[c] = prior[c]
        if not cold:
            _cluster(d2, prior[c], least_delta, delta[c], transmat[c])
            likelihood[c] = _climb(
                geometry, table, points, prior[c], least_delta, one, d2,
                transmat[c], means[c], delta[c], alpha,
            )  # fmt: skip


@piece
def _cluster(d2, prior, least_delta, delta, transmat):
    """δ and A from the nearest seed of every point, under a weak prior."""
    n, size = d2.shape
    count = np.ones(n)
    delta[:] = prior
    transmat[:] = 1.0 / n
    last = -1
    for t in range(size):
        label = 0
        for i in range(1, n):
            if d2[i, t] < d2[label, t]:
                label = i
        count[label] += 1.0
        delta[label] += d2[label, t]
        if t > 0:
            transmat[last, label] += 1.0
        last = label
    for i in range(n):
        delta[i] = max(delta[i] / count[i], least_delta)
        transmat[i] /= transmat[i].sum()


@piece
def _recentre_alive(geometry, points, weights, means, d2):
    for i in range(len(means)):
        if weights[i].sum() > _LEAST_WEIGHT:
            mine = slice(i, i + 1)
            verbs.recentre_held(geometry, points, weights[mine], means[mine], d2[mine], 1)


@kernel
def _filter(table, d2, delta, transmat, alpha):
    """Filtered probabilities from a flat start, into `alpha`; returns the log-likelihood."""
    n, size = d2.shape
    log_density, shift = np.empty((size, n)), np.empty(size)
    for i in range(n):
        half_precision, log_z = half_precision_and_log_z(table, delta[i])
        for t in range(size):
            log_density[t, i] = -half_precision * d2[i, t] - log_z
    scale_rows(log_density, alpha, shift)
    for t in range(size):
        for i in range(n):
            alpha[t, i] = math.exp(alpha[t, i])
    ends = np.array([size])
    return forward_pass(np.full(n, 1.0 / n), transmat, alpha, shift, ends, False)


@piece
def _climb(geometry, table, points, prior, least_delta, steps, d2, transmat, means, delta, alpha):
    """Up to `steps` EM iterations, the squared distances given.

    Leaves filtered probabilities in `alpha` and returns the log-likelihood.
    """
    n, size = d2.shape
    weights, zeta_sum = np.empty((n, size)), np.empty((n, n))
    likelihood = _filter(table, d2, delta, transmat, alpha)
    for _ in range(steps):
        zeta_sum[:] = 1.0 / n
        smooth_pass(alpha, transmat, np.array([size]), zeta_sum)
        for i in range(n):
            for t in range(size):
                weights[i, t] = alpha[t, i]
        _recentre_alive(geometry, points, weights, means, d2)
        for i in range(n):
            transmat[i] = zeta_sum[i] / zeta_sum[i].sum()
            spread = ((weights[i] * d2[i]).sum() + prior) / (weights[i].sum() + 1.0)
            delta[i] = max(spread, least_delta)
        before = likelihood
        likelihood = _filter(table, d2, delta, transmat, alpha)
        if likelihood - before < _TOL * size:
            break
    return likelihood


@kernel
def _refine(geometry, table, points, prior, least_delta, steps, transmat, means, delta):
    """Up to `steps` EM iterations; returns visits, the last filter and the log-likelihood."""
    n, size = len(delta), len(points)
    d2, alpha = np.empty((n, size)), np.empty((size, n))
    verbs.squared_distances(geometry, points, means, d2)
    likelihood = _climb(
        geometry, table, points, prior, least_delta, steps, d2, transmat, means, delta, alpha
    )
    last = alpha[-1].copy()
    smooth_pass(alpha, transmat, np.array([size]), np.zeros((n, n)))
    visits = np.zeros(n)
    for t in range(size):
        visits += alpha[t]
    return visits, last, likelihood
