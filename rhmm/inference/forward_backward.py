"""Forward–backward: the law of each state given all observations, and the expected transitions."""

from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel
from rhmm.inference.chain import Chain
from rhmm.inference.forward import forward
from rhmm.inference.reversal import smooth_back


class Smoothed(NamedTuple):
    gamma: np.ndarray
    """P(s_t = i | y_1..y_T), shape (T, N)."""
    zeta_sum: np.ndarray
    """Σ_t P(s_t = i, s_{t+1} = j | y_1..y_T), shape (N, N): the expected transitions."""
    log_likelihood: float
    """log p(y_1..y_T), summed over sequences."""


def smoothing(start, transition, log_density, lengths=None) -> Smoothed:
    """Forward–backward: the law of each state given all observations."""
    chain = Chain(start, transition, log_density, lengths)
    alpha, in_logs, log_likelihood = forward(chain)
    zeta_sum = np.zeros_like(chain.transition)
    if in_logs:
        smooth_back(alpha, chain.transition_for(True), True, chain.ends, zeta_sum[None])
    else:
        smooth_pass(alpha, chain.transition, chain.ends, zeta_sum)
    return Smoothed(alpha, zeta_sum, log_likelihood)


@kernel
def smooth_pass(alpha, transition, ends, zeta_sum):
    """Overwrite α by γ and add up ζ.

    γ_t(i) = α_t(i) Σ_j A_ij r_j with r_j = γ_{t+1}(j) / Σ_i α_t(i) A_ij.
    """
    n = len(transition)
    ratio, later, outer = np.empty(n), np.empty(n), np.zeros((n, n))
    begin = 0
    for end in ends:
        later[:] = alpha[end - 1]
        for t in range(end - 2, begin - 1, -1):
            for j in range(n):
                predicted = 0.0
                for i in range(n):
                    predicted += alpha[t, i] * transition[i, j]
                ratio[j] = later[j] / predicted if predicted > 0.0 else 0.0
            total = 0.0
            for i in range(n):
                mass = 0.0
                for j in range(n):
                    mass += transition[i, j] * ratio[j]
                    outer[i, j] += alpha[t, i] * ratio[j]
                later[i] = alpha[t, i] * mass
                total += later[i]
            scale = 1.0 / total  # 1 but for the slow drift of rounding
            for i in range(n):
                later[i] *= scale
                alpha[t, i] = later[i]
        begin = end
    for i in range(n):
        for j in range(n):
            zeta_sum[i, j] += outer[i, j] * transition[i, j]
