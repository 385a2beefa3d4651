"""A logarithm and an exponential that compilers vectorise.

The C library's functions are called once for each number. The same computations, written out
without branches, run on eight numbers at once: distances on curved spaces then cost about as much
as on flat ones. Terms of polynomials are added up in pairs, which do not wait for each other: on
groups of few numbers that is most of the time.
"""

import math

import numpy as np

from rhmm._jit import lean_kernel


@lean_kernel
def squared(x):
    """x²: `x**2` means a loop over the bits of its exponent, which takes long to compile."""
    return x * x


@lean_kernel
def log1p(x):
    """log(1 + x) for x > −1, within 2 units in the last place (the method of fdlibm's log).

    1 + x = 2^k m with m in [√½, √2); log m comes from the odd series in (m − 1)/(m + 1), and the
    rounding error of 1 + x is added at the end, so that small x keep all their digits.
    """
    u = 1.0 + x
    return _log(u, (x - (u - 1.0)) / u)


@lean_kernel
def log(x):
    """log(x) for x > 0 that is not subnormal, within 2 units in the last place."""
    return _log(x, 0.0)


@lean_kernel
def _log(u, lost):
    """log(u) + lost, where `lost` is small."""
    bits = np.float64(u).view(np.int64)
    k = (bits - 0x3FE6A09E667F3BCD) >> 52
    f = np.int64(bits - (k << 52)).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    z2 = z * z
    low = (6.666666666666735130e-01 + z * 3.999999999940941908e-01) + z2 * (
        2.857142874366239149e-01 + z * 2.222219843214978396e-01
    )
    high = (1.818357216161805012e-01 + z * 1.531383769920937332e-01) + z2 * 1.479819860511658591e-01
    series = z * (low + (z2 * z2) * high)
    half = 0.5 * f * f
    exponent = np.float64(k)
    rest = exponent * 1.90821492927058770002e-10 + lost
    return exponent * 6.93147180369123816490e-01 - ((half - (s * (half + series) + rest)) - f)


@lean_kernel
def exp(x):
    """e^x for x ≤ 0, within 2 units in the last place; below −700 it stays at e^{−700}.

    x = k log 2 + r with |r| ≤ log(2)/2; (e^r − 1 − r)/r² is a Chebyshev polynomial, within 1.1e-16
    of it, and 2^k is put together from bits.
    """
    x = max(x, -700.0)
    k = np.floor(x * 1.4426950408889634 + 0.5)
    r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
    r2 = r * r
    r4 = r2 * r2
    low = (0.5000000000000001 + r * 0.16666666666666669) + r2 * (
        0.04166666666662413 + r * 0.008333333333330062
    )
    high = (0.0013888888917213717 + r * 0.00019841269863053618) + r2 * (
        2.4801521295954376e-05 + r * 2.7557268459997064e-06
    )
    highest = 2.7620088445409746e-07 + r * 2.510038549551032e-08
    tail = low + r4 * (high + r4 * highest)
    power = np.int64((np.int64(k) + 1023) << 52).view(np.float64)
    return power * (1.0 + (r + r2 * tail))


@lean_kernel
def one_less_exp(x):
    """1 − e^{−x} for x ≥ 0, to all digits."""
    if x > 0.25:
        return 1.0 - exp(-x)
    # Σ (−x)^{k−1}/k! for k = 1..12, times x.
    x2 = x * x
    low = (1.0 - x * 0.5) + x2 * (1.0 / 6.0 - x * (1.0 / 24.0))
    high = (1.0 / 120.0 - x * (1.0 / 720.0)) + x2 * (1.0 / 5040.0 - x * (1.0 / 40320.0))
    highest = (1.0 / 362880.0 - x * (1.0 / 3628800.0)) + x2 * (
        1.0 / 39916800.0 - x * (1.0 / 479001600.0)
    )
    x4 = x2 * x2
    return x * (low + x4 * (high + x4 * highest))


@lean_kernel
def log_sinhc(x):
    """log(sinh(x)/x) for x ≥ 0, without overflow."""
    if x < 0.03:
        square = x * x
        return square * (1.0 / 6.0 - square * (1.0 / 180.0 - square * (1.0 / 2835.0)))
    return x + math.log1p(-math.exp(-2.0 * x)) - math.log(2.0 * x)
