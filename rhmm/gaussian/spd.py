"""The Riemannian Gaussian of P_m: its moments for every m and σ, and an exact sampler.

Z(σ) is a Pfaffian of error functions (Santilli and Tierz; Heuveline, Said and Mostajeran) that
loses all digits of double precision at small σ. Its departure from flatness,
h(σ²) = log Z − (n/2) log 2πσ² with n = m(m+1)/2, is smooth and vanishes at 0. We evaluate it once
for each m in multiple precision and keep its Chebyshev series; δ = nσ² + 2σ⁴h′ and
Var d² = 2σ⁴(n + 4σ²h′ + 2σ⁴h″) follow without loss.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from threading import Lock
from typing import Any

import mpmath
import numpy as np
from numpy.polynomial import Chebyshev
from scipy.special import erf

from rhmm._jit import copy_into, kernel
from rhmm.gaussian.radial import Moments, RadialGaussian
from rhmm.vector_math import squared

_LARGEST_VARIANCE = 9.0
"""The series serves σ² up to here; beyond it the Pfaffian is well-conditioned as it stands."""

_ONE_AT_A_TIME = Lock()


class SPDGaussian(RadialGaussian):
    """The Riemannian Gaussian of the affine-invariant metric on m×m matrices, m = `size`."""

    def __init__(self, size: int):
        self.size = size
        self.dim = size * (size + 1) // 2

    def moments(self, sigma):
        s = sigma**2
        h, h1, h2 = np.empty((3, len(s)))
        small = s <= _LARGEST_VARIANCE
        for out, series in zip((h, h1, h2), departure_series(self.size), strict=True):
            out[small] = series(s[small])
        h[~small], h1[~small], h2[~small] = departure_far(self.size, s[~small])
        n = self.dim
        return Moments(
            log_z=0.5 * n * np.log(2.0 * np.pi * s) + h,
            delta=n * s + 2.0 * s**2 * h1,
            var_d2=2.0 * s**2 * (n + 4.0 * s * h1 + 2.0 * s**2 * h2),
        )


@contextmanager
def _multiple_precision(m: int) -> Iterator[mpmath.MPContext]:
    """A context of mpmath with enough digits for P_m; mpmath's global precision stays as it is.

    One thread at a time, because all contexts share constants such as π.
    """
    with _ONE_AT_A_TIME:
        mp = mpmath.MPContext()
        mp.dps = 30 + m * m
        yield mp


@cache
def departure_series(m: int) -> tuple[Chebyshev, Chebyshev, Chebyshev]:
    """h and its first two derivatives in s = σ² on 0 ≤ s ≤ 9, as Chebyshev series."""
    count = 32 + 3 * m
    with _multiple_precision(m) as mp:
        angles = [mp.pi * (k + mp.mpf(1) / 2) / count for k in range(count)]
        half = mp.mpf(_LARGEST_VARIANCE) / 2
        values = [_departure(mp, m, half * (1 + mp.cos(angle))) for angle in angles]
        series = [
            2 * mp.fsum(v * mp.cos(j * a) for v, a in zip(values, angles, strict=True)) / count
            for j in range(count)
        ]
        series[0] /= 2
        chain = [series]
        for _ in range(2):
            chain.append([c / half for c in _differentiate(chain[-1])])
        domain = [0.0, _LARGEST_VARIANCE]
        h, slope, bend = (Chebyshev([float(c) for c in one], domain=domain) for one in chain)
        return h, slope, bend


def _differentiate(series: list) -> list:
    """Coefficients of the derivative of a Chebyshev series on [−1, 1]."""
    out: list[Any] = [0] * (len(series) + 1)
    for j in range(len(series) - 1, 0, -1):
        out[j - 1] = out[j + 1] + 2 * j * series[j]
    out[0] /= 2
    return out[: len(series) - 1]


def _departure(mp: mpmath.MPContext, m: int, s):
    """h(s) = log Z − (n/2) log 2πs."""
    root = mp.sqrt(s) / 2
    entries = [mp.erf(root * k) for k in range(m)]
    even = m + m % 2
    upper = [[mp.mpf(0)] * even for _ in range(even)]
    for j in range(m):
        for k in range(j + 1, m):
            upper[j][k] = entries[k - j]
        if m % 2:
            upper[j][m] = mp.mpf(1)
    n = m * (m + 1) // 2
    return (
        _log_constant(mp, m)
        - mp.mpf(n - m) / 2 * mp.log(2 * mp.pi * s)
        + s * m * (m * m - 1) / 24
        + mp.log(_pfaffian(upper))
    )


def _log_constant(mp: mpmath.MPContext, m: int):
    """log of π^{m²/2} 2^{m(m−1)/4} / Γ_m(m/2)."""
    log_gamma = mp.mpf(m * (m - 1)) / 4 * mp.log(mp.pi)
    log_gamma += mp.fsum(mp.loggamma(mp.mpf(m - j) / 2) for j in range(m))
    return mp.mpf(m * m) / 2 * mp.log(mp.pi) + mp.mpf(m * (m - 1)) / 4 * mp.log(2) - log_gamma


@cache
def log_constant(m: int) -> float:
    """`_log_constant` in double precision."""
    with _multiple_precision(m) as mp:
        return float(_log_constant(mp, m))


def _pfaffian(upper: list[list]):
    """Pfaffian of a skew-symmetric matrix given by its upper triangle, which is overwritten."""
    size = len(upper)
    product = upper[0][0] + 1
    for p in range(0, size, 2):
        pivot = upper[p][p + 1]
        product *= pivot
        for j in range(p + 2, size):
            a, b = upper[p][j] / pivot, upper[p + 1][j] / pivot
            for k in range(j + 1, size):
                upper[j][k] += b * upper[p][k] - a * upper[p + 1][k]
    return product


def departure_far(m: int, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """h, h′ and h″ at large s in double precision, from log Pf = ½ log det E."""
    size = m + m % 2
    order = np.arange(m)
    lag = (order[None, :] - order[:, None]).astype(float)
    s = s[:, None, None]
    skew, first, second = np.zeros((3, len(s), size, size))
    skew[:, :m, :m] = erf(0.5 * np.sqrt(s) * lag)
    if m % 2:
        skew[:, :m, m], skew[:, m, :m] = 1.0, -1.0
    # d/ds of erf(√s l/2) is l exp(−s l²/4) / (2 √(π s)).
    first[:, :m, :m] = lag * np.exp(-0.25 * s * lag**2) / (2.0 * np.sqrt(np.pi * s))
    second[:, :m, :m] = first[:, :m, :m] * (-0.25 * lag**2 - 0.5 / s)
    inverse_first = np.linalg.solve(skew, first)
    curved = np.linalg.solve(skew, second) - inverse_first @ inverse_first
    log_pf = 0.5 * np.linalg.slogdet(skew)[1]
    log_pf1 = 0.5 * np.trace(inverse_first, axis1=1, axis2=2)
    log_pf2 = 0.5 * np.trace(curved, axis1=1, axis2=2)
    power, slope = 0.25 * m * (m - 1), m * (m * m - 1) / 24.0
    s = s[:, 0, 0]
    h = log_constant(m) - power * np.log(2.0 * np.pi * s) + slope * s + log_pf
    return h, -power / s + slope + log_pf1, power / s**2 + log_pf2


def sample_eigenvalues(rng, law: SPDGaussian, sigma: float, size: int) -> np.ndarray:
    """Exact draws of the log-eigenvalues of c^{−½} y c^{−½}, shape (size, m).

    They come by rejection from the better of two envelopes. Their density is
    ∝ Π sinh(|x_ij|/2) exp(−Σ r_i²/2σ²) with x_ij = r_i − r_j.

    *Near*: eigenvalues of a symmetric Gaussian matrix. f(u) = log(sinh(√u/2)/(√u/2)) is concave in
    u = x², so its tangent at any u₀ bounds it; the slope widens the traceless part of the matrix,
    and u₀ is chosen to accept most. (The tangent at 0 alone accepts much less for m > 3.)
    *Far*: r_i ~ N(σ²p_i, σ²), p_i = i − (m−1)/2, accepted if ordered, with Π(1 − e^{−x_ij}).
    """
    logs = np.empty((size, law.size))
    near = _envelope_near(law, float(sigma))
    if near is not None:
        _sample_near(rng, sigma, *near, logs)
    else:
        _sample_far(rng, sigma, logs)
    return logs


@lru_cache(256)  # a stream is drawn in many short pieces
def _envelope_near(law: SPDGaussian, sigma: float) -> tuple[float, float, float] | None:
    """Spread, offset and slope of the best near envelope, or None where the far one is better."""
    m = law.size
    variance = sigma**2
    log_z = law.moments(np.array([sigma])).log_z[0]
    departure_here = log_z - 0.5 * law.dim * math.log(2.0 * math.pi * variance)
    tangents = np.concatenate([[0.0], np.geomspace(1e-3, 1e4, 300)])
    offsets, slopes = _tangent(tangents)
    precisions = 1.0 / variance - 2.0 * m * slopes
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.where(
            precisions > 0.0,
            departure_here
            + 0.5 * (law.dim - 1) * np.log(np.maximum(precisions, 0.0) * variance)
            - 0.5 * m * (m - 1) * offsets,
            -np.inf,
        )
    best = int(np.argmax(near))
    far = departure_here - (
        log_constant(m)
        - 0.5 * (law.dim - m) * math.log(2.0 * math.pi * variance)
        + variance * m * (m * m - 1) / 24.0
    )
    if max(near[best], far) < math.log(1e-8):
        raise ValueError(
            f"sigma={sigma:g} is out of reach of the exact sampler on {m}×{m} matrices: "
            "it would accept fewer than one draw in 10⁸"
        )
    if near[best] < far + math.log(5.0 * m):  # a far draw is faster by about that much
        return None
    return 1.0 / math.sqrt(precisions[best]), float(offsets[best]), float(slopes[best])


def _tangent(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Intercept and slope of the tangent to f(u) = log(sinh(√u/2)/(√u/2))."""
    half = np.maximum(0.5 * np.sqrt(u), 1e-4)
    value = half + np.log(-0.5 * np.expm1(-2.0 * half) / half)
    slope = (1.0 / np.tanh(half) - 1.0 / half) / (8.0 * half)
    slope = np.where(u < 1e-6, 1.0 / 24.0, slope)
    return np.where(u < 1e-6, 0.0, value - slope * u), slope


@kernel
def _sample_near(rng, sigma, spread, offset, slope, logs):
    size, m = logs.shape
    matrix = np.empty((m, m))
    for t in range(size):
        while True:
            # A Gaussian symmetric matrix, made tridiagonal (Dumitriu and Edelman): the same
            # eigenvalues in law. Then its trace is rescaled from `spread` to σ.
            matrix[:] = 0.0
            for i in range(m):
                matrix[i, i] = spread * rng.standard_normal()
                if i + 1 < m:
                    chi2 = 0.0
                    for _ in range(m - 1 - i):
                        chi2 += squared(rng.standard_normal())
                    matrix[i, i + 1] = spread * math.sqrt(0.5 * chi2)
                    matrix[i + 1, i] = matrix[i, i + 1]
            values = np.linalg.eigvalsh(matrix)
            mean = values.mean()
            values += mean * (sigma / spread - 1.0)
            log_accept = 0.0
            for i in range(m):
                for j in range(i):
                    x = abs(values[i] - values[j])
                    half = 0.5 * x
                    f = half * half / 6.0
                    if half > 1e-4:
                        f = half + math.log(-0.5 * math.expm1(-2.0 * half) / half)
                    log_accept += f - offset - slope * x * x
            if not math.log(rng.random()) > log_accept:  # so NaN ends the loop, too
                break
        copy_into(logs[t], values)


@kernel
def _sample_far(rng, sigma, logs):
    size, m = logs.shape
    for t in range(size):
        accepted = False
        while not accepted:
            accepted = True
            keep = 1.0
            for i in range(m):
                r = sigma**2 * (i - 0.5 * (m - 1)) + sigma * rng.standard_normal()
                logs[t, i] = r
                for j in range(i):
                    keep *= -math.expm1(logs[t, j] - r)
                if i > 0 and r <= logs[t, i - 1]:
                    accepted = False
                    break
            accepted = accepted and not rng.random() >= keep  # so NaN ends the loop, too
