"""Cholesky factors and distances of ill-conditioned SPD matrices that keep their digits.

A factor computed in plain double precision has pivots with an absolute error; of the smallest
pivot of a matrix of condition 10¹² four digits remain. Here the factorisation runs on pairs of
numbers (high + low, about 32 digits) and only its result is rounded.
"""

import math

import numpy as np

from rhmm._jit import copy_into, kernel
from rhmm.manifolds.blocks import diagonalise
from rhmm.vector_math import squared

_MAX_SWEEPS = 60
_SAFE = 1e-2
"""Plain double precision keeps the digits of a factor whose margin is larger."""
_FAR = 200
"""Powers of two from 1 at which rows and columns are scaled: squares and products may overflow."""
_TOO_FAR = 700
"""Powers of two from 1 at which a matrix is scaled as a whole, though small entries may vanish.
With `_FAR` more, squares of ratios and their rounding errors are still numbers."""


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
    """``x = L Lᵀ`` from the lower triangle of `x`, in pairs where plain numbers would lose digits.

    Returns the smallest pivot relative to its diagonal entry: a measure, independent of scale, of
    how far `x` is from being singular. If it is not positive, `x` is not positive definite.
    """
    margin = quick_cholesky(x, lower)
    if not margin > _SAFE:
        return _pair_cholesky(x, lower, np.zeros(x.shape))
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            lower[i, j] = 0.0
    return margin


@kernel
def _pair_cholesky(x, lower, rest):
    m = len(x)
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
    """The lower triangle of L and its margin in plain double precision, see `cholesky`."""
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
def _pair_solve(lower, lower_rest, x, rest):
    """``L⁻¹ X`` in place, on pairs."""
    m = len(lower)
    for i in range(m):
        for j in range(m):
            high, low = x[i, j], rest[i, j]
            for k in range(i):
                high, low = _pair_minus_product(
                    high, low, lower[i, k], lower_rest[i, k], x[k, j], rest[k, j]
                )
            x[i, j], rest[i, j] = _pair_divide(high, low, lower[i, i], lower_rest[i, i])


@kernel
def careful_logs(x, y, logs, frame):
    """Logarithms of the eigenvalues of L⁻¹ y L⁻ᵀ, x = LLᵀ, and its eigenvectors as columns.

    Where y is near x relative to its own spread, from the eigenvalues of L⁻¹(y − x)L⁻ᵀ; else from
    the singular values of L⁻¹L_y by one-sided Jacobi rotations. Both are computed in pairs.
    """
    m = len(x)
    units, shift = np.zeros(m, np.int64), np.int64(0)
    largest = np.int64(-10_000)
    for i in range(m):
        exponent = _exponent(x[i, i])
        units[i] = -(exponent // 2) if abs(exponent) > _FAR else 0
        largest = max(largest, _exponent(y[i, i]) + 2 * units[i])
    if abs(largest) > _TOO_FAR:
        shift = -largest
    may_be_near = abs(largest) <= _FAR
    x, y = _in_units(x, units, np.int64(0)), _in_units(y, units, shift)
    _logs_of_near(x, y, may_be_near, logs, frame)
    for i in range(m):
        logs[i] -= shift * math.log(2.0)


@kernel
def _exponent(number):
    """The binary exponent of a positive number."""
    return np.int64(math.frexp(number)[1])


@kernel
def _in_units(x, units, shift):
    """`x` with row and column i times ``2**units[i]``, and all of it times ``2**shift``.

    Powers of two change no digit, and distances of matrices that have the same units stay.
    """
    out = np.empty(x.shape)
    for i in range(len(x)):
        for j in range(len(x)):
            exponent = units[i] + units[j] + shift
            out[i, j] = math.ldexp(x[i, j], exponent) if exponent != 0 else x[i, j]
    return out


@kernel
def _logs_of_near(x, y, may_be_near, logs, frame):
    """`careful_logs` of matrices that fit into double precision; `may_be_near` says whether y has
    the size of x."""
    m = len(x)
    shape = (m, m)
    lower, lower_rest = np.empty(shape), np.zeros(shape)
    _pair_cholesky(x, lower, lower_rest)
    high, low = np.empty(shape), np.empty(shape)
    for i in range(m):
        for j in range(m):
            high[i, j], low[i, j] = _two_sum(y[i, j], -x[i, j])
    for _ in range(2):
        _pair_solve(lower, lower_rest, high, low)
        high, low = high.T.copy(), low.T.copy()
    block, rows = np.empty((m, m, 1)), np.empty((m, m, 1))
    for i in range(m):
        for j in range(m):
            block[i, j, 0] = 0.5 * (high[i, j] + high[j, i])
    diagonalise(block, rows, True, 1e-32)
    smallest, largest = math.inf, 0.0
    for i in range(m):
        smallest, largest = min(smallest, block[i, i, 0]), max(largest, block[i, i, 0])
    if may_be_near and 1.0 + smallest > 1e-4 * (1.0 + largest):
        for i in range(m):
            logs[i] = math.log1p(block[i, i, 0])
            copy_into(frame[:, i], rows[i, :, 0])
        return
    low[:] = 0.0
    _pair_cholesky(y, high, low)
    _pair_solve(lower, lower_rest, high, low)
    for i in range(m):
        for j in range(m):
            frame[i, j] = high[i, j]
    _rotate_columns(frame)
    for i in range(m):
        norm = math.sqrt((frame[:, i] ** 2).sum())
        logs[i] = 2.0 * math.log(norm)
        for j in range(m):
            frame[j, i] /= norm


@kernel
def careful_dist2(x, y):
    """d²(x, y) = Σ log² of the eigenvalues of x⁻¹y."""
    logs, frame = np.empty(len(x)), np.empty(x.shape)
    careful_logs(x, y, logs, frame)
    return (logs**2).sum()


@kernel
def _rotate_columns(columns):
    """One-sided Jacobi: make the columns orthogonal by rotations among them."""
    m = len(columns)
    for _ in range(_MAX_SWEEPS):
        worst = 0.0
        for p in range(m - 1):
            for q in range(p + 1, m):
                pp, qq, pq = 0.0, 0.0, 0.0
                for k in range(m):
                    pp += squared(columns[k, p])
                    qq += squared(columns[k, q])
                    pq += columns[k, p] * columns[k, q]
                both = math.sqrt(pp) * math.sqrt(qq)
                worst = max(worst, abs(pq) / both)
                if abs(pq) > 1e-17 * both:
                    cot = (qq - pp) / (2.0 * pq)
                    tangent = math.copysign(1.0, cot) / (abs(cot) + math.sqrt(1.0 + cot * cot))
                    cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
                    sine = tangent * cosine
                    for k in range(m):
                        a, b = columns[k, p], columns[k, q]
                        columns[k, p] = cosine * a - sine * b
                        columns[k, q] = sine * a + cosine * b
        if worst < 1e-15:
            return
