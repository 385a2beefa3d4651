"""Fixed-lag smoothing: the law of each state given the past and a few later observations."""

import numpy as np

from rhmm._jit import copy_into, kernel
from rhmm.inference.chain import Chain
from rhmm.inference.forward import forward
from rhmm.inference.reversal import reverse, step_back, to_probabilities
from rhmm.validation import check_integer


def fixed_lag_smoothing(start, transition, log_density, lag, lengths=None) -> np.ndarray:
    """P(s_t = i | y_1..y_{t+lag}), shape (T, N): what is known `lag` observations later."""
    lag = check_integer("lag", lag, at_least=0)
    chain = Chain(start, transition, log_density, lengths)
    alpha, in_logs, _ = forward(chain)
    gamma = np.empty_like(alpha)
    _fixed_lag(alpha, chain.transition_for(in_logs), in_logs, chain.ends, lag, gamma)
    return gamma


@kernel
def _fixed_lag(alpha, transition, in_logs, ends, lag, gamma):
    n = len(transition)
    reversal = np.empty((n, n))
    later = np.empty((1, n))
    begin = 0
    for end in ends:
        for t in range(begin, end):
            last = min(t + lag, end - 1)
            copy_into(gamma[t], alpha[last])
            to_probabilities(gamma, t, in_logs)
            for s in range(last - 1, t - 1, -1):
                copy_into(later[0], gamma[t])
                reverse(alpha, s, transition, in_logs, reversal)
                step_back(later, 0, reversal, gamma, t)
        begin = end
