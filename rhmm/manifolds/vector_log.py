"""A logarithm that compilers vectorise.

The C library's log1p is called once per number; written out without branches the same computation
runs on eight numbers at once, which makes distances on curved spaces about as cheap as flat ones.
"""

import numpy as np

from rhmm._jit import kernel


@kernel
def log1p(x):
    """log(1 + x) for x > −1, within 2 units in the last place (the method of fdlibm's log).

    1 + x = 2^k m with m in [√½, √2); log m comes from the odd series in (m − 1)/(m + 1), and the
    rounding error of 1 + x is put back at the end, so small x keep all their digits.
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
