"""How an online learner begins: the best start from the first observations.

A learner that starts in a wrong basin does not leave it by itself. So several starts are tried on
the buffered observations (see `rhmm.search`). Where these are few, the learner begins afresh when
it has seen more (see `review`).
"""

from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np
from scipy.optimize import linear_sum_assignment

from rhmm import search
from rhmm.gaussian.table import half_precisions_and_log_zs, radial_table
from rhmm.manifolds import Manifold
from rhmm.search import Fit, Sample, improved, seeds
from rhmm.streams.streaming_kernel import BURST, StreamingState

ENOUGH = 60
"""Observations for each state that tell a good start from a bad one."""


class Found(Protocol):
    """A fit of whatever emission, see `rhmm.search.Fit` for the fields."""

    @property
    def transmat(self) -> np.ndarray: ...
    @property
    def means(self) -> np.ndarray: ...
    @property
    def delta(self) -> np.ndarray: ...
    @property
    def visits(self) -> np.ndarray: ...
    @property
    def gamma(self) -> np.ndarray: ...
    @property
    def latest(self) -> np.ndarray: ...
    @property
    def log_likelihood(self) -> float: ...
    def permuted(self, order: np.ndarray) -> Self: ...


AnyFit = TypeVar("AnyFit", bound=Found)


class _Effort(NamedTuple):
    tried: int
    """Starts that are judged after one iteration of EM."""
    kept: int
    """How many of them are refined."""
    steps: int
    """EM iterations that refine them."""
    moves: int
    """Moves that are tried on the best of them."""
    steps_after: int
    """EM iterations after a move."""


_FEW_STATES = 3
_EFFORT = {True: _Effort(8, 2, 5, 3, 10), False: _Effort(16, 4, 15, 6, 30)}
"""How hard to look, for few states and for more."""

_TRUST = 0.3
"""How much a visit among the first observations counts for: EM has not converged on them, and what
it found must give way soon."""


def best_start(sample: Sample, n: int, rng: np.random.Generator, *, cold: bool) -> Fit:
    """The likeliest start with n states; if `cold`, bare seeds."""
    if cold:
        return seeds(sample, n, rng)
    effort = _EFFORT[n <= _FEW_STATES or len(sample.points) < ENOUGH * n]
    best, appraisal = search.best_start(
        sample, n, rng, tried=effort.tried, kept=effort.kept, steps=effort.steps
    )
    if len(sample.points) < ENOUGH * n:
        return best
    if n <= _FEW_STATES and not appraisal.promises_a_move():
        return best
    return improved(
        sample, best, rng, tried=effort.moves, steps=effort.steps_after, appraisal=appraisal
    )


def in_order_of(manifold: Manifold, means: np.ndarray, fit: AnyFit) -> AnyFit:
    """The fit with its states named as in `means`: a change of leader keeps the labels."""
    return _reordered(fit, manifold.squared_distances(fit.means, means))


def recognised(manifold: Manifold, transmat, means, delta, fit: AnyFit) -> AnyFit:
    """The fit with its states named as in the parameters, which were true before a jump.

    The means may have gone anywhere, so a distance counts by its logarithm only; how long a state
    lasts and how wide it is are compared as likelihoods: what a jump of the means leaves alone.
    """
    d2 = manifold.squared_distances(fit.means, means)
    wider = fit.delta / delta[:, None]
    new, old = (np.clip(np.diagonal(A), 0.01, 0.99) for A in (fit.transmat, transmat))
    old = old[:, None]
    lasting = new * np.log(new / old) + (1.0 - new) * np.log((1.0 - new) / (1.0 - old))
    width = 0.5 * manifold.dim * (wider - 1.0 - np.log(wider))
    moved = 0.5 * (manifold.dim + 1) * np.log1p(d2 / delta[:, None])
    return _reordered(fit, moved + fit.visits * (lasting + width))


def in_agreement(gamma: np.ndarray, fit: AnyFit) -> AnyFit:
    """The fit with its states named as those that explain the same points of its sample, which
    `gamma` of shape (T, N) tells.
    """
    return _reordered(fit, -gamma.T @ fit.gamma)


def _reordered(fit: AnyFit, cost: np.ndarray) -> AnyFit:
    """State i becomes the one that ``cost[i]``, with all others, is cheapest for."""
    return fit.permuted(linear_sum_assignment(cost)[1])


def streaming_state(manifold: Manifold, fit: Found, lag: int, seen: int) -> StreamingState:
    """Where the streaming algorithm goes on from a fit, after `seen` observations."""
    room, n = 2 * lag, len(fit.delta)
    return StreamingState(
        fit.transmat,
        fit.means,
        fit.delta,
        *dispersion(manifold, fit.delta),
        np.maximum(_TRUST * fit.visits, 1.0),
        np.zeros((room, *manifold.point_shape)),
        np.zeros(room, bool),
        np.zeros(room, bool),
        np.zeros((room, n)),
        np.ones((room, n)),
        fit.latest,
        np.array([seen, 0]),
        np.full(1, BURST),
        np.zeros(1),
    )


def dispersion(manifold: Manifold, delta) -> tuple[np.ndarray, np.ndarray]:
    """1/2σ² and log Z of every state."""
    half_precision, log_z = np.empty(len(delta)), np.empty(len(delta))
    half_precisions_and_log_zs(radial_table(manifold.gaussian), delta, half_precision, log_z)
    return half_precision, log_z
