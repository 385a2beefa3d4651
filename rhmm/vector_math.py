"""A logarithm and an exponential that compilers vectorise.

The C library's functions are called once for each number. The same computations, written out
without branches, run on eight numbers at once: distances on curved spaces then cost about as much
as on flat ones.
"""

import math

import numpy as np

from rhmm._jit import lean_kernel


@lean_kernel
def log1p(x):
    """log(1 + x) for x > −1, within 2 units in the last place (the method of fdlibm's log).

    1 + x = 2^k m with m in [√½, √2); log m comes from the odd series in (m − 1)/(m + 1), and the
    rounding error of 1 + x is added at the end, so that small x keep all their digits.
    """
    u = 1.0 + x
    bits = np.float64(u).view(np.int64)
    k = (bits - 0x3FE6A09E667F3BCD) >> 52
    f = np.int64(bits - (k << 52)).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    series = z * (
        6.666666666666735130e-01
        + z
        * (
            3.999999999940941908e-01
            + z
            * (
                2.857142874366239149e-01
                + z
                * (
                    2.222219843214978396e-01
                    + z
                    * (
                        1.818357216161805012e-01
                        + z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01)
                    )
                )
            )
        )
    )
    half = 0.5 * f * f
    lost = (x - (u - 1.0)) / u
    exponent = np.float64(k)
    low = exponent * 1.90821492927058770002e-10 + lost
    return exponent * 6.93147180369123816490e-01 - ((half - (s * (half + series) + low)) - f)


@lean_kernel
def exp(x):
    """e^x for x ≤ 0, within 2 units in the last place; below −700 it stays at e^{−700}.

    x = k log 2 + r with |r| ≤ log(2)/2; e^r is a Taylor polynomial, 2^k is put together from bits.
    """
    x = max(x, -700.0)
    k = np.floor(x * 1.4426950408889634 + 0.5)
    r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
    tail = 1.0 / 6227020800.0
    tail = tail * r + 1.0 / 479001600.0
    tail = tail * r + 1.0 / 39916800.0
    tail = tail * r + 1.0 / 3628800.0
    tail = tail * r + 1.0 / 362880.0
    tail = tail * r + 1.0 / 40320.0
    tail = tail * r + 1.0 / 5040.0
    tail = tail * r + 1.0 / 720.0
    tail = tail * r + 1.0 / 120.0
    tail = tail * r + 1.0 / 24.0
    tail = tail * r + 1.0 / 6.0
    tail = tail * r + 0.5
    power = np.int64((np.int64(k) + 1023) << 52).view(np.float64)
    return power * (1.0 + (r + r * r * tail))


@lean_kernel
def log_sinhc(x):
    """log(sinh(x)/x) for x ≥ 0, without overflow."""
    if x < 0.03:
        square = x * x
        return square * (1.0 / 6.0 - square * (1.0 / 180.0 - square * (1.0 / 2835.0)))
    return x + math.log1p(-math.exp(-2.0 * x)) - math.log(2.0 * x)
