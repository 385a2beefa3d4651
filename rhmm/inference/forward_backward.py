"""Forward–backward: the law of each state given all observations, and the expected transitions."""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import copy_into, kernel, lean_kernel
from rhmm.inference.chain import Chain
from rhmm.inference.forward import forward, forward_pass, is_fragile
from rhmm.inference.reversal import smooth_back
from rhmm.threads import Map, spans_of_sequences

_SMALL = 1e-100
"""What goes back is scaled up when it falls below this."""
_BLOCK = 128
"""Times whose expected transitions are added up together, in vectors."""


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
    alpha, density, in_logs, log_likelihood = forward(chain)
    zeta_sum = np.zeros_like(chain.transition)
    if in_logs or is_fragile(chain.transition):
        transition = chain.transition_for(in_logs)
        smooth_back(alpha, transition, in_logs, chain.ends, zeta_sum[None])
    else:
        smooth_pass(alpha, density, chain.transition, chain.ends, zeta_sum)
    return Smoothed(alpha, zeta_sum, log_likelihood)


def smoothing_scaled(start, transition, density, shift, ends, each: Map = map) -> Smoothed | None:
    """The same from densities (T, N) whose rows were divided by their largest, e^`shift`.

    Nothing is checked. None where a zero of `transition` or an underflow asks for logarithms.
    `each` maps by several threads: many sequences are smoothed in parts.
    """
    if is_fragile(transition):
        return None
    gamma = np.empty_like(density)

    def smooth(span: tuple[int, int]) -> tuple[float, np.ndarray]:
        first, last = span
        begin = int(ends[first - 1]) if first else 0
        rows = slice(begin, int(ends[last - 1]))
        some, zeta_sum = ends[first:last] - begin, np.zeros_like(transition)
        alpha, here = gamma[rows], density[rows]
        found = forward_pass(start, transition, here, shift[rows], some, False, alpha)
        if not math.isnan(found):
            smooth_pass(alpha, here, transition, some, zeta_sum)
        return found, zeta_sum

    likelihoods, zeta_sums = zip(*each(smooth, spans_of_sequences(ends)), strict=True)
    log_likelihood = sum(likelihoods[1:], likelihoods[0])
    if math.isnan(log_likelihood):
        return None
    return Smoothed(gamma, sum(zeta_sums[1:], zeta_sums[0]), log_likelihood)


@kernel
def smooth_pass(alpha, density, transition, ends, zeta_sum):
    """Overwrite α by γ and add up ζ; every transition must be possible.

    γ_t(i) ∝ α_t(i) Σ_j A_ij v_j and ζ_t(i, j) ∝ α_t(i) A_ij v_j, where v_j is the density of all
    later observations given that the next state is j, up to a factor. With zeros in A a state that
    cannot be reached could outgrow the others in v until these underflow.
    """
    n = len(transition)
    v, mass, outer = np.empty(n), np.empty(n), np.zeros((n, n))
    shares, later = np.empty((n, _BLOCK)), np.empty((n, _BLOCK))
    begin, held = 0, np.int64(0)  # a plain 0 would be a type of its own for `_add_products`
    for end in ends:
        copy_into(v, density[end - 1])
        for t in range(end - 2, begin - 1, -1):
            total, largest = 0.0, 0.0
            for i in range(n):
                ahead = 0.0
                for j in range(n):
                    ahead += transition[i, j] * v[j]
                mass[i] = ahead
                total += alpha[t, i] * ahead
            inverse = 1.0 / total
            for i in range(n):
                share = alpha[t, i] * inverse
                alpha[t, i] = share * mass[i]
                shares[i, held], later[i, held] = share, v[i]
                v[i] = density[t, i] * mass[i]
                largest = max(largest, v[i])
            held += 1
            if held == _BLOCK:
                _add_products(shares, later, held, outer)
                held = np.int64(0)
            if largest < _SMALL:
                for i in range(n):
                    v[i] /= largest
        begin = end
    _add_products(shares, later, held, outer)
    for i in range(n):
        for j in range(n):
            zeta_sum[i, j] += outer[i, j] * transition[i, j]


@lean_kernel
def _add_products(shares, later, count, outer):
    """Add Σ_t ``shares[i, t] later[j, t]`` to ``outer[i, j]``.

    Four sums run side by side, in vectors. A compiler that may order sums itself orders them
    differently in each kernel that this is part of, and the one that a process loads first is used
    by all: results would depend on what was called before.
    """
    fours = count - count % 4
    for i in range(len(outer)):
        mine = shares[i]
        for j in range(len(outer)):
            other = later[j]
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for t in range(0, fours, 4):
                a += mine[t] * other[t]
                b += mine[t + 1] * other[t + 1]
                c += mine[t + 2] * other[t + 2]
                d += mine[t + 3] * other[t + 3]
            for t in range(fours, count):
                a += mine[t] * other[t]
            outer[i, j] += (a + b) + (c + d)
