"""The forward and the backward recursion in one loop.

Each step of a recursion waits for the one before it. The two do not wait for each other, so a
processor takes a step of both in the time of one. With up to four states what goes on from one time
to the next stays in variables (`rhmm.inference.few_states`).

Every transition must be possible, see `rhmm.inference.forward.is_fragile`. What is known of state i
at all times lies side by side, shape (N, T): what comes after the recursions runs in vectors.
"""

import math

import numpy as np

from rhmm._jit import kernel, lean_kernel
from rhmm.inference.few_states import (
    FEW,
    four_of,
    four_ones,
    four_rows,
    product_of,
    scaled,
    sum_of,
    transposed,
)
from rhmm.vector_math import dot

_SMALL, _TINY = 1e-30, 1e-200
"""Probabilities are scaled up when their sum falls below the first; below the second, digits may
have been lost."""
_UNLIKELY = 1e-100
"""What goes back is scaled up when its sum falls below this. The same holds for the product of the
scales so far, whose logarithm is then taken: times the next scale it stays a number."""
_BLOCK = 128
"""Times that are worked on together, in vectors."""


@kernel
def smooth(start, transition, density, shift, ends, first, last, gamma, work, zeta_sum):
    """Posteriors of the sequences from `first` to before `last`, which stop at `ends`.

    `density` (N, T) has been divided by the largest of each time, e^`shift`. Fills `gamma` (N, T)
    with γ_t(i), adds Σ ζ_t(i, j) to `zeta_sum`, and returns the log-likelihood, or NaN where an
    underflow asks for logarithms. `work` (N + 1, T) is working memory.
    """
    total = go_both_ways(start, transition, density, shift, ends, first, last, gamma, work)
    if not math.isnan(total):
        begin = ends[first - 1] if first > 0 else 0
        join(transition, density, begin, ends[last - 1], gamma, work, zeta_sum)
    return total


@kernel
def go_both_ways(start, transition, density, shift, ends, first, last, alpha, beta):
    """The recursions of `smooth`: α into `alpha` (N, T) and β into the first N rows of `beta`, both
    up to a factor for each time. Returns the log-likelihood.

    The last row of `beta` says by what factor β_t is larger than Σ_j A_ij p_j(y_{t+1}) β_{t+1}(j):
    1, unless that was scaled up, and 0 at the last time of a sequence, which no transition follows.
    """
    begin = ends[first - 1] if first > 0 else 0
    if len(transition) <= FEW:
        return _with_few_states(
            start, transition, density, shift, ends, first, last, begin, alpha, beta
        )
    return _with_many_states(
        start, transition, density, shift, ends, first, last, begin, alpha, beta
    )


@lean_kernel
def _with_few_states(start, transition, density, shift, ends, first, last, begin, alpha, beta):
    """States that are not there have probability 0. They read and write the row of the last state,
    before that state itself does.
    """
    most = len(transition) - 1
    y0, y1, y2, y3 = density[0], density[min(1, most)], density[min(2, most)], density[most]
    a0, a1, a2, a3 = alpha[0], alpha[min(1, most)], alpha[min(2, most)], alpha[most]
    b0, b1, b2, b3 = beta[0], beta[min(1, most)], beta[min(2, most)], beta[most]
    factors = beta[most + 1]
    ahead = four_rows(transition)
    back = transposed(ahead)
    total, product = 0.0, 1.0
    for s in range(first, last):
        end, scale = ends[s], 1.0
        law, mass, factor = four_of(start), four_ones(len(start)), 0.0
        for t in range(begin, end):
            joint = (y0[t] * law[0], y1[t] * law[1], y2[t] * law[2], y3[t] * law[3])
            scale = sum_of(joint)
            if scale < _SMALL:
                if scale < _TINY:
                    return math.nan
                joint = scaled(joint, 1.0 / scale)
                product *= scale
                scale = 1.0
                if product < _UNLIKELY:
                    total += math.log(product)
                    product = 1.0
            a3[t], a2[t], a1[t], a0[t] = joint[3], joint[2], joint[1], joint[0]
            law = product_of(joint, ahead)
            total += shift[t]
            u = end - 1 - (t - begin)
            b3[u], b2[u], b1[u], b0[u] = mass[3], mass[2], mass[1], mass[0]
            factors[u], factor = factor, 1.0
            v = (y0[u] * mass[0], y1[u] * mass[1], y2[u] * mass[2], y3[u] * mass[3])
            mass = product_of(v, back)
            size = sum_of(mass)
            if size < _UNLIKELY:
                factor = 1.0 / size
                mass = scaled(mass, factor)
        product *= scale
        if product < _UNLIKELY:
            total += math.log(product)
            product = 1.0
        begin = end
    return total + math.log(product)


@kernel
def _with_many_states(start, transition, density, shift, ends, first, last, begin, alpha, beta):
    """The same in arrays."""
    n = len(transition)
    law, mass, joint, v = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    total, product = 0.0, 1.0
    for s in range(first, last):
        end, scale, factor = ends[s], 1.0, 0.0
        for i in range(n):
            law[i], mass[i] = start[i], 1.0
        for t in range(begin, end):
            u, scale, size = end - 1 - (t - begin), 0.0, 0.0
            beta[n, u], factor = factor, 1.0
            for i in range(n):
                beta[i, u] = mass[i]
                joint[i], v[i] = density[i, t] * law[i], density[i, u] * mass[i]
                scale += joint[i]
            if scale < _SMALL:
                if scale < _TINY:
                    return math.nan
                for i in range(n):
                    joint[i] /= scale
                product *= scale
                scale = 1.0
                if product < _UNLIKELY:
                    total += math.log(product)
                    product = 1.0
            for i in range(n):
                alpha[i, t] = joint[i]
                coming, going = 0.0, 0.0
                for j in range(n):
                    coming += joint[j] * transition[j, i]
                    going += transition[i, j] * v[j]
                law[i], mass[i] = coming, going
                size += going
            if size < _UNLIKELY:
                factor = 1.0 / size
                for i in range(n):
                    mass[i] *= factor
            total += shift[t]
        product *= scale
        if product < _UNLIKELY:
            total += math.log(product)
            product = 1.0
        begin = end
    return total + math.log(product)


@kernel
def join(transition, density, begin, stop, gamma, beta, zeta_sum):
    """Turn α in `gamma` (N, T) into γ and add up ζ, from the time `begin` to before `stop`.

    Up to factors for each time, γ_t(i) = α_t(i) β_t(i) and ζ_t(i, j) = α_t(i) A_ij v_{t+1}(j),
    where v_t(j) = p_j(y_t) β_t(j).
    """
    n = len(transition)
    shares, later, outer = np.empty((n, _BLOCK)), np.zeros((n, _BLOCK)), np.zeros((n, n))
    inverse = np.empty(_BLOCK)
    for block in range(begin, stop, _BLOCK):
        _join_block(density, block, stop, gamma, beta, shares, later, inverse, outer)
    for i in range(n):
        for j in range(n):
            zeta_sum[i, j] += outer[i, j] * transition[i, j]


@lean_kernel
def _join_block(density, block, stop, gamma, beta, shares, later, inverse, outer):
    """γ of a block of times, which ends before `stop`, and what it adds to Σ ζ without A, `outer`
    (N, N). The two factors of ζ, `shares` and `later`, and `inverse` are working memory."""
    n, size, following = len(shares), min(_BLOCK, stop - block), min(_BLOCK, stop - 1 - block)
    for t in range(size):
        inverse[t] = 0.0
    for i in range(n):
        mine, ahead, v = gamma[i, block:], beta[i, block:], later[i]
        for t in range(size):
            inverse[t] += mine[t] * ahead[t]
        coming, ahead = density[i, block + 1 :], beta[i, block + 1 :]
        for t in range(following):
            v[t] = coming[t] * ahead[t]
    for t in range(size):
        inverse[t] = 1.0 / inverse[t]
    factors = beta[n, block:]
    for i in range(n):
        mine, ahead, share = gamma[i, block:], beta[i, block:], shares[i]
        for t in range(size):
            posterior = mine[t] * inverse[t]
            mine[t] = posterior * ahead[t]
            share[t] = posterior * factors[t]
    for i in range(n):
        for j in range(n):
            outer[i, j] += dot(shares[i], later[j], size)
