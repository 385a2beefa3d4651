"""Models with wrapped Gaussians that tests share."""

import numpy as np

from rhmm import RiemannianHMM
from rhmm.emissions.covariances import KINDS, shape_of
from tests.brute_force import in_a_row


def random_covariances(kind: str, n: int, dim: int, rng, scale: float = 0.3) -> np.ndarray:
    """Covariances of a kind whose standard deviations are around `scale`."""
    shape = shape_of(kind, n, dim)
    if kind in ("isotropic", "diag"):
        return rng.uniform(0.5, 1.5, shape) * scale**2
    factors = np.eye(dim) + 0.25 * rng.normal(size=shape)
    return scale**2 * factors @ np.swapaxes(factors, -1, -2)


def wrapped_model(manifold, kind: str, distances=(0.0, 2.0), scale=0.3, seed=0) -> RiemannianHMM:
    """States on one geodesic, at these distances from the origin, in a chain that stays."""
    n, rng = len(distances), np.random.default_rng(seed)
    return RiemannianHMM.from_parameters(
        manifold,
        np.full(n, 1.0 / n),
        np.full((n, n), 0.2 / n) + 0.8 * np.eye(n),
        in_a_row(manifold, distances),
        emission=kind,
        covariances=random_covariances(kind, n, manifold.dim, rng, scale),
    )


__all__ = ["KINDS", "random_covariances", "wrapped_model"]
