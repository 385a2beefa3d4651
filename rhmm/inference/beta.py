"""The backward recursion: the likelihood of the future given each state, the paper's β."""

import math

import numpy as np

from rhmm._jit import kernel
from rhmm.inference.chain import Chain, log_sum


def backward(start, transition, log_density, lengths=None) -> np.ndarray:
    """log β_{t|T}(i) = log p(y_{t+1}..y_T | s_t = i), shape (T, N)."""
    chain = Chain(start, transition, log_density, lengths)
    beta = np.empty_like(chain.log_density)
    _backward(chain.transition_for(True), chain.log_density, chain.ends, beta)
    return beta


@kernel
def _backward(log_transition, log_density, ends, log_beta):
    n = len(log_transition)
    terms = np.empty(n)
    begin = 0
    for end in ends:
        for t in range(end - 1, begin - 1, -1):
            for i in range(n):
                log_beta[t, i] = 0.0
                if t < end - 1:
                    for j in range(n):
                        density = log_density[t + 1, j]
                        terms[j] = log_transition[i, j] + log_beta[t + 1, j]
                        if not math.isnan(density):
                            terms[j] += density
                    log_beta[t, i] = log_sum(terms)
        begin = end
