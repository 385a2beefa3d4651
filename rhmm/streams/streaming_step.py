"""One step of the streaming recursion opened up: the formulas of `rhmm.streams.streaming_kernel` in
plain NumPy, as they read."""

from collections.abc import Callable

import numpy as np

from rhmm.manifolds import Manifold
from rhmm.streams.ensemble import Runner
from rhmm.streams.explanation import (
    Explanation,
    backward,
    next_estimate,
    normalised,
    predicted,
    present_estimate,
)
from rhmm.streams.streaming_kernel import FLOOR, NEGLIGIBLE

Moved = tuple[np.ndarray, np.ndarray]
"""The means (N, *point_shape) and δ (N,) after a step."""


def explained(
    manifold: Manifold,
    runner: Runner,
    y: np.ndarray,
    observed: bool,
    begins: bool,
    densities: Callable[..., np.ndarray],
    moved: Callable[..., Moved],
) -> Explanation:
    """The step that a runner takes at y, which may begin a sequence.

    `densities` and `moved` are those of the emission, the latter with the arguments of
    `moved_riemannian` after the manifold.
    """
    settings, state = runner
    k, held = (int(c) for c in state.counters)
    lag, dim = len(state.points) // 2, manifold.dim
    y_or_any = y if observed else state.means[0]
    points = np.concatenate([state.points[:held], y_or_any[None]])
    missing = np.append(state.missing[:held], not observed)
    n = len(state.delta)
    newest = densities(state, y_or_any[None]) if observed else np.ones((1, n))
    density = np.concatenate([state.density[:held], newest])
    filtered = normalised(predicted(state, begins) * density[-1])
    held_alpha = state.alpha[:held] / state.alpha[:held].sum(axis=1, keepdims=True)
    alpha = np.concatenate([held_alpha, filtered[None]])
    starts = np.append(state.begins[:held], begins)
    beta, gamma, zeta = backward(state.transmat, alpha, density, starts)
    is_full = held + 1 == 2 * lag
    older = np.arange(lag if is_full else 0)
    older = older[~missing[older]]
    learned, weight, pair = points[older], gamma[older], zeta[older].sum(axis=0)
    visited = weight.sum(axis=0)
    moving = visited > NEGLIGIBLE
    visits = state.visits.copy()
    if is_full:
        visits = np.minimum(state.visits + visited, settings.cap)
    tau = np.where(moving, 1.0 - np.exp(-settings.gain * visited / visits), 0.0)
    kappa = np.maximum(2.0 * state.half_precision * state.delta / dim, 1.0)
    transmat = state.transmat.copy()
    for i in np.flatnonzero(moving):
        transmat[i] = (1.0 - tau[i]) * transmat[i] + tau[i] * pair[i] / visited[i]
        transmat[i] = normalised(np.maximum(transmat[i], FLOOR))
    before = after = present_estimate(state)
    if moving.any():
        means, delta = moved(state, learned, weight, visits, tau, kappa)
        after = next_estimate(manifold, settings.least_delta, transmat, means, delta)
    return Explanation(
        k + 1, y, learned, density, alpha, beta, gamma, zeta, pair, weight, visits, tau, kappa,
        None, None, before, after,
    )  # fmt: skip


def moved_riemannian(manifold: Manifold, state, points, weight, visits, tau, kappa) -> Moved:
    """The step of the paper's emission for points (L, *point_shape) with these weights (L, N)."""
    means, delta = state.means.copy(), state.delta.copy()
    for i in np.flatnonzero(tau > 0.0):
        share = weight[:, i] / weight[:, i].sum()
        towards = np.tensordot(share, manifold.log(means[i], points), axes=1)
        d2 = manifold.dist(means[i], points) ** 2
        delta[i] = (1.0 - tau[i]) * delta[i] + tau[i] * (share @ d2)
        means[i] = manifold.exp(means[i], tau[i] / kappa[i] * towards)
    return means, delta
