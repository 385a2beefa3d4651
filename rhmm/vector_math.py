"""A logarithm and an exponential that compilers vectorise.

The C library's functions are called once for each number. The same computations, written out
without branches, run on several numbers at once: distances on curved spaces then cost about as much
as on flat ones. Terms of polynomials are added up in pairs, which do not wait for each other: on
groups of few numbers that is most of the time. Divisions take longest, so no function has more than
one.
"""

import math

import numpy as np
from numba import types
from numba.extending import intrinsic

from rhmm._jit import lean_kernel

_LOG_2, _LOG_2_REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""log 2 in two parts: the first times a whole number has no rounding error."""
_BLOCK = 32
"""Weights that `drawn` adds up together."""


@intrinsic
def fma(context, x, y, z):
    """xy + z, rounded once. A compiler that may choose where to round once chooses differently in
    each kernel; here it is said."""

    def code(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), code


@lean_kernel
def squared(x):
    """x²: `x**2` means a loop over the bits of its exponent, which takes long to compile."""
    return x * x


@lean_kernel
def log1p(x):
    """log(1 + x) for x ≥ −1 + 10⁻¹⁵, within 2 units in the last place; small x keep all digits."""
    return log_one_more(x, 1.0)


@lean_kernel
def log_one_more(x, y):
    """log(1 + x/y) for y > 0 and x/y ≥ −1 + 10⁻¹⁵, within 2 units in the last place.

    The ratio is not computed: with m = 2^−k (x + y)/y, which is near 1, the numerator and the
    denominator of (m − 1)/(m + 1) both follow from x and y.
    """
    k = _exponent_of_ratio(x + y, y)
    scale = _power_of_two(-k)
    scaled = x * scale
    return _log_from(fma(y, scale - 1.0, scaled), fma(y, scale + 1.0, scaled), k)


@lean_kernel
def log(x):
    """log(x) for x > 0 that is not subnormal, within 2 units in the last place."""
    k = _exponent_of_ratio(x, 1.0)
    m = x * _power_of_two(-k)
    return _log_from(m - 1.0, m + 1.0, k)


@lean_kernel
def _exponent_of_ratio(x, y):
    """A whole number k with 2/3 ≤ 2^−k x/y ≤ 3/2: the bits of a number are nearly its logarithm."""
    return (np.float64(x).view(np.int64) - np.float64(y).view(np.int64) + (1 << 51)) >> 52


@lean_kernel
def _power_of_two(k):
    return np.int64((1023 + k) << 52).view(np.float64)


@lean_kernel
def _log_from(numerator, denominator, k):
    """k log 2 + log m from (m − 1)/(m + 1), which is s with |s| ≤ 1/5.

    log m = 2s + s³ P(s²), and P is the polynomial with the least error, 6e-17 of log m.
    """
    s = numerator / denominator
    z = s * s
    z2 = z * z
    low = fma(
        z2,
        fma(z, 0.22222182495222182438, 0.28571428838688964543),
        fma(z, 0.3999999999932647816, 0.66666666666666943691),
    )
    high = fma(z2, 0.15120984533780677558, fma(z, 0.15283403415336062553, 0.18184623789574476893))
    exponent = np.float64(k)
    rest = fma(s * z, fma(z2 * z2, high, low), exponent * _LOG_2_REST)
    return fma(exponent, _LOG_2, fma(2.0, s, rest))


@lean_kernel
def exp(x):
    """e^x for x ≤ 0, within 2 units in the last place; below −700 it stays at e^{−700}.

    x = k log 2 + r with |r| ≤ log(2)/2; (e^r − 1 − r)/r² is a Chebyshev polynomial, within 1.1e-16
    of it, and 2^k is put together from bits.
    """
    x = max(x, -700.0)
    k = np.floor(fma(x, 1.4426950408889634, 0.5))
    r = fma(k, -_LOG_2_REST, fma(k, -_LOG_2, x))
    r2 = r * r
    r4 = r2 * r2
    low = fma(
        r2,
        fma(r, 0.008333333333330062, 0.04166666666662413),
        fma(r, 0.16666666666666669, 0.5000000000000001),
    )
    high = fma(
        r2,
        fma(r, 2.7557268459997064e-06, 2.4801521295954376e-05),
        fma(r, 0.00019841269863053618, 0.0013888888917213717),
    )
    highest = fma(r, 2.510038549551032e-08, 2.7620088445409746e-07)
    tail = fma(r4, fma(r4, highest, high), low)
    return _power_of_two(np.int64(k)) * (1.0 + fma(r2, tail, r))


@lean_kernel
def one_less_exp(x):
    """1 − e^{−x} for x ≥ 0, to all digits."""
    if x > 0.25:
        return 1.0 - exp(-x)
    # Σ (−x)^{k−1}/k! for k = 1..12, times x.
    x2 = x * x
    low = fma(x2, fma(x, -1.0 / 24.0, 1.0 / 6.0), fma(x, -0.5, 1.0))
    high = fma(x2, fma(x, -1.0 / 40320.0, 1.0 / 5040.0), fma(x, -1.0 / 720.0, 1.0 / 120.0))
    highest = fma(
        x2, fma(x, -1.0 / 479001600.0, 1.0 / 39916800.0), fma(x, -1.0 / 3628800.0, 1.0 / 362880.0)
    )
    x4 = x2 * x2
    return x * fma(x4, fma(x4, highest, high), low)


@lean_kernel
def dot(x, y, count):
    """Σ_t x_t y_t of so many numbers.

    Eight sums run side by side, in vectors. A compiler that may order sums itself orders them
    differently in each kernel that this is part of, and the one that a process loads first is used
    by all: results would depend on what was called before.
    """
    eights = count - count % 8
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for t in range(0, eights, 8):
        a += x[t] * y[t]
        b += x[t + 1] * y[t + 1]
        c += x[t + 2] * y[t + 2]
        d += x[t + 3] * y[t + 3]
        e += x[t + 4] * y[t + 4]
        f += x[t + 5] * y[t + 5]
        g += x[t + 6] * y[t + 6]
        h += x[t + 7] * y[t + 7]
    for t in range(eights, count):
        a += x[t] * y[t]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@lean_kernel
def total(x):
    """Σ_t x_t, in the same order."""
    eights = len(x) - len(x) % 8
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for t in range(0, eights, 8):
        a += x[t]
        b += x[t + 1]
        c += x[t + 2]
        d += x[t + 3]
        e += x[t + 4]
        f += x[t + 5]
        g += x[t + 6]
        h += x[t + 7]
    for t in range(eights, len(x)):
        a += x[t]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@lean_kernel
def drawn(weights, whole, uniform):
    """The index where the sum of weights reaches this share of the whole."""
    target, reached, first = whole * uniform, 0.0, 0
    while first + _BLOCK <= len(weights):  # whole blocks, whose sums run in vectors
        following = reached + total(weights[first : first + _BLOCK])
        if following >= target:
            break
        reached, first = following, first + _BLOCK
    for t in range(first, len(weights)):
        reached += weights[t]
        if reached >= target and weights[t] > 0.0:
            return t
    return len(weights) - 1


@lean_kernel
def log_sinhc(x):
    """log(sinh(x)/x) for x ≥ 0, without overflow."""
    if x < 0.03:
        square = x * x
        return square * (1.0 / 6.0 - square * (1.0 / 180.0 - square * (1.0 / 2835.0)))
    return x + math.log1p(-math.exp(-2.0 * x)) - math.log(2.0 * x)
