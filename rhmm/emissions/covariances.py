"""Covariance matrices of N states in D dimensions, kept as small as their kind allows.

The kinds, their shapes and most of their names are hmmlearn's: ``"isotropic"`` (N,) is its
``"spherical"``, ``"diag"`` (N, D), ``"tied"`` (D, D), ``"full"`` (N, D, D).
"""

import numpy as np

from rhmm.validation import LARGEST_MODERATE, SMALLEST_MODERATE, as_numbers

KINDS = ("isotropic", "diag", "tied", "full")
_AFTER = "student-"
"""What stands before the kind in the name of a heavy-tailed emission."""
STUDENT = "student"
"""The heavy-tailed emission without a preferred direction."""
STUDENTS = (STUDENT, *(_AFTER + kind for kind in KINDS[1:]))


def kind_of(emission: str) -> str:
    """The kind of the covariances of this emission."""
    return "isotropic" if emission == STUDENT else emission.removeprefix(_AFTER)


def shape_of(kind: str, n: int, dim: int) -> tuple[int, ...]:
    shapes = {"isotropic": (n,), "diag": (n, dim), "tied": (dim, dim), "full": (n, dim, dim)}
    return shapes[kind]


def n_free(kind: str, n: int, dim: int) -> int:
    """Free parameters."""
    of_one = dim * (dim + 1) // 2
    return {"isotropic": n, "diag": n * dim, "tied": of_one, "full": n * of_one}[kind]


def check(kind: str, value, n: int, dim: int) -> np.ndarray:
    """A copy of `value`, if these can be covariances; otherwise a ValueError."""
    value = as_numbers("covariances", value).copy()
    shape = shape_of(kind, n, dim)
    if value.shape != shape:
        raise ValueError(f"covariances must have shape {shape} if {kind!r}, not {value.shape}")
    if not np.isfinite(value).all():
        raise ValueError("covariances must be finite")
    if kind in ("isotropic", "diag"):
        least, most = value.min(), value.max()
    else:
        scale = np.abs(value).max()
        if not np.abs(value - np.swapaxes(value, -1, -2)).max() <= 1e-10 * scale:
            raise ValueError("covariances must be symmetric")
        value = 0.5 * (value + np.swapaxes(value, -1, -2))
        eigenvalues = np.linalg.eigvalsh(value)
        least, most = eigenvalues.min(), eigenvalues.max()
    if not (least >= SMALLEST_MODERATE**2 and most <= LARGEST_MODERATE):
        raise ValueError(
            f"covariances must be positive definite and moderate; their eigenvalues are from "
            f"{least:.3g} to {most:.3g}"
        )
    return value


def from_variances(kind: str, variances: np.ndarray, dim: int) -> np.ndarray:
    """Covariances without a preferred direction, from a variance for each state, shape (N,)."""
    if kind == "isotropic":
        return variances.copy()
    if kind == "diag":
        return np.repeat(variances[:, None], dim, axis=1)
    if kind == "tied":
        return variances.mean() * np.eye(dim)
    return variances[:, None, None] * np.eye(dim)


def estimated(
    kind: str,
    old: np.ndarray,
    scatter: np.ndarray,
    occupied: np.ndarray,
    alive: np.ndarray,
    prior_weight: float,
    prior_variance: float,
    least: float,
) -> np.ndarray:
    """The likeliest covariances under a prior and with no eigenvalue below `least`.

    `scatter` (N, D, D) is Σ w u uᵀ of each state, `occupied` (N,) its Σ w. The prior is one of
    `prior_weight` more observations whose scatter is `prior_variance` in every direction. States
    that are not `alive` (N,) keep their `old` covariances, unless these are tied.
    """
    dim = scatter.shape[1]
    added = prior_weight * prior_variance
    if kind == "tied":
        pooled = scatter.sum(axis=0) + added * np.eye(dim)
        return _raised(pooled / (occupied.sum() + prior_weight), least)
    new, count = old.copy(), occupied + prior_weight
    for i in np.flatnonzero(alive):
        if kind == "full":
            new[i] = _raised((scatter[i] + added * np.eye(dim)) / count[i], least)
        else:
            variances = np.diagonal(scatter[i])
            variances = variances.mean() if kind == "isotropic" else variances
            new[i] = np.maximum((variances + added) / count[i], least)
    return new


def _raised(matrix: np.ndarray, least: float) -> np.ndarray:
    """Symmetric, with eigenvalues of `least` at the least: the likeliest matrix with such."""
    matrix = 0.5 * (matrix + matrix.T)
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= least:
        return matrix
    return (vectors * np.maximum(values, least)) @ vectors.T


def matrices(kind: str, covariances: np.ndarray, n: int, dim: int) -> np.ndarray:
    """The same as full matrices, shape (N, D, D); a tied one is repeated without a copy."""
    if kind == "isotropic":
        return covariances[:, None, None] * np.eye(dim)
    if kind == "diag":
        return covariances[:, :, None] * np.eye(dim)
    return np.broadcast_to(covariances, (n, dim, dim))


def permuted(kind: str, covariances: np.ndarray, order: np.ndarray) -> np.ndarray:
    """With state ``order[i]`` renamed to i."""
    return covariances.copy() if kind == "tied" else covariances[order]
