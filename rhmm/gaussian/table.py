"""σ and log Z as functions of δ inside kernels: a table with cubic Hermite interpolation.

An online learner turns a new δ into a new σ at every observation. On a uniform grid in log δ the
slopes are known exactly (∂ log Z/∂ log δ = δ²/Var d², and so on), so cubics between the knots
agree with the direct computation to about ten digits.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel
from rhmm.gaussian.radial import RadialGaussian

SMALLEST_SIGMA, LARGEST_SIGMA = 1e-4, 20.0
_KNOTS = 3000


class RadialTable(NamedTuple):
    first: float
    """log δ of the first knot."""
    spacing: float
    ratio: np.ndarray
    """δ/2σ² at the knots, and its slope times the spacing, shape (K, 2)."""
    log_z: np.ndarray
    """log Z at the knots, and its slope times the spacing, shape (K, 2)."""


@lru_cache(maxsize=32)
def radial_table(law: RadialGaussian) -> RadialTable:
    """The table of a Gaussian law, for σ from 10⁻⁴ to 20."""
    ends = np.log(law.moments(np.array([SMALLEST_SIGMA, LARGEST_SIGMA])).delta)
    log_delta, spacing = np.linspace(*ends, _KNOTS, retstep=True)
    delta = np.exp(log_delta)
    sigma = law.sigma(delta)
    moments = law.moments(sigma)
    ratio = 0.5 * delta / sigma**2
    ratio_slope = ratio * (1.0 - 2.0 * delta * sigma**2 / moments.var_d2)
    log_z_slope = delta**2 / moments.var_d2
    return RadialTable(
        float(log_delta[0]),
        float(spacing),
        np.stack([ratio, spacing * ratio_slope], axis=1),
        np.stack([moments.log_z, spacing * log_z_slope], axis=1),
    )


@kernel
def _hermite(values, knot, x):
    rest = 1.0 - x
    return (
        (1.0 + 2.0 * x) * rest * rest * values[knot, 0]
        + x * rest * rest * values[knot, 1]
        + (1.0 + 2.0 * rest) * x * x * values[knot + 1, 0]
        - x * x * rest * values[knot + 1, 1]
    )


@kernel
def half_precision_and_log_z(table, delta):
    """1/2σ² and log Z(σ) of the Gaussian with E[d²] = δ; beyond the table its ends serve."""
    position = (math.log(delta) - table.first) / table.spacing
    position = min(max(position, 0.0), len(table.ratio) - 1.0)
    knot = min(int(position), len(table.ratio) - 2)
    x = position - knot
    return _hermite(table.ratio, knot, x) / delta, _hermite(table.log_z, knot, x)
