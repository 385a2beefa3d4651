"""The law of each pair of neighbouring states given all observations."""

import numpy as np

from rhmm.inference.chain import Chain
from rhmm.inference.forward import forward
from rhmm.inference.reversal import smooth_back


def pair_posteriors(start, transition, log_density, lengths=None) -> np.ndarray:
    """ζ_{t|T}(i, j) = P(s_t = i, s_{t+1} = j | y_1..y_T), shape (T, N, N).

    The last time of a sequence has no successor: its slice is zero.
    """
    chain = Chain(start, transition, log_density, lengths)
    alpha, in_logs, _ = forward(chain)
    zeta = np.zeros((*alpha.shape, alpha.shape[1]))
    smooth_back(alpha, chain.transition_for(in_logs), in_logs, chain.ends, zeta)
    return zeta
