"""One update of an online learner opened up: every quantity by its name, in plain NumPy.

The learners compute a step a second time for it, independently of the kernels and as the formulas
read, from the state before it. Tests hold the kernels to that.
"""

from typing import NamedTuple

import numpy as np

from rhmm.gaussian.table import half_precision_and_log_z, radial_table
from rhmm.manifolds import Manifold
from rhmm.parameters import stationary_law


class Estimate(NamedTuple):
    """Parameters at one moment."""

    transmat: np.ndarray
    """A, shape (N, N)."""
    means: np.ndarray
    """c, shape (N, *point_shape)."""
    delta: np.ndarray
    """δ, shape (N,)."""
    sigmas: np.ndarray
    """σ, shape (N,)."""


class Explanation(NamedTuple):
    """The update at observation `step`. Times run over the window (or lag), the newest last."""

    step: int
    """k, counted from 1."""
    observation: np.ndarray
    """y_k, the newest, shape (*point_shape,)."""
    learned: np.ndarray
    """The L observations that the parameters move for, shape (L, *point_shape): y_k alone, or none
    if it is missing; when streaming, none or the older half of those held.
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
    """ζ_{t|k} of the pairs (t, t+1), shape (W − 1, N, N); 0 from one sequence to the next."""
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
    """μ_ij = Σζ/A², of the paper's update of A; shape (N, N)."""
    g: np.ndarray | None
    """g_ij = ζ_{k−1|k}/A, of the paper's update of A; shape (N, N)."""
    before: Estimate
    """The parameters before this observation."""
    after: Estimate
    """The parameters after it."""


def normalised(x: np.ndarray) -> np.ndarray:
    return x / x.sum()


def scaled_densities(state, d2: np.ndarray) -> np.ndarray:
    """p_i(y_t) of shape (T, N) from d² of shape (N, T), each row divided by its largest entry."""
    log_density = -state.half_precision * d2.T - state.log_z
    return np.exp(log_density - log_density.max(axis=1, keepdims=True))


def predicted(state, begins: bool) -> np.ndarray:
    """The law of the next state before its observation, shape (N,): the stationary one if a
    sequence begins."""
    return stationary_law(state.transmat) if begins else state.latest_filter() @ state.transmat


def backward(transmat, alpha, density, begins) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """β, γ and ζ of Table 1 over the given times: shapes (W, N), (W, N) and (W − 1, N, N).

    Where the next time begins a sequence (`begins`, shape (W,)), β is 1 and ζ is 0.
    """
    size, n = alpha.shape
    beta, gamma, zeta = np.ones((size, n)), alpha.copy(), np.empty((size - 1, n, n))
    for t in range(size - 2, -1, -1):
        if begins[t + 1]:
            zeta[t] = 0.0
            continue
        ahead = density[t + 1] * beta[t + 1]
        beta[t] = transmat @ ahead
        beta[t] /= beta[t].max()
        gamma[t] = normalised(alpha[t] * beta[t])
        zeta[t] = normalised(alpha[t][:, None] * transmat * ahead)
    return beta, gamma, zeta


def present_estimate(state) -> Estimate:
    """The parameters of a state of an algorithm."""
    sigmas = np.sqrt(0.5 / state.half_precision)
    return Estimate(state.transmat.copy(), state.means.copy(), state.delta.copy(), sigmas)


def next_estimate(manifold: Manifold, least_delta: float, transmat, means, delta) -> Estimate:
    """The parameters after a step, with σ from δ."""
    delta = np.maximum(delta, least_delta)
    table = radial_table(manifold.gaussian)
    half_precision = np.array([half_precision_and_log_z(table, d)[0] for d in delta])
    return Estimate(transmat, means, delta, np.sqrt(0.5 / half_precision))
