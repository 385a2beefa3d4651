"""Models with wrapped Gaussians that tests share."""

import numpy as np

from rhmm import RiemannianHMM
from rhmm.emissions import STUDENTS
from rhmm.emissions.covariances import KINDS, kind_of, shape_of
from tests.brute_force import in_a_row

WRAPPED = (*KINDS, "student", "student-full")
"""Emissions that have covariances: one of each kind, and two of those with heavy tails."""


def random_covariances(kind: str, n: int, dim: int, rng, scale: float = 0.3) -> np.ndarray:
    """Covariances of a kind, or of an emission, whose standard deviations are around `scale`."""
    kind = kind_of(kind)
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
        degrees=5.0 if kind in STUDENTS else None,
    )


def spread_of(model) -> dict:
    """What `from_parameters` is told about the shape of states besides their means."""
    law = model.law_
    return {"emission": law.emission, "covariances": law.covariances, "degrees": law.degrees}


__all__ = ["KINDS", "WRAPPED", "random_covariances", "spread_of", "wrapped_model"]
