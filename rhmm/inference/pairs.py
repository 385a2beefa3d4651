"""The law of each pair of neighbouring states given all observations."""

import numpy as np

from rhmm._jit import kernel
from rhmm.inference.chain import Chain
from rhmm.inference.forward import forward
from rhmm.inference.reversal import reverse, step_back, to_probabilities


def pair_posteriors(start, transition, log_density, lengths=None) -> np.ndarray:
    """ζ_{t|T}(i, j) = P(s_t = i, s_{t+1} = j | y_1..y_T), shape (T, N, N).

    The last time of a sequence has no successor: its slice is zero.
    """
    chain = Chain(start, transition, log_density, lengths)
    alpha, in_logs, _ = forward(chain)
    zeta = np.zeros((*alpha.shape, alpha.shape[1]))
    _smooth_pairs(alpha, chain.transition_for(in_logs), in_logs, chain.ends, zeta)
    return zeta


@kernel
def _smooth_pairs(alpha, transition, in_logs, ends, zeta):
    """Overwrite α (or its logarithm) by γ and write down ζ of every time."""
    n = len(transition)
    reversal = np.empty((n, n))
    begin = 0
    for end in ends:
        to_probabilities(alpha, end - 1, in_logs)
        for t in range(end - 2, begin - 1, -1):
            reverse(alpha, t, transition, in_logs, reversal)
            step_back(alpha, t + 1, reversal, alpha, t)
            for j in range(n):
                for i in range(n):
                    zeta[t, i, j] = alpha[t + 1, j] * reversal[j, i]
        begin = end
