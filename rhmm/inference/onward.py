"""The forward recursion in pieces: what it carries from one to the next is a law, and nothing is
rounded twice. So the pieces change no digit.
"""

import math

import numpy as np

from rhmm._jit import kernel


@kernel
def filter_onward(predicted, transition, log_density, filtered, predictive):
    """Go on from the law `predicted` (N,) of the first state of a piece given all before it.

    `log_density` has shape (T, N), a row of NaN is a missing observation. Writes the laws of the
    states given the past and the present into `filtered` (T, N), and the log densities of the
    observations given the past, 0 where one is missing, into `predictive` (T,). Returns the
    predicted law of the state after the piece.
    """
    size, n = filtered.shape
    law, joint = predicted.copy(), np.empty(n)
    for t in range(size):
        predictive[t] = 0.0
        if not math.isnan(log_density[t, 0]):
            largest = -math.inf
            for j in range(n):
                joint[j] = math.log(law[j]) + log_density[t, j] if law[j] > 0.0 else -math.inf
                largest = max(largest, joint[j])
            total = 0.0
            for j in range(n):
                law[j] = math.exp(joint[j] - largest)
                total += law[j]
            for j in range(n):
                law[j] /= total
            predictive[t] = largest + math.log(total)
        for j in range(n):
            filtered[t, j] = law[j]
        for j in range(n):
            joint[j] = 0.0
            for i in range(n):
                joint[j] += law[i] * transition[i, j]
        for j in range(n):
            law[j] = joint[j]
    return law
