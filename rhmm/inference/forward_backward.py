"""Forward–backward: the law of each state given all observations, and the expected transitions."""

import math
from typing import NamedTuple

import numpy as np

from rhmm.inference.both_ways import smooth
from rhmm.inference.chain import Chain
from rhmm.inference.forward import forward, is_fragile, scaled_rows
from rhmm.inference.reversal import smooth_back
from rhmm.threads import Map, spans_of_sequences


class Smoothed(NamedTuple):
    """What `smoothing` finds."""

    gamma: np.ndarray
    """P(s_t = i | y_1..y_T), shape (T, N)."""
    zeta_sum: np.ndarray
    """Σ_t P(s_t = i, s_{t+1} = j | y_1..y_T), shape (N, N): the expected transitions."""
    log_likelihood: float
    """log p(y_1..y_T), summed over sequences."""


def smoothing(start, transition, log_density, lengths=None) -> Smoothed:
    """Forward–backward: the law of each state given all observations."""
    chain = Chain(start, transition, log_density, lengths)
    if not is_fragile(chain.transition):
        density = np.empty(chain.log_density.shape[::-1])
        shift = scaled_rows(chain.log_density, density.T)
        found = smoothing_scaled(chain.start, chain.transition, density, shift, chain.ends)
        if found is not None:
            return found
    alpha, in_logs, log_likelihood = forward(chain)
    zeta_sum = np.zeros_like(chain.transition)
    smooth_back(alpha, chain.transition_for(in_logs), in_logs, chain.ends, zeta_sum[None])
    return Smoothed(alpha, zeta_sum, log_likelihood)


def smoothing_scaled(start, transition, density, shift, ends, each: Map = map) -> Smoothed | None:
    """The same from densities (N, T) that were divided by the largest of each time, e^`shift`.

    Nothing is checked. None where a zero of `transition` or an underflow asks for logarithms.
    `each` maps by several threads: many sequences are smoothed in parts.
    """
    if is_fragile(transition):
        return None
    gamma, work = np.empty_like(density), np.empty((len(density) + 1, len(shift)))

    def smoothed(span: tuple[int, int]) -> tuple[float, np.ndarray]:
        zeta_sum = np.zeros_like(transition)
        found = smooth(start, transition, density, shift, ends, *span, gamma, work, zeta_sum)
        return found, zeta_sum

    likelihoods, zeta_sums = zip(*each(smoothed, spans_of_sequences(ends)), strict=True)
    log_likelihood = sum(likelihoods[1:], likelihoods[0])
    if math.isnan(log_likelihood):
        return None
    return Smoothed(gamma.T, sum(zeta_sums[1:], zeta_sums[0]), log_likelihood)
