"""σ and log Z as functions of δ inside kernels: a table with cubic Hermite interpolation.

An online learner turns a new δ into a new σ at every observation. The knots divide every octave of
δ evenly, so that the bits of δ tell between which of them it lies, without a logarithm. Slopes at
the knots are known exactly (∂ log Z/∂ log δ = δ²/Var d², and so on): cubics between them agree with
the direct computation to about ten digits.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel, lean_kernel
from rhmm.gaussian.radial import RadialGaussian
from rhmm.vector_math import log

SMALLEST_SIGMA, LARGEST_SIGMA = 1e-4, 20.0
_BITS = 44
"""The low bits of a fraction, of 52: they say where in its cell a number lies. The eight above them
say which cell that is, so an octave has 256."""
_PLACE, _PER_CELL = (1 << _BITS) - 1, 2.0**-_BITS


class RadialTable(NamedTuple):
    first: int
    """The bits of the first knot without the low ones; plus 1, they are those of the next."""
    knots: np.ndarray
    """δ/2σ² at the knots, and its slopes times the width of the cell on the left and on the right,
    then the same of log Z; shape (K, 6)."""
    ends: np.ndarray
    """The least and the largest δ, and the slopes of log Z by log δ there; shape (4,)."""


@lru_cache(maxsize=32)
def radial_table(law: RadialGaussian) -> RadialTable:
    """The table of a Gaussian law, for σ from 10⁻⁴ to 20."""
    at_ends = law.moments(np.array([SMALLEST_SIGMA, LARGEST_SIGMA]))
    first, last = (at_ends.delta.view(np.int64) >> _BITS).tolist()
    knots = (np.arange(first - 1, last + 3) << _BITS).view(float)
    before, delta, after = knots[:-2], knots[1:-1], knots[2:]
    sigma = law.sigma(delta)
    moments = law.moments(sigma)
    ratio = 0.5 * delta / sigma**2
    ratio_slope = ratio / delta * (1.0 - 2.0 * delta * sigma**2 / moments.var_d2)
    log_z_slope = delta / moments.var_d2
    left, right = delta - before, after - delta
    columns = [
        ratio, left * ratio_slope, right * ratio_slope,
        moments.log_z, left * log_z_slope, right * log_z_slope,
    ]  # fmt: skip
    ends = np.concatenate([at_ends.delta, at_ends.delta**2 / at_ends.var_d2])
    return RadialTable(first, np.stack(columns, axis=1), ends)


@lean_kernel
def half_precision_and_log_z(table, delta):
    """1/2σ² and log Z(σ) of the Gaussian with E[d²] = δ.

    Beyond the table δ/2σ² stays as it is at the end and log Z goes on straight in log δ: on
    Euclidean space, where data may have any scale, that is exact.
    """
    knots, ends = table.knots, table.ends
    inside = min(max(delta, ends[0]), ends[1])
    bits = np.float64(inside).view(np.int64)
    knot = min(max((bits >> _BITS) - table.first, 0), len(knots) - 2)  # δ may be NaN
    x = (bits & _PLACE) * _PER_CELL
    rest = 1.0 - x
    # The Hermite cubics: values at both ends, then slopes at both ends.
    left, right = (1.0 + 2.0 * x) * rest * rest, (1.0 + 2.0 * rest) * x * x
    rise, fall = x * rest * rest, x * x * rest
    low, high = knots[knot], knots[knot + 1]
    ratio = (left * low[0] + right * high[0]) + (rise * low[2] - fall * high[1])
    log_z = (left * low[3] + right * high[3]) + (rise * low[5] - fall * high[4])
    if inside != delta:
        log_z += (ends[2] if delta < inside else ends[3]) * log(delta / inside)
    return ratio / delta, log_z


@kernel
def half_precisions_and_log_zs(table, delta, half_precision, log_z):
    """The same of several Gaussians, for Python; all arrays have shape (N,)."""
    for i in range(len(delta)):
        half_precision[i], log_z[i] = half_precision_and_log_z(table, delta[i])
