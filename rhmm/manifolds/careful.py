"""Cholesky factors and distances of ill-conditioned SPD matrices that keep their digits.

A factor computed in plain double precision has pivots with an absolute error; of the smallest
pivot of a matrix of condition 10¹² four digits remain. Here the factorisation runs on pairs of
numbers (high + low, about 32 digits) and only its result is rounded.
"""

import math

import numpy as np

from rhmm._jit import kernel

_MAX_SWEEPS = 60


@kernel
def _two_sum(a, b):
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@kernel
def _two_product(a, b):
    product = a * b
    split = 134217729.0 * a
    a_head = split - (split - a)
    a_tail = a - a_head
    split = 134217729.0 * b
    b_head = split - (split - b)
    b_tail = b - b_head
    error = ((a_head * b_head - product) + a_head * b_tail + a_tail * b_head) + a_tail * b_tail
    return product, error


@kernel
def _pair_minus_product(high, low, a_high, a_low, b_high, b_low):
    product, error = _two_product(a_high, b_high)
    error += a_high * b_low + a_low * b_high
    total, rest = _two_sum(high, -product)
    return _two_sum(total, rest + (low - error))


@kernel
def _pair_divide(high, low, d_high, d_low):
    quotient = high / d_high
    product, error = _two_product(quotient, d_high)
    rest = ((high - product) - error) + low - quotient * d_low
    return _two_sum(quotient, rest / d_high)


@kernel
def cholesky(x, lower):
    """``x = L Lᵀ``, computed to twice the working precision from the lower triangle of `x`.

    Returns the smallest pivot relative to its diagonal entry: a measure, independent of scale, of
    how far `x` is from being singular. If it is not positive, `x` is not positive definite.
    """
    m = len(x)
    rest = np.zeros((m, m))
    lower[:] = 0.0
    margin = math.inf
    for j in range(m):
        for i in range(j, m):
            high, low = x[i, j], 0.0
            for k in range(j):
                high, low = _pair_minus_product(
                    high, low, lower[i, k], rest[i, k], lower[j, k], rest[j, k]
                )
            if i == j:
                margin = min(margin, high / x[j, j]) if x[j, j] > 0.0 else -1.0
                if not margin > 0.0:
                    return -1.0
                root = math.sqrt(high)
                product, error = _two_product(root, root)
                lower[j, j], rest[j, j] = _two_sum(
                    root, ((high - product) - error + low) / (2.0 * root)
                )
            else:
                lower[i, j], rest[i, j] = _pair_divide(high, low, lower[j, j], rest[j, j])
    return margin


@kernel
def quick_cholesky(x, lower):
    """`cholesky` in plain double precision, for matrices that turn out to be well-conditioned."""
    m = len(x)
    margin = math.inf
    for j in range(m):
        for i in range(j, m):
            total = x[i, j]
            for k in range(j):
                total -= lower[i, k] * lower[j, k]
            if i == j:
                margin = min(margin, total / x[j, j]) if x[j, j] > 0.0 else -1.0
                if not margin > 0.0:
                    return -1.0
                lower[j, j] = math.sqrt(total)
            else:
                lower[i, j] = total / lower[j, j]
    return margin


@kernel
def solve_lower(lower, x):
    """``L⁻¹ X`` in place."""
    m = len(lower)
    for i in range(m):
        for j in range(x.shape[1]):
            total = x[i, j]
            for k in range(i):
                total -= lower[i, k] * x[k, j]
            x[i, j] = total / lower[i, i]


@kernel
def careful_dist2(x, y):
    """d²(x, y) = 4 Σ log² of the singular values of L_x⁻¹ L_y, by one-sided Jacobi rotations."""
    m = len(x)
    lower, columns = np.empty((m, m)), np.empty((m, m))
    cholesky(x, lower)
    cholesky(y, columns)
    solve_lower(lower, columns)
    for _ in range(_MAX_SWEEPS):
        worst = 0.0
        for p in range(m - 1):
            for q in range(p + 1, m):
                pp, qq, pq = 0.0, 0.0, 0.0
                for k in range(m):
                    pp += columns[k, p] ** 2
                    qq += columns[k, q] ** 2
                    pq += columns[k, p] * columns[k, q]
                worst = max(worst, abs(pq) / math.sqrt(pp * qq))
                if abs(pq) > 1e-17 * math.sqrt(pp * qq):
                    cot = (qq - pp) / (2.0 * pq)
                    tangent = math.copysign(1.0, cot) / (abs(cot) + math.sqrt(1.0 + cot * cot))
                    cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
                    sine = tangent * cosine
                    for k in range(m):
                        a, b = columns[k, p], columns[k, q]
                        columns[k, p] = cosine * a - sine * b
                        columns[k, q] = sine * a + cosine * b
        if worst < 1e-15:
            break
    total = 0.0
    for p in range(m):
        norm2 = 0.0
        for k in range(m):
            norm2 += columns[k, p] ** 2
        total += math.log(norm2) ** 2
    return total
