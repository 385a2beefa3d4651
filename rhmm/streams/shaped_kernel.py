"""The streaming recursion with Gaussians and Student's laws of any shape.

The recursion is that of `rhmm.streams.streaming_kernel`. In the place of δ_i each state has S_i,
the decayed mean of u uᵀ, where u are normal coordinates at its mean (`rhmm.emissions.wrapped`):

    v   = mean of w_t u_t                   w_t = (ν + D) / (ν + u_tᵀ Σ_i⁻¹ u_t), 1 for Gaussians
    c_i ← Exp(s v)                          s = τ_i/κ_i
    S_i ← (1 − τ_i) (S_i + s² v vᵀ) + τ_i · mean of w_t (u_t − s v)(u_t − s v)ᵀ

S_i is thus about the new mean, where space is flat exactly so. Own shapes ("full") go along the
geodesic from the old mean to the new one, S ← R S Rᵀ with R = `Manifold.frame_turn`, so that every
isometry of the data moves them along. Shapes that refer to the origin ("tied", "diag") keep their
coordinates, in the frame that the geodesic from there brings to a mean. κ_i is taken from δ_i =
tr Σ_i as for the paper's emission.

Covariances follow from the S_i as in EM, n_i being the visits that are remembered: with shrinkage w
and the variance v₀ of the start Σ_i = (n_i S_i + w v₀ I)/(n_i + w), pooled over all states if they
are tied. ν is that of the start, or of the latest review.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import copy_into, implements, kernel
from rhmm.emissions.covariances import KINDS
from rhmm.gaussian.table import half_precision_and_log_z
from rhmm.manifolds import verbs
from rhmm.streams import emission
from rhmm.streams.streaming_kernel import StreamingSettings, StreamingState

_ISOTROPIC, _DIAG, _TIED, _FULL = range(len(KINDS))


class ShapedSettings(NamedTuple):
    """`StreamingSettings`, and what shapes add to them."""

    dim: int
    gain: float
    cap: float
    least_delta: float
    """The floor of every δ_i; that of every variance is this, divided by `dim`."""
    trace_every: int
    kind: int
    """Of the covariances, as a place in `KINDS`."""
    shrinkage: float
    """w."""


class ShapedState(NamedTuple):
    """The fields of `StreamingState`, and the shapes."""

    transmat: np.ndarray
    means: np.ndarray
    delta: np.ndarray
    """tr Σ_i."""
    half_precision: np.ndarray
    log_z: np.ndarray
    visits: np.ndarray
    points: np.ndarray
    missing: np.ndarray
    begins: np.ndarray
    alpha: np.ndarray
    density: np.ndarray
    filtered: np.ndarray
    counters: np.ndarray
    credit: np.ndarray
    log_likelihood: np.ndarray
    scatter: np.ndarray
    """S_i, shape (N, D, D)."""
    whiteners: np.ndarray
    """W_i, lower triangular with W Σ_i Wᵀ = I, shape (N, D, D)."""
    log_det: np.ndarray
    """log det W_i, shape (N,)."""
    prior_variance: np.ndarray
    """v₀, shape (1,)."""
    tail: np.ndarray
    """1/ν, which is 0 for Gaussians, and the log density of the standard law at its mean, (2,)."""

    def latest_filter(self) -> np.ndarray:
        """The latest filtered probabilities, shape (N,)."""
        return self.filtered / self.filtered.sum()


AnyState = StreamingState | ShapedState
AnySettings = StreamingSettings | ShapedSettings
"""Of the streaming recursion with any emission."""


@implements(emission.log_densities, ShapedState)
def _log_densities(state, geometry, layout, first, last, out):
    size = last - first
    for i in range(len(state.visits)):
        mine = out[i * size : (i + 1) * size]
        _log_densities_of(state, geometry, layout, first, last, i, mine)


@kernel
def _log_densities_of(state, geometry, layout, first, last, i, out):
    size, dim = last - first, state.scatter.shape[1]
    coordinates, log_volume = np.empty((size, dim)), np.empty(size)
    verbs.normal_coordinates(geometry, layout, first, last, state.means[i], coordinates, log_volume)
    inverse_degrees, at_mean = state.tail[0], state.tail[1]
    for t in range(size):
        square = _square(state.whiteners[i], coordinates[t])
        if inverse_degrees > 0.0:
            half = 0.5 * (1.0 / inverse_degrees + dim)
            radial = half * math.log1p(square * inverse_degrees)
        else:
            radial = 0.5 * square
        out[t] = state.log_det[i] + at_mean - radial - log_volume[t]


@implements(emission.learn_spreads, ShapedState)
def _learn_spreads(
    state, geometry, table, settings, layout, begin, weights, visited, tau, steps, totals
):
    for i in range(len(weights)):
        if tau[i] > 0.0:
            _learn_spread(
                state, geometry, settings, layout, begin, weights[i], visited[i], tau[i], i
            )


@kernel
def _learn_spread(state, geometry, settings, layout, begin, weights, visited, tau, i):
    size, dim, scatter = len(weights), settings.dim, state.scatter[i]
    coordinates, log_volume = np.empty((size, dim)), np.empty(size)
    verbs.normal_coordinates(
        geometry, layout, begin, begin + size, state.means[i], coordinates, log_volume
    )
    pulls, step, pulled, inverse_degrees = np.empty(size), np.zeros(dim), 0.0, state.tail[0]
    for t in range(size):
        square = _square(state.whiteners[i], coordinates[t])
        pulls[t] = weights[t] * (1.0 + dim * inverse_degrees) / (1.0 + square * inverse_degrees)
        pulled += pulls[t]
        for p in range(dim):
            step[p] += pulls[t] * coordinates[t, p]
    share = tau / visited
    kappa = max(2.0 * state.half_precision[i] * state.delta[i] / dim, 1.0)
    length = tau / kappa
    cross = ((1.0 - tau + share * pulled) * length - 2.0 * tau) * length / (visited * visited)
    for p in range(dim):
        for q in range(p + 1):
            moment = 0.0
            for t in range(size):
                moment += pulls[t] * coordinates[t, p] * coordinates[t, q]
            moment = (1.0 - tau) * scatter[p, q] + share * moment + cross * step[p] * step[q]
            scatter[p, q] = moment
            scatter[q, p] = moment
    mean, before = state.means[i], state.means[i].copy()
    verbs.weighted_step(geometry, layout, begin, begin + size, pulls, share / kappa, mean)
    if settings.kind == _FULL:
        _carry(geometry, before, mean, scatter)


@kernel
def _carry(geometry, start, end, scatter):
    """Take moments along the geodesic between two means."""
    turn = np.empty(scatter.shape)
    verbs.frame_turn(geometry, start, end, turn)
    carried = turn @ scatter @ turn.T
    for p in range(len(scatter)):
        for q in range(p + 1):
            scatter[p, q] = carried[p, q]
            scatter[q, p] = carried[p, q]


@implements(emission.settle, ShapedState)
def _settle(state, table, settings):
    _settle_shapes(state, table, settings)


@kernel
def _settle_shapes(state, table, settings):
    dim, least = settings.dim, settings.least_delta / settings.dim
    covariance = np.empty((dim, dim))
    for i in range(len(state.visits)):
        if i > 0 and settings.kind == _TIED:
            copy_into(state.whiteners[i], state.whiteners[0])
            state.log_det[i], state.delta[i] = state.log_det[0], state.delta[0]
        else:
            _covariance_of(state, settings, least, i, covariance)
            trace = 0.0
            for p in range(dim):
                trace += covariance[p, p]
            state.delta[i] = max(trace, settings.least_delta)
            state.log_det[i] = _whiten(covariance, least, state.whiteners[i])
        state.half_precision[i], state.log_z[i] = half_precision_and_log_z(table, state.delta[i])


@kernel
def settle_all(state, table, settings):
    """`settle`, for Python."""
    emission.settle(state, table, settings)


@kernel
def _covariance_of(state, settings, least, i, out):
    """Σ_i, or what all states share."""
    dim, count = settings.dim, settings.shrinkage
    added, mean = settings.shrinkage * state.prior_variance[0], 0.0
    out[:] = 0.0
    for j in range(len(state.visits)):
        if j == i or settings.kind == _TIED:
            count += state.visits[j]
            for p in range(dim):
                for q in range(dim):
                    out[p, q] += state.visits[j] * state.scatter[j, p, q]
    for p in range(dim):
        mean += out[p, p] / dim
    for p in range(dim):
        if settings.kind == _ISOTROPIC:
            out[p, p] = mean
        out[p, p] = max((out[p, p] + added) / count, least)
        for q in range(dim):
            if q != p:
                is_kept = settings.kind == _TIED or settings.kind == _FULL
                out[p, q] = out[p, q] / count if is_kept else 0.0


@kernel
def _whiten(covariance, least, out):
    """W with W Σ Wᵀ = I into `out`, from Σ, which is overwritten; returns log det W.

    Of the variance in each direction that those before it do not explain, `least` is left.
    """
    dim, log_det, lower = len(covariance), 0.0, covariance
    for p in range(dim):
        for q in range(p + 1):
            rest = covariance[p, q]
            for k in range(q):
                rest -= lower[p, k] * lower[q, k]
            lower[p, q] = math.sqrt(max(rest, least)) if q == p else rest / lower[q, q]
        log_det -= math.log(lower[p, p])
    for p in range(dim):
        for q in range(dim):
            if q > p:
                out[p, q] = 0.0
            elif q == p:
                out[p, p] = 1.0 / lower[p, p]
            else:
                total = 0.0
                for k in range(q, p):
                    total += lower[p, k] * out[k, q]
                out[p, q] = -total / lower[p, p]
    return log_det


@kernel
def _square(whitener, coordinates):
    """uᵀ Σ⁻¹ u."""
    square = 0.0
    for p in range(len(coordinates)):
        white = 0.0
        for q in range(p + 1):
            white += whitener[p, q] * coordinates[q]
        square += white * white
    return square
