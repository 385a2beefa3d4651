"""Laws of d² in many digits, by formulas that the engine does not use."""

from typing import NamedTuple

import mpmath
from mpmath import mp, mpf


class Law(NamedTuple):
    log_z: float
    delta: float
    var_d2: float


def _from_derivatives(sigma, log_z, first, second) -> Law:
    """With first and second derivatives of log Z in σ: δ = σ³ Z′/Z and Var d² = σ³ dδ/dσ."""
    delta = sigma**3 * first
    return Law(
        float(log_z), float(delta), float(sigma**3 * (3 * sigma**2 * first + second * sigma**3))
    )


def hyperbolic_law(dim: int, sigma: float) -> Law:
    """The closed form in error functions; the engine integrates numerically."""
    with mpmath.workdps(60 + 4 * dim):
        sigma = mpf(sigma)
        value = first = second = mpf(0)
        for k in range(dim):
            p = mpf(dim - 1 - 2 * k)
            sign = (-1) ** k * mpmath.binomial(dim - 1, k)
            term = mp.exp(p**2 * sigma**2 / 2) * (1 + mp.erf(p * sigma / mp.sqrt(2)))
            edge = p * mp.sqrt(2 / mp.pi)
            value += sign * term
            first += sign * (p**2 * sigma * term + edge)
            second += sign * ((p**2 + p**4 * sigma**2) * term + p**2 * sigma * edge)
        sphere = 2 * mp.pi ** (mpf(dim) / 2) / mp.gamma(mpf(dim) / 2)
        log_z = mp.log(sphere * mp.sqrt(mp.pi / 2) * sigma * mpf(2) ** (1 - dim) * value)
        slope = 1 / sigma + first / value
        curvature = -1 / sigma**2 + second / value - (first / value) ** 2
        return _from_derivatives(sigma, log_z, slope, curvature)


def spd_law(size: int, sigma: float) -> Law:
    """From det E = Pf(E)² and tr(E⁻¹E′); the engine keeps a Chebyshev series."""
    with mpmath.workdps(40 + size**2):
        sigma, even = mpf(sigma), size + size % 2
        E, first, second = mp.zeros(even), mp.zeros(even), mp.zeros(even)
        for j in range(size):
            for k in range(size):
                lag = k - j
                E[j, k] = mp.erf(sigma * lag / 2)
                first[j, k] = lag * mp.exp(-((sigma * lag) ** 2) / 4) / mp.sqrt(mp.pi)
                second[j, k] = -sigma * lag**2 / 2 * first[j, k]
            if size % 2:
                E[j, size], E[size, j] = mpf(1), mpf(-1)
        inverse = E**-1
        turned = inverse * first
        log_pf = mp.log(mp.det(E)) / 2
        log_pf1 = _trace(turned) / 2
        log_pf2 = (_trace(inverse * second) - _trace(turned * turned)) / 2
        gamma = mp.pi ** (mpf(size * (size - 1)) / 4)
        for j in range(size):
            gamma *= mp.gamma(mpf(size - j) / 2)
        constant = mp.pi ** (mpf(size**2) / 2) / gamma * mpf(2) ** (mpf(size * (size - 1)) / 4)
        rise = mpf(size * (size**2 - 1)) / 24
        log_z = mp.log(constant * (2 * mp.pi * sigma**2) ** (mpf(size) / 2))
        return _from_derivatives(
            sigma,
            log_z + rise * sigma**2 + log_pf,
            size / sigma + 2 * rise * sigma + log_pf1,
            -size / sigma**2 + 2 * rise + log_pf2,
        )


def _trace(matrix):
    return mpmath.fsum(matrix[i, i] for i in range(matrix.rows))
