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
    """The last ℓ + 1 observations, in a ring."""
    missing: np.ndarray
    """Which of them are missing."""
    alpha: np.ndarray
    """Filtered probabilities of the same times."""
    density: np.ndarray
    """Densities of the same times, each row up to a factor, as they were when y_t arrived."""
    counters: np.ndarray
    """Observations seen, the present slot of the ring, and how many slots are taken."""
    log_likelihood: np.ndarray
    """Sum of the one-step predictive log densities."""


@kernel
def learn(geometry, table, settings, X, observed, state, filtered, predictive, trace):
    """Take in X one by one.

    Unless empty, `filtered` receives P(s_k | y_1..y_k) and `predictive` log p(y_k | y_1..y_{k−1}).
    """
    transmat, means, delta = state.transmat, state.means, state.delta
    half_precision, log_z, visits = state.half_precision, state.log_z, state.visits
    points, missing = state.points, state.missing
    alpha, density = state.alpha, state.density
    n, slots = len(delta), len(alpha)
    flat_X, flat_means = X.reshape((len(X), -1)), means.reshape((n, -1))
    flat_points = points.reshape((slots, -1))
    exponent, v, back, pair = np.empty(n), np.empty(n), np.empty(n), np.empty((n, n))
    k, slot, taken = state.counters
    row = 0
    for u in range(len(X)):
        k += 1
        before = slot
        slot = slot + 1 if slot + 1 < slots else 0
        taken = min(taken + 1, slots)
        missing[slot] = not observed[u]
        for q in range(flat_X.shape[1]):
            flat_points[slot, q] = flat_X[u, q] if observed[u] else flat_means[0, q]

        # The filter, under today's parameters.
        shift = 0.0
        if observed[u]:
            shift = -math.inf
            verbs.distances_from(geometry, X, u, means, exponent)
            for j in range(n):
                exponent[j] = -half_precision[j] * exponent[j] - log_z[j]
                shift = max(shift, exponent[j])
        scale = 0.0
        for j in range(n):
            mass = 0.0
            for i in range(n):
                mass += alpha[before, i] * transmat[i, j]
            density[slot, j] = math.exp(exponent[j] - shift) if observed[u] else 1.0
            alpha[slot, j] = mass * density[slot, j]
            scale += alpha[slot, j]
        inverse = 1.0 / scale
        for j in range(n):
            alpha[slot, j] *= inverse
        log_predictive = math.log(scale) + shift if observed[u] else 0.0
        state.log_likelihood[0] += log_predictive
        if len(predictive):
            predictive[u] = log_predictive
        if len(filtered):
            filtered[u] = alpha[slot]

        if taken == slots:
            # Back over the lag with the densities in store: ζ of the oldest pair in the ring.
            for j in range(n):
                v[j] = density[slot, j]
            learned = slot
            for _ in range(slots - 2):
                learned = learned - 1 if learned > 0 else slots - 1
                largest = 0.0
                for i in range(n):
                    mass = 0.0
                    for j in range(n):
                        mass += transmat[i, j] * v[j]
                    back[i] = density[learned, i] * mass
                    largest = max(largest, back[i])
                scale = 1.0 / largest if largest < 1e-100 else 1.0
                for i in range(n):
                    v[i] = back[i] * scale
            oldest = learned - 1 if learned > 0 else slots - 1
            total = 0.0
            for i in range(n):
                for j in range(n):
                    pair[i, j] = alpha[oldest, i] * transmat[i, j] * v[j]
                    total += pair[i, j]
            if not missing[learned]:
                inverse = 1.0 / total
                for i in range(n):
                    for j in range(n):
                        pair[i, j] *= inverse
                _transition_step(transmat, pair, visits, settings.gain)
                for j in range(n):
                    gamma = 0.0
                    for i in range(n):
                        gamma += pair[i, j]
                    visits[j] = min(visits[j] + gamma, settings.cap)
                    if gamma > NEGLIGIBLE:
                        tau = min(settings.gain * gamma / visits[j], 1.0)
                        kappa = max(2.0 * half_precision[j] * delta[j] / settings.dim, 1.0)
                        d2 = verbs.pull(geometry, means, j, points, learned, tau / kappa)
                        delta[j] = max(delta[j] + tau * (d2 - delta[j]), settings.least_delta)
                        half_precision[j], log_z[j] = half_precision_and_log_z(table, delta[j])
        if settings.trace_every and k % settings.trace_every == 0:
            record(
                trace, row, k, transmat, means, delta, half_precision,
                alpha[slot], visits, state.log_likelihood[0],
            )  # fmt: skip
            row += 1
    state.counters[0] = k
    state.counters[1] = slot
    state.counters[2] = taken


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
