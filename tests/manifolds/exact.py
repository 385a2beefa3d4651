"""Distances in 50 digits, from the very numbers that the floats stand for."""

import mpmath
import numpy as np

DIGITS = 50


def ball_distance(x, y) -> float:
    """2 asinh(|y − x| / √((1 − |x|²)(1 − |y|²)))."""
    with mpmath.workdps(DIGITS):
        x, y = ([mpmath.mpf(float(a)) for a in point] for point in (x, y))
        separation = mpmath.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True))
        gaps = [1 - mpmath.fsum(a**2 for a in point) for point in (x, y)]
        return float(2 * mpmath.asinh(mpmath.sqrt(separation / (gaps[0] * gaps[1]))))


def spd_distance(x, y, digits: int = DIGITS) -> float:
    """√Σ log² of the eigenvalues of x⁻¹y."""
    with mpmath.workdps(digits):
        ratio = _whitened(mpmath.matrix(np.asarray(x).tolist()), mpmath.matrix(y.tolist()))[1]
        values = mpmath.eigsy(ratio, eigvals_only=True)
        return float(mpmath.norm([mpmath.log(v) for v in values]))


def spd_midpoint(x, y) -> np.ndarray:
    """x #_½ y."""
    with mpmath.workdps(DIGITS):
        lower, ratio = _whitened(mpmath.matrix(x.tolist()), mpmath.matrix(y.tolist()))
        values, vectors = mpmath.eigsy(ratio)
        root = vectors * mpmath.diag([mpmath.sqrt(v) for v in values]) * vectors.T
        middle = lower * root * lower.T
        rows = np.array(middle.tolist(), dtype=float)
        return 0.5 * (rows + rows.T)


def _whitened(x, y):
    lower = mpmath.cholesky(x)
    inverse = lower**-1
    ratio = inverse * y * inverse.T
    return lower, (ratio + ratio.T) / 2
