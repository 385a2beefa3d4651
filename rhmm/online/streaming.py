"""The streaming algorithm: Δ's two roles parted.

In the paper's algorithm Δ says both how far the smoother looks back and how long estimates
remember. Here a short fixed lag ℓ serves the first and a count of expected visits n_i the second,
so that an observation costs O(ℓ N²) whatever Δ is.

When y_k arrives, the pair of states (s_{k−ℓ}, s_{k−ℓ+1}) is smoothed with all that is known,
ζ_{k−ℓ|k}, and y_{k−ℓ+1} is learned with γ = Σ_i ζ(i, ·):

    n_j ← min(n_j + γ_j, cap)              τ_j = gain γ_j / n_j
    c_j ← c_j #_{τ_j/κ_j} y                κ_j = δ_j / (dim σ_j²)
    δ_j ← δ_j + τ_j (d²(y, c_j) − δ_j)
    A_ij ← A_ij + (gain/n_i)(ζ_ij − A_ij Σ_h ζ_ih)

κ is the mean Hessian of ½d² under the Gaussian: on a curved space a step of 1/n moves too far, and
without this the means converge more slowly than EM's. A gain above 1 forgets early mistakes faster
than a plain average would. ``cap = ∞`` converges; ``cap = Δ/N`` tracks a drifting chain.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel
from rhmm.gaussian.table import half_precision_and_log_z
from rhmm.manifolds import verbs
from rhmm.online.trace import record

FLOOR = 1e-6
"""Least entry of A: a state that was not seen for long can come back."""
NEGLIGIBLE = 1e-6
"""An observation that is less likely than this to come from a state does not move it: the bias is
far below the noise, and most observations then concern one or two states."""


class StreamingState(NamedTuple):
    """Everything the algorithm remembers: its size depends on ℓ and N alone."""

    transmat: np.ndarray
    means: np.ndarray
    delta: np.ndarray
    half_precision: np.ndarray
    """1/2σ², a function of delta."""
    log_z: np.ndarray
    """log Z(σ), a function of delta."""
    visits: np.ndarray
    """n_i, the expected visits remembered."""
    points: np.ndarray
    """The last ℓ observations, the newest last."""
    missing: np.ndarray
    """Which of them are missing."""
    alpha: np.ndarray
    """Filtered probabilities of the same times."""
    density: np.ndarray
    """Densities of the same times, each row up to a factor, as they were when y_t arrived."""
    counters: np.ndarray
    """Observations seen, and how many of the last ℓ are from after the start, or its end."""
    log_likelihood: np.ndarray
    """Sum of the one-step predictive log densities."""


@kernel
def learn(geometry, table, settings, X, observed, state, filtered, predictive, trace):
    """Take in X one by one.

    Unless empty, `filtered` receives P(s_k | y_1..y_k) and `predictive` log p(y_k | y_1..y_{k−1}).
    """
    transmat, delta, visits = state.transmat, state.delta, state.visits
    half_precision, log_z = state.half_precision, state.log_z
    lag, n = state.alpha.shape
    # What is remembered and what is new in one row: index lag + u is X[u].
    recent = np.concatenate((state.points, X))
    points = verbs.prepared(geometry, recent)
    missing = np.concatenate((state.missing, ~observed))
    alpha, density = np.empty((lag + len(X), n)), np.empty((lag + len(X), n))
    alpha[:lag], density[:lag] = state.alpha, state.density
    means = verbs.prepared(geometry, state.means)
    room = verbs.whole_lanes(n)
    exponent, learned_d2 = np.empty(room), np.empty(room)
    v, back, pair = np.empty(n), np.empty(n), np.empty((n, n))
    gain, curvature = settings.gain, 2.0 / settings.dim
    k, known = state.counters
    log_likelihood = state.log_likelihood[0]
    row = 0
    for u in range(len(X)):
        k += 1
        newest, oldest, learned = lag + u, u, u + 1
        learning = known == lag and not missing[learned]
        if learning:
            verbs.distances_from(geometry, points, learned, means, learned_d2)

        # The filter, under today's parameters.
        shift = 0.0
        if observed[u]:
            shift = -math.inf
            verbs.distances_from(geometry, points, newest, means, exponent)
            for j in range(n):
                exponent[j] = -half_precision[j] * exponent[j] - log_z[j]
                shift = max(shift, exponent[j])
        scale = 0.0
        for j in range(n):
            mass = 0.0
            for i in range(n):
                mass += alpha[newest - 1, i] * transmat[i, j]
            scaled = math.exp(exponent[j] - shift) if observed[u] else 1.0
            density[newest, j] = scaled
            alpha[newest, j] = mass * scaled
            scale += mass * scaled
        inverse = 1.0 / scale
        for j in range(n):
            alpha[newest, j] *= inverse
        log_predictive = math.log(scale) + shift if observed[u] else 0.0
        log_likelihood += log_predictive
        if len(predictive):
            predictive[u] = log_predictive

        known = min(known + 1, lag)

        if learning:
            # Back over the lag with the densities in store: ζ of the oldest pair.
            for j in range(n):
                v[j] = density[newest, j]
            for t in range(newest - 1, oldest, -1):
                largest = 0.0
                for i in range(n):
                    mass = 0.0
                    for j in range(n):
                        mass += transmat[i, j] * v[j]
                    back[i] = density[t, i] * mass
                    largest = max(largest, back[i])
                scale = 1.0 / largest if largest < 1e-100 else 1.0
                for i in range(n):
                    v[i] = back[i] * scale
            total = 0.0
            for i in range(n):
                for j in range(n):
                    pair[i, j] = alpha[oldest, i] * transmat[i, j] * v[j]
                    total += pair[i, j]
            inverse = 1.0 / total
            for i in range(n):
                for j in range(n):
                    pair[i, j] *= inverse
            _transition_step(transmat, pair, visits, gain)
            for j in range(n):
                gamma = 0.0
                for i in range(n):
                    gamma += pair[i, j]
                visits[j] = min(visits[j] + gamma, settings.cap)
                if gamma > NEGLIGIBLE:
                    tau = min(gain * gamma / visits[j], 1.0)
                    kappa = max(curvature * half_precision[j] * delta[j], 1.0)
                    d2 = learned_d2[j]
                    verbs.pull(geometry, means, j, points, learned, d2, tau / kappa)
                    delta[j] = max(delta[j] + tau * (d2 - delta[j]), settings.least_delta)
                    half_precision[j], log_z[j] = half_precision_and_log_z(table, delta[j])
        if settings.trace_every and k % settings.trace_every == 0:
            verbs.place_back(geometry, means, state.means)
            record(
                trace, row, k, transmat, state.means, delta, half_precision,
                alpha[newest], visits, log_likelihood,
            )  # fmt: skip
            row += 1
    verbs.place_back(geometry, means, state.means)
    if len(filtered):
        filtered[:] = alpha[lag:]
    state.points[:], state.missing[:] = recent[len(X) :], missing[len(X) :]
    state.alpha[:], state.density[:] = alpha[len(X) :], density[len(X) :]
    state.counters[0], state.counters[1] = k, known
    state.log_likelihood[0] = log_likelihood


@kernel
def _transition_step(transmat, pair, visits, gain):
    n = len(transmat)
    for i in range(n):
        leaving = 0.0
        for j in range(n):
            leaving += pair[i, j]
        tau = min(gain / visits[i], 1.0)
        row_sum = 0.0
        for j in range(n):
            transmat[i, j] += tau * (pair[i, j] - leaving * transmat[i, j])
            transmat[i, j] = max(transmat[i, j], FLOOR)
            row_sum += transmat[i, j]
        inverse = 1.0 / row_sum
        for j in range(n):
            transmat[i, j] *= inverse
