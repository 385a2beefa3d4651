"""σ and log Z as functions of δ inside kernels: a table with cubic Hermite interpolation.

An online learner turns a new δ into a new σ at every observation. On a uniform grid in log δ the
slopes are known exactly (∂ log Z/∂ log δ = δ²/Var d², and so on), so cubics between the knots
agree with the direct computation to about ten digits.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel, lean_kernel
from rhmm.gaussian.radial import RadialGaussian
from rhmm.vector_math import log

SMALLEST_SIGMA, LARGEST_SIGMA = 1e-4, 20.0
_KNOTS = 3000


class RadialTable(NamedTuple):
    first: float
    """log δ of the first knot."""
    per_unit: float
    """Knots for each unit of log δ."""
    knots: np.ndarray
    """δ/2σ² and its slope, log Z and its slope at the knots, slopes by the knot; shape (K, 4)."""


@lru_cache(maxsize=32)
def radial_table(law: RadialGaussian) -> RadialTable:
    """The table of a Gaussian law, for σ from 10⁻⁴ to 20."""
    first, last = np.log(law.moments(np.array([SMALLEST_SIGMA, LARGEST_SIGMA])).delta)
    log_delta, spacing = np.linspace(first, last, _KNOTS, retstep=True)
    delta = np.exp(log_delta)
    sigma = law.sigma(delta)
    moments = law.moments(sigma)
    ratio = 0.5 * delta / sigma**2
    ratio_slope = ratio * (1.0 - 2.0 * delta * sigma**2 / moments.var_d2)
    log_z_slope = delta**2 / moments.var_d2
    columns = [ratio, spacing * ratio_slope, moments.log_z, spacing * log_z_slope]
    return RadialTable(float(log_delta[0]), 1.0 / float(spacing), np.stack(columns, axis=1))


@lean_kernel
def half_precision_and_log_z(table, delta):
    """1/2σ² and log Z(σ) of the Gaussian with E[d²] = δ.

    Beyond the table δ/2σ² stays as it is at the end and log Z goes on straight in log δ: on
    Euclidean space, where data may have any scale, that is exact.
    """
    knots = table.knots
    free = (log(delta) - table.first) * table.per_unit
    position = min(max(free, 0.0), len(knots) - 1.0)
    knot = min(int(position), len(knots) - 2)
    x = position - knot
    rest = 1.0 - x
    # The Hermite cubics: values at both ends, then slopes at both ends.
    left, right = (1.0 + 2.0 * x) * rest * rest, (1.0 + 2.0 * rest) * x * x
    rise, fall = x * rest * rest, x * x * rest
    low, high = knots[knot], knots[knot + 1]
    ratio = (left * low[0] + right * high[0]) + (rise * low[1] - fall * high[1])
    log_z = (left * low[2] + right * high[2]) + (rise * low[3] - fall * high[3])
    beyond = free - position
    if beyond > 0.0:
        log_z += beyond * knots[-1, 3]
    elif beyond < 0.0:
        log_z += beyond * knots[0, 3]
    return ratio / delta, log_z


@kernel
def half_precisions_and_log_zs(table, delta, half_precision, log_z):
    """The same of several Gaussians, for Python; all arrays have shape (N,)."""
    for i in range(len(delta)):
        half_precision[i], log_z[i] = half_precision_and_log_z(table, delta[i])
