"""Viterbi's algorithm: the single most probable path."""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel
from rhmm.inference.chain import Chain, log_of


class Decoded(NamedTuple):
    """What `viterbi` finds."""

    log_probability: float
    """log p(y_1..y_T, path), summed over sequences."""
    path: np.ndarray
    """The most probable sequence of states, shape (T,)."""


def viterbi(start, transition, log_density, lengths=None) -> Decoded:
    """The single most probable path through the states."""
    chain = Chain(start, transition, log_density, lengths)
    path = np.empty(len(chain.log_density), dtype=np.int64)
    log_start, log_transition = log_of(chain.start), chain.transition_for(True)
    total = _viterbi(log_start, log_transition, chain.log_density, chain.ends, path)
    if total == -math.inf:
        raise ValueError("the observations are impossible: every path has probability zero")
    return Decoded(total, path)


@kernel
def _viterbi(log_start, log_transition, log_density, ends, path):
    size, n = log_density.shape
    came_from = np.empty((size, n), np.uint16)
    score, previous = np.empty(n), np.empty(n)
    total = 0.0
    begin = 0
    for end in ends:
        for t in range(begin, end):
            for j in range(n):
                previous[j] = score[j]
            for j in range(n):
                best, origin = log_start[j], 0
                if t > begin:
                    best = previous[0] + log_transition[0, j]
                    for i in range(1, n):
                        candidate = previous[i] + log_transition[i, j]
                        if candidate > best:
                            best, origin = candidate, i
                came_from[t, j] = origin
                density = log_density[t, j]
                score[j] = best if math.isnan(density) else best + density
        if end > begin:
            state = np.argmax(score)
            total += score[state]
            for t in range(end - 1, begin - 1, -1):
                path[t] = state
                state = came_from[t, state]
        begin = end
    return total
