"""The Riemannian Gaussian of H^d: its moments for every d and σ, and an exact sampler."""

import math
from functools import lru_cache

import numpy as np

from rhmm._jit import kernel
from rhmm.gaussian.radial import Moments, RadialGaussian
from rhmm.vector_math import squared

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(100)
_LEAST_ACCEPTED = 1e-8
"""The share of draws that an envelope must accept: with fewer, a sample would take for ever."""
_ROUNDED = 1e-14
"""The rounding error of such a share's logarithm, relative to log Z."""


class HyperbolicGaussian(RadialGaussian):
    """The distance r to the mean has density ∝ sinh(r)^{d−1} exp(−r²/2σ²).

    Z is the integral of that, times the area of the sphere. The closed form in error functions
    cancels at small σ; the integrand is positive, so Gauss–Legendre quadrature does not.
    """

    def __init__(self, dim: int):
        self.dim = dim

    def moments(self, sigma):
        bend = self.dim - 1
        sigma = sigma[:, None]
        # The integrand is log-concave with a mode between these bounds and falls off at least as
        # fast as a Gaussian of width σ on both sides.
        pull = bend * sigma**2
        low = np.maximum(np.maximum(pull, np.sqrt(pull)) - 9.0 * sigma, 0.0)
        high = 0.5 * (pull + np.sqrt(pull * (pull + 4.0))) + 9.0 * sigma
        radius = 0.5 * ((high + low) + (high - low) * _NODES)
        log_sinh = radius + np.log(-0.5 * np.expm1(-2.0 * radius))
        log_density = bend * log_sinh - 0.5 * (radius / sigma) ** 2
        peak = log_density.max(axis=1, keepdims=True)
        mass = _WEIGHTS * np.exp(log_density - peak)
        total = mass.sum(axis=1)
        square = radius**2
        delta = (mass * square).sum(axis=1) / total
        spread = (mass * (square - delta[:, None]) ** 2).sum(axis=1) / total
        log_sphere = (
            math.log(2.0) + 0.5 * self.dim * math.log(math.pi) - math.lgamma(0.5 * self.dim)
        )
        log_z = log_sphere + peak[:, 0] + np.log(0.5 * (high - low)[:, 0] * total)
        return Moments(log_z, delta, spread)


def sample_radius(rng: np.random.Generator, law: HyperbolicGaussian, sigma, size) -> np.ndarray:
    """Exact draws of d(y, c), shape (size,), by rejection from the better of two envelopes.

    Small σ: a χ_d law, since sinh(r)/r ≤ exp(r²/6). Large σ: the normal law of mean (d − 1)σ²,
    since sinh(r) = e^r(1 − e^{−2r})/2. One or the other accepts at least three draws in four
    for d ≤ 10 (measured), and nine in ten on the disk. In hundreds of dimensions there are σ at
    which neither accepts enough, which are refused.
    """
    radii = np.empty(size)
    sample_radii(rng, law.dim, float(sigma), width_near(law, float(sigma)), radii)
    return radii


@lru_cache(256)  # a stream is drawn in many short pieces
def width_near(law: HyperbolicGaussian, sigma: float) -> float:
    """The scale of the χ law if it is the better envelope, else NaN.

    A ValueError says if neither is good enough, as for a σ that is NaN or infinite.
    """
    bend = law.dim - 1
    log_z = law.moments(np.array([sigma])).log_z[0]
    precision = 1.0 / sigma**2 - bend / 3.0
    accept_near = -math.inf
    if precision > 0.0:
        accept_near = log_z - 0.5 * law.dim * math.log(2.0 * math.pi / precision)
    log_sphere = math.log(2.0) + 0.5 * law.dim * math.log(math.pi) - math.lgamma(0.5 * law.dim)
    accept_far = log_z - (
        log_sphere
        - bend * math.log(2.0)
        + 0.5 * (bend * sigma) ** 2
        + 0.5 * math.log(2.0 * math.pi * sigma**2)
    )
    best = max(accept_near, accept_far) + _ROUNDED * abs(log_z)
    if not best >= math.log(_LEAST_ACCEPTED):
        raise ValueError(
            f"sigma={sigma:g} is out of reach of the exact sampler on H^{law.dim}: it would accept "
            "fewer than one draw in 10⁸"
        )
    return 1.0 / math.sqrt(precision) if accept_near >= accept_far else math.nan


@kernel
def sample_radii(rng, dim, sigma, near, radii):
    """Fill `radii`; `near` is `width_near` of σ."""
    if math.isnan(near):
        _sample_far(rng, dim, sigma, radii)
    else:
        _sample_near(rng, dim, near, radii)


@kernel
def _sample_near(rng, dim, scale, radii):
    for t in range(len(radii)):
        while True:
            r = 0.0
            for _ in range(dim):
                r += squared(rng.standard_normal())
            r = scale * math.sqrt(r)
            if dim == 1:
                break
            if r > 1e-4:
                log_accept = r + math.log(-0.5 * math.expm1(-2.0 * r) / r) - r * r / 6.0
                if math.log(rng.random()) > (dim - 1) * log_accept:
                    continue
            break
        radii[t] = r


@kernel
def _sample_far(rng, dim, sigma, radii):
    for t in range(len(radii)):
        while True:
            r = (dim - 1) * sigma**2 + sigma * rng.standard_normal()
            # A draw is taken unless it is to be refused, so that NaN ends the loop, too.
            if not (r <= 0.0 or rng.random() >= (-math.expm1(-2.0 * r)) ** (dim - 1)):
                break
        radii[t] = r
