"""Laws of the observations in each hidden state: the paper's, and Gaussians and Student's laws of
any shape."""

import numpy as np

from rhmm.emissions import covariances as covariance_kinds
from rhmm.emissions.covariances import STUDENTS
from rhmm.emissions.law import Law, Prior, SummedLaw
from rhmm.emissions.riemannian import RIEMANNIAN, RiemannianGaussians
from rhmm.emissions.student import WrappedStudents
from rhmm.emissions.wrapped import WrappedGaussians
from rhmm.manifolds import Manifold
from rhmm.validation import check_choice, check_number

EMISSIONS = (RIEMANNIAN, *covariance_kinds.KINDS, *STUDENTS)
_LEAST_DEGREES = 0.1

__all__ = [
    "EMISSIONS",
    "RIEMANNIAN",
    "STUDENTS",
    "Law",
    "Prior",
    "RiemannianGaussians",
    "SummedLaw",
    "WrappedGaussians",
    "WrappedStudents",
    "check_degrees",
    "check_emission",
    "check_law",
    "free_parameters",
    "n_parameters",
]


def check_emission(emission: str) -> str:
    return check_choice("emission", emission, EMISSIONS)


def check_degrees(degrees) -> float:
    """Degrees of freedom ν; ∞ is the Gaussian's."""
    if np.ndim(degrees) == 0 and degrees == np.inf:
        return np.inf
    return check_number("degrees", degrees, at_least=_LEAST_DEGREES)


def free_parameters(manifold: Manifold, emission: str, n: int) -> dict[str, int]:
    """How many free parameters n states have, by name; heavy tails have one more."""
    law = RiemannianGaussians if emission == RIEMANNIAN else WrappedGaussians
    spread = "sigmas" if emission == RIEMANNIAN else "covariances"
    return {
        "startprob": n - 1,
        "transmat": n * (n - 1),
        "means": n * manifold.dim,
        spread: law.n_of_spread(emission, n, manifold.dim),
        "degrees": int(emission in STUDENTS),
    }


def n_parameters(manifold: Manifold, emission: str, n: int) -> int:
    """Free parameters of n states: of π, A, the means, the spreads and the tails."""
    return sum(free_parameters(manifold, emission, n).values())


def check_law(
    manifold: Manifold, emission: str, n: int, means, sigmas, covariances, degrees=None
) -> Law:
    """The laws of n states with these parameters; a ValueError names the first wrong one.

    `means` has shape (n, *point_shape). The paper's emission takes `sigmas` (n,), every other
    `covariances`, see `WrappedGaussians`; one with heavy tails takes `degrees` too.
    """
    check_emission(emission)
    means = manifold.points("means", means)
    if means.shape != (n, *manifold.point_shape):
        raise ValueError(f"means must hold {n} points, not an array of shape {means.shape}")
    if (degrees is None) == (emission in STUDENTS):
        wanted = "one number" if degrees is None else "None"
        raise ValueError(f"degrees must be {wanted} for emission={emission!r}, not {degrees!r}")
    if emission == RIEMANNIAN:
        _check_only("sigmas", sigmas, "covariances", covariances, emission)
        sigmas = manifold.check_sigma("sigmas", sigmas)
        if sigmas.shape != (n,):
            raise ValueError(f"sigmas must hold {n} numbers, not an array of shape {sigmas.shape}")
        return RiemannianGaussians(manifold, np.array(means), np.array(sigmas))
    _check_only("covariances", covariances, "sigmas", sigmas, emission)
    kind = covariance_kinds.kind_of(emission)
    given = (manifold, np.array(means), emission)
    checked = covariance_kinds.check(kind, covariances, n, manifold.dim)
    if degrees is None:
        return WrappedGaussians(*given, checked)
    return WrappedStudents(*given, checked, degrees=check_degrees(degrees))


def _check_only(needed: str, value, other: str, unwanted, emission: str) -> None:
    if value is None or unwanted is not None:
        raise ValueError(f"{needed} must be given for emission={emission!r}, and no {other}")
