"""One update of an online learner opened up: every quantity by its name, in plain NumPy.

These functions compute a step a second time, independently of the kernels and as the formulas
read, from the state before it. Tests hold the kernels to them.
"""

from typing import NamedTuple

import numpy as np

from rhmm.gaussian.table import half_precision_and_log_z, radial_table
from rhmm.manifolds import Manifold
from rhmm.online import streaming, windowed


class Estimate(NamedTuple):
    """Parameters at one moment."""

    transmat: np.ndarray
    means: np.ndarray
    delta: np.ndarray
    sigmas: np.ndarray


class Explanation(NamedTuple):
    """The update at observation `step`. Times run over the window (or lag), the newest last."""

    step: int
    """k, counted from 1."""
    observation: np.ndarray
    """y_k, the newest."""
    learned: np.ndarray
    """The L observations that the parameters move for: y_k alone, or none if it is missing; when
    streaming, none or the older half of those held.
    """
    density: np.ndarray
    """p_i(y_t), each row divided by its largest entry, shape (W, N)."""
    alpha: np.ndarray
    """α_t, normalised, shape (W, N)."""
    beta: np.ndarray
    """β_{t|k}, each row divided by its largest entry, shape (W, N)."""
    gamma: np.ndarray
    """γ_{t|k}, shape (W, N)."""
    zeta: np.ndarray
    """ζ_{t|k} of the pairs (t, t+1), shape (W − 1, N, N)."""
    pair: np.ndarray
    """The ζ that A moves for, summed over the learned, shape (N, N)."""
    weight: np.ndarray
    """The γ of the learned, shape (L, N)."""
    visits: np.ndarray
    """What divides the steps: Σγ over the window, or n_i after this observation; shape (N,)."""
    tau: np.ndarray
    """The fraction of the way to the observations that each mean moves, but for kappa, shape (N,).

    When streaming, δ and A move by it too; in the paper's algorithm δ moves by γ/√k, and A by μ and
    g or, convex, by ζ/Σγ.
    """
    kappa: np.ndarray
    """The curvature that tau is divided by for the means; 1 in the paper's algorithm; (N,)."""
    mu: np.ndarray | None
    """μ_ij = Σζ/A², of the paper's update of A."""
    g: np.ndarray | None
    """g_ij = ζ_{k−1|k}/A, of the paper's update of A."""
    before: Estimate
    """The parameters before this observation."""
    after: Estimate
    """The parameters after it."""


def explain_windowed(manifold: Manifold, settings, state, y, observed: bool) -> Explanation:
    window = settings.window
    k, end = int(state.counters[0]) + 1, int(state.counters[1])
    y_or_any = y if observed else state.means[0]
    points = np.concatenate([state.points[end - window + 1 : end], y_or_any[None]])
    missing = np.append(state.missing[end - window + 1 : end], not observed)
    d2 = manifold.squared_distances(points, state.means)
    density = scaled_densities(state, d2)
    density[missing] = 1.0
    newest = _normalised(state.alpha[end - 1] @ state.transmat * density[-1])
    alpha = np.concatenate([state.alpha[end - window + 1 : end], newest[None]])
    beta, gamma, zeta = _backward(state.transmat, alpha, density)
    visits, pair, weight = np.maximum(gamma.sum(axis=0), 1e-300), zeta[-1], newest
    old = state.transmat
    mu = g = None
    if settings.convex:
        transmat = old + (pair - old * pair.sum(axis=1, keepdims=True)) / visits[:, None]
        transmat = np.maximum(transmat, windowed.LEAST)
        transmat /= transmat.sum(axis=1, keepdims=True)
    else:
        mu = np.maximum(zeta.sum(axis=0), 1e-300) / old**2
        g = pair / old
        pull = (g / mu).sum(axis=1, keepdims=True) / (1.0 / mu).sum(axis=1, keepdims=True)
        transmat = np.maximum(old + (g - pull) / mu, windowed.FLOOR)
        transmat /= transmat.sum(axis=1, keepdims=True)
    tau = weight / visits
    delta = state.delta + weight * (d2[:, -1] - state.delta) / np.sqrt(k)
    means = manifold.geodesic(state.means, y_or_any, tau)
    after = _estimate(manifold, settings, transmat, means, delta)
    learned, weight = y[None][: int(observed)], weight[None][: int(observed)]
    if not observed:  # nothing moves
        tau, after = np.zeros(len(tau)), _present(state)
    return Explanation(
        k, y, learned, density, alpha, beta, gamma, zeta, pair, weight, visits, tau,
        np.ones(len(tau)), mu, g, _present(state), after,
    )  # fmt: skip


def explain_streaming(manifold: Manifold, settings, state, y, observed: bool) -> Explanation:
    k, held = (int(c) for c in state.counters)
    lag, dim = len(state.points) // 2, manifold.dim
    y_or_any = y if observed else state.means[0]
    points = np.concatenate([state.points[:held], y_or_any[None]])
    missing = np.append(state.missing[:held], not observed)
    newest_d2 = manifold.squared_distances(y_or_any[None], state.means)
    newest = scaled_densities(state, newest_d2) if observed else np.ones((1, len(state.delta)))
    density = np.concatenate([state.density[:held], newest])
    filtered = _normalised(state.filtered @ state.transmat * density[-1])
    alpha = np.concatenate([state.alpha[:held], filtered[None]])
    beta, gamma, zeta = _backward(state.transmat, alpha, density)
    is_full = held + 1 == 2 * lag
    older = np.arange(lag if is_full else 0)
    older = older[~missing[older]]
    learned, weight, pair = points[older], gamma[older], zeta[older].sum(axis=0)
    visited = weight.sum(axis=0)
    moving = visited > streaming.NEGLIGIBLE
    visits = np.minimum(state.visits + visited, settings.cap) if is_full else state.visits.copy()
    tau = np.where(moving, 1.0 - np.exp(-settings.gain * visited / visits), 0.0)
    kappa = np.maximum(2.0 * state.half_precision * state.delta / dim, 1.0)
    transmat, means, delta = state.transmat.copy(), state.means.copy(), state.delta.copy()
    for i in np.flatnonzero(moving):
        share = weight[:, i] / visited[i]
        transmat[i] = (1.0 - tau[i]) * transmat[i] + tau[i] * pair[i] / visited[i]
        transmat[i] = _normalised(np.maximum(transmat[i], streaming.FLOOR))
        towards = manifold.log(means[i], learned)
        d2 = manifold.dist(means[i], learned) ** 2
        delta[i] = (1.0 - tau[i]) * delta[i] + tau[i] * (share @ d2)
        means[i] = manifold.exp(means[i], tau[i] / kappa[i] * np.tensordot(share, towards, axes=1))
    before, after = _present(state), _estimate(manifold, settings, transmat, means, delta)
    return Explanation(
        k + 1, y, learned, density, alpha, beta, gamma, zeta, pair, weight, visits, tau, kappa,
        None, None, before, after if moving.any() else before,
    )  # fmt: skip


def _normalised(x: np.ndarray) -> np.ndarray:
    return x / x.sum()


def _present(state) -> Estimate:
    sigmas = np.sqrt(0.5 / state.half_precision)
    return Estimate(state.transmat.copy(), state.means.copy(), state.delta.copy(), sigmas)


def _estimate(manifold, settings, transmat, means, delta) -> Estimate:
    delta = np.maximum(delta, settings.least_delta)
    table = radial_table(manifold.gaussian)
    half_precision = np.array([half_precision_and_log_z(table, d)[0] for d in delta])
    return Estimate(transmat, means, delta, np.sqrt(0.5 / half_precision))


def scaled_densities(state, d2: np.ndarray) -> np.ndarray:
    """p_i(y_t), each row divided by its largest entry, (T, N), from d² of shape (N, T)."""
    log_density = -state.half_precision * d2.T - state.log_z
    return np.exp(log_density - log_density.max(axis=1, keepdims=True))


def _backward(transmat, alpha, density) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """β, γ and ζ of Table 1 over the given times."""
    size, n = alpha.shape
    beta, gamma, zeta = np.ones((size, n)), alpha.copy(), np.empty((size - 1, n, n))
    for t in range(size - 2, -1, -1):
        ahead = density[t + 1] * beta[t + 1]
        beta[t] = transmat @ ahead
        beta[t] /= beta[t].max()
        gamma[t] = _normalised(alpha[t] * beta[t])
        zeta[t] = _normalised(alpha[t][:, None] * transmat * ahead)
    return beta, gamma, zeta
