"""Laws of the observations in each hidden state: the paper's, and Gaussians of any shape."""

import numpy as np

from rhmm.emissions import covariances as covariance_kinds
from rhmm.emissions.law import Law
from rhmm.emissions.riemannian import RIEMANNIAN, RiemannianGaussians
from rhmm.emissions.wrapped import Prior, WrappedGaussians
from rhmm.manifolds import Manifold
from rhmm.validation import check_choice

EMISSIONS = (RIEMANNIAN, *covariance_kinds.KINDS)

__all__ = [
    "EMISSIONS",
    "RIEMANNIAN",
    "Law",
    "Prior",
    "RiemannianGaussians",
    "WrappedGaussians",
    "check_emission",
    "check_law",
    "n_parameters",
]


def check_emission(emission: str) -> str:
    return check_choice("emission", emission, EMISSIONS)


def n_parameters(manifold: Manifold, emission: str, n: int) -> int:
    """Free parameters of n states: of π, A, the means and the spreads."""
    law = RiemannianGaussians if emission == RIEMANNIAN else WrappedGaussians
    of_laws = n * manifold.dim + law.n_of_spread(emission, n, manifold.dim)
    return (n - 1) + n * (n - 1) + of_laws


def check_law(manifold: Manifold, emission: str, n: int, means, sigmas, covariances) -> Law:
    """The laws of n states with these parameters; a ValueError names the first wrong one.

    `means` has shape (n, *point_shape). The paper's emission takes `sigmas` (n,), every other
    `covariances`, see `WrappedGaussians`.
    """
    check_emission(emission)
    means = manifold.points("means", means)
    if means.shape != (n, *manifold.point_shape):
        raise ValueError(f"means must hold {n} points, not an array of shape {means.shape}")
    if emission == RIEMANNIAN:
        _check_only("sigmas", sigmas, "covariances", covariances, emission)
        sigmas = manifold.check_sigma("sigmas", sigmas)
        if sigmas.shape != (n,):
            raise ValueError(f"sigmas must hold {n} numbers, not an array of shape {sigmas.shape}")
        return RiemannianGaussians(manifold, np.array(means), np.array(sigmas))
    _check_only("covariances", covariances, "sigmas", sigmas, emission)
    checked = covariance_kinds.check(emission, covariances, n, manifold.dim)
    return WrappedGaussians(manifold, np.array(means), emission, checked)


def _check_only(needed: str, value, other: str, unwanted, emission: str) -> None:
    if value is None or unwanted is not None:
        raise ValueError(f"{needed} must be given for emission={emission!r}, and no {other}")
