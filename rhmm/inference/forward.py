"""The forward recursion: the law of each state given the past and the present.

Probabilities are scaled at every step. Where that could lose a path for good (a probability
underflows, and zeros of the transition matrix forbid to come back another way) the recursion runs
again on logarithms.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import copy_into, kernel
from rhmm.inference.chain import Chain, log_of, log_sum

_TINY = 1e-200
"""A probability below this may have lost digits, or be about to underflow."""
_UNLIKELY = 1e-100
"""Where a transition is less likely than this, what underflowed may have been a state's only way
to be reached."""

_SMALL = 1e-30
"""Probabilities that go on are scaled up when their sum falls below this."""


class Forward(NamedTuple):
    """What the recursions that go back begin with."""

    alpha: np.ndarray
    """P(s_t = i | y_1..y_t), or its logarithm, shape (T, N)."""
    in_logs: bool
    """Whether `alpha` holds logarithms."""
    log_likelihood: float
    """log p(y_1..y_T), summed over sequences."""


class Filtered(NamedTuple):
    """What `filtering` finds."""

    alpha: np.ndarray
    """P(s_t = i | y_1..y_t), shape (T, N)."""
    log_likelihood: float
    """log p(y_1..y_T), summed over sequences."""


def filtering(start, transition, log_density, lengths=None) -> Filtered:
    """Forward recursion: the law of each state given the past and the present."""
    chain = Chain(start, transition, log_density, lengths)
    alpha, in_logs, log_likelihood = forward(chain)
    return Filtered(np.exp(alpha, out=alpha) if in_logs else alpha, log_likelihood)


def log_likelihood(start, transition, log_density, lengths=None) -> float:
    """log p(y_1..y_T), summed over sequences."""
    return filtering(start, transition, log_density, lengths).log_likelihood


def forward(chain: Chain) -> Forward:
    """The forward recursion on a checked chain."""
    density = np.empty_like(chain.log_density)
    shift = scaled_rows(chain.log_density, density)
    alpha, fragile = np.empty_like(density), is_fragile(chain.transition)
    total = _forward_pass(chain.start, chain.transition, density, shift, chain.ends, fragile, alpha)
    if not math.isnan(total):
        return Forward(alpha, False, total)
    total = _forward_logs(
        log_of(chain.start), chain.transition_for(True), chain.log_density, chain.ends, alpha
    )
    if total == -math.inf:
        raise ValueError("the observations are impossible: every path has probability zero")
    return Forward(alpha, True, total)


def scaled_rows(log_density: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Densities (T, N), each row divided by its largest, into `out`; returns the logarithms of
    these (T,)."""
    shift = np.empty(len(log_density))
    impossible = _scale_rows(log_density, out, shift)
    if impossible >= 0:
        raise ValueError(f"log_density[{impossible}] must be above -inf in some state")
    np.exp(out, out=out)
    return shift


def is_fragile(transition: np.ndarray) -> bool:
    """Whether what underflows at one time could matter at another."""
    return bool(transition.min() < _UNLIKELY)


@kernel
def _scale_rows(log_density, scaled, shift):
    """Subtract the largest entry of each row, which goes to `shift`; missing rows become zero.

    Returns the first row without an entry above −inf; −1 if there is none.
    """
    size, n = log_density.shape
    for t in range(size):
        largest = -math.inf
        missing = True
        for i in range(n):
            if not math.isnan(log_density[t, i]):
                missing = False
                largest = max(largest, log_density[t, i])
        if missing:
            largest = 0.0
        if math.isinf(largest):
            return t
        shift[t] = largest
        for i in range(n):
            scaled[t, i] = 0.0 if missing else log_density[t, i] - largest
    return -1


@kernel
def _forward_pass(start, transition, density, shift, ends, fragile, alpha):
    """Filtered probabilities from scaled densities, into `alpha`; returns the log-likelihood.

    `density` and `alpha` have shape (T, N), `shift` (T,), see `scaled_rows`. Returns NaN as soon as
    an underflow could matter. If all transitions are possible (not `fragile`), it never does: what
    was lost is at most 10⁻⁷⁰ of what came to the same state another way. What goes on to the next
    time is then scaled up only when it has become small, so that no step waits for a division.
    """
    n = len(start)
    predicted, joint = np.empty(n), np.empty(n)
    total = 0.0
    product = 1.0
    begin = 0
    for end in ends:
        copy_into(predicted, start)
        scale = 1.0
        for t in range(begin, end):
            scale = 0.0
            for j in range(n):
                joint[j] = density[t, j] * predicted[j]
                scale += joint[j]
                if fragile and predicted[j] > 0.0 and joint[j] < _TINY:
                    return math.nan
            if scale < _TINY:
                return math.nan
            inverse = 1.0 / scale
            for j in range(n):
                alpha[t, j] = joint[j] * inverse
            if fragile or scale < _SMALL:
                copy_into(joint, alpha[t])
                product *= scale
                scale = 1.0
                if product < _UNLIKELY:  # times the next scale it stays above 10⁻³⁰⁰
                    total += math.log(product)
                    product = 1.0
            for j in range(n):
                mass = 0.0
                for i in range(n):
                    mass += joint[i] * transition[i, j]
                predicted[j] = mass
            if fragile and t + 1 < end:
                for j in range(n):
                    if predicted[j] < _TINY:
                        for i in range(n):
                            if joint[i] > 0.0 and transition[i, j] > 0.0:
                                return math.nan
            total += shift[t]
        product *= scale
        if product < _UNLIKELY:
            total += math.log(product)
            product = 1.0
        begin = end
    return total + math.log(product)


@kernel
def _forward_logs(log_start, log_transition, log_density, ends, log_alpha):
    """Logarithms of the filtered probabilities; returns the log-likelihood."""
    n = len(log_start)
    terms = np.empty(n)
    total = 0.0
    begin = 0
    for end in ends:
        for t in range(begin, end):
            for j in range(n):
                predicted = log_start[j]
                if t > begin:
                    for i in range(n):
                        terms[i] = log_alpha[t - 1, i] + log_transition[i, j]
                    predicted = log_sum(terms)
                missing = math.isnan(log_density[t, j])
                log_alpha[t, j] = predicted if missing else predicted + log_density[t, j]
            scale = log_sum(log_alpha[t])
            if scale == -math.inf:
                return scale
            for j in range(n):
                log_alpha[t, j] -= scale
            total += scale
        begin = end
    return total
