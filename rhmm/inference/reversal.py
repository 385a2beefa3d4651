"""Going back in time: the reversed chain P(s_t = i | s_{t+1} = j, y_1..y_t) ∝ α_t(i) A_ij.

Its entries are probabilities and need no scaling: densities of e^{−100000}, zeros in `start` and
`transition` and 10⁷ observations are fine. Each kernel takes α, shape (T, N), and the transition
matrix as they are, or both as logarithms if `in_logs`.
"""

import math

import numpy as np

from rhmm._jit import kernel


@kernel
def reverse(alpha, t, transition, in_logs, reversal):
    """``reversal[j, i]`` = P(s_t = i | s_{t+1} = j, y_1..y_t); zero where j cannot be reached."""
    n = len(transition)
    for j in range(n):
        total = 0.0
        if in_logs:
            largest = -math.inf
            for i in range(n):
                largest = max(largest, alpha[t, i] + transition[i, j])
            for i in range(n):
                excess = alpha[t, i] + transition[i, j] - largest
                reversal[j, i] = math.exp(excess) if largest > -math.inf else 0.0
                total += reversal[j, i]
        else:
            for i in range(n):
                reversal[j, i] = alpha[t, i] * transition[i, j]
                total += reversal[j, i]
        scale = 1.0 / total if total > 0.0 else 0.0
        for i in range(n):
            reversal[j, i] *= scale


@kernel
def step_back(later, t, reversal, earlier, s):
    """γ in ``earlier[s]`` from γ one step later in ``later[t]``.

    It is scaled to sum to one, so that rounding errors do not add up over the steps.
    """
    n = len(reversal)
    total = 0.0
    for i in range(n):
        mass = 0.0
        for j in range(n):
            mass += later[t, j] * reversal[j, i]
        earlier[s, i] = mass
        total += mass
    scale = 1.0 / total
    for i in range(n):
        earlier[s, i] *= scale


@kernel
def to_probabilities(alpha, t, in_logs):
    """Row `t` as probabilities."""
    if in_logs:
        for i in range(alpha.shape[1]):
            alpha[t, i] = math.exp(alpha[t, i])


@kernel
def smooth_back(alpha, transition, in_logs, ends, zeta):
    """Overwrite α by γ and add ζ_t to ``zeta[t]``, shape (T, N, N).

    If `zeta` has a single slice, shape (1, N, N), it receives the sum over all times.
    """
    n = len(transition)
    each = len(zeta) > 1
    reversal = np.empty((n, n))
    begin = 0
    for end in ends:
        to_probabilities(alpha, end - 1, in_logs)
        for t in range(end - 2, begin - 1, -1):
            reverse(alpha, t, transition, in_logs, reversal)
            step_back(alpha, t + 1, reversal, alpha, t)
            out = zeta[t] if each else zeta[0]
            for j in range(n):
                for i in range(n):
                    out[i, j] += alpha[t + 1, j] * reversal[j, i]
        begin = end
