"""What EM is told besides the observations: priors, forbidden transitions, labels, and parameters
that stay as they are."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from rhmm.emissions import RIEMANNIAN
from rhmm.validation import as_numbers, check_number

UNKNOWN = -1
"""The label of an observation whose state is not known."""


class Constraints(NamedTuple):
    """Checked, for N states and T observations."""

    added: np.ndarray | None = None
    """Transitions that are added to those expected, shape (N, N): a Dirichlet prior of each row."""
    allowed: np.ndarray | None = None
    """Which transitions are possible, shape (N, N); None for all."""
    frozen: frozenset[str] = frozenset()
    """Names of parameters that keep their values."""
    labels: np.ndarray | None = None
    """The state of each observation, shape (T,), or `UNKNOWN`."""

    def masked(self, transmat: np.ndarray) -> np.ndarray:
        """A (N, N) without forbidden transitions; rows that lose all go anywhere allowed."""
        if self.allowed is None:
            return transmat
        left = np.where(self.allowed, transmat, 0.0)
        sums = left.sum(axis=1, keepdims=True)
        flat = self.allowed / self.allowed.sum(axis=1, keepdims=True)
        return np.where(sums > 0.0, left / np.where(sums > 0.0, sums, 1.0), flat)

    def log_prior(self, transmat: np.ndarray) -> float:
        """Of A (N, N), up to a constant."""
        if self.added is None or "transmat" in self.frozen:
            return 0.0
        counted = self.added > 0.0
        with np.errstate(divide="ignore"):
            return float(self.added[counted] @ np.log(transmat[counted]))

    def mask_densities(self, log_density: np.ndarray) -> None:
        """Make every state but the known one impossible in rows (T, N) that have a label."""
        assert self.labels is not None
        known = self.labels != UNKNOWN
        others = self.labels[known, None] != np.arange(log_density.shape[1])
        log_density[known] = np.where(others, -np.inf, log_density[known])


FREE = Constraints()
"""Of a plain fit."""


def check_transmat_prior(prior, stickiness, allowed, n: int | None) -> None:
    """The Dirichlet prior, the stickiness and the mask of n states, or of a number not yet known;
    a ValueError names the first that is wrong."""
    check_number("stickiness", stickiness, at_least=0.0)
    concentration = as_numbers("transmat_prior", prior)
    if not (np.isfinite(concentration) & (concentration >= 1.0)).all():
        raise ValueError("transmat_prior must hold finite numbers of at least 1, which is no prior")
    if n is None and (concentration.ndim or allowed is not None):
        wrong = (
            "transmat_prior must be one number" if concentration.ndim else "allowed must be None"
        )
        raise ValueError(f"{wrong} where n_components is 'auto'")
    if concentration.ndim and concentration.shape != (n, n):
        raise ValueError(f"transmat_prior must be one number, or one for each of {n} × {n} pairs")
    if allowed is not None:
        mask = _as_array(allowed)
        if mask.shape != (n, n) or mask.dtype != bool:
            raise ValueError(f"allowed must be True or False for each of {n} × {n} transitions")
        if not mask.any(axis=1).all():
            row = int(np.argmin(mask.any(axis=1)))
            raise ValueError(f"allowed must let state {row} go somewhere")


def check_frozen(frozen, emission: str, has_init: bool) -> None:
    """Names of parameters that are frozen; these need values to begin with."""
    spread = "sigmas" if emission == RIEMANNIAN else "covariances"
    known = ("startprob", "transmat", "means", spread)
    is_several = isinstance(frozen, Collection) and not isinstance(frozen, str)
    if not (is_several and set(frozen) <= set(known)):
        raise ValueError(f"frozen must hold names among {', '.join(known)}, not {frozen!r}")
    if frozen and not has_init:
        raise ValueError("frozen parameters keep the values of init, which must be given")


def constraints_of(prior, stickiness: float, allowed, frozen, n: int) -> Constraints:
    """What checked options mean for n states."""
    added = np.broadcast_to(as_numbers("transmat_prior", prior) - 1.0, (n, n))
    added = added + stickiness * np.eye(n)
    mask = None if allowed is None else np.asarray(allowed)
    if mask is not None:
        added = np.where(mask, added, 0.0)
    return Constraints(added if added.any() else None, mask, frozenset(frozen))


def with_labels(constraints: Constraints, labels, lengths: np.ndarray, n: int) -> Constraints:
    """The same with labels, unless these are None or impossible."""
    if labels is None:
        return constraints
    size, given = int(lengths.sum()), _as_array(labels)
    if given.shape != (size,) or given.dtype.kind not in "iu":
        raise ValueError(f"labels must be {size} whole numbers, one for each observation")
    if given.min() < UNKNOWN or given.max() >= n:
        raise ValueError(f"labels must be from 0 to {n - 1}, or {UNKNOWN} where none is known")
    if constraints.allowed is not None:
        pairs = np.stack([given[:-1], given[1:]], axis=1)
        both = (pairs != UNKNOWN).all(axis=1)
        both[np.cumsum(lengths)[:-1] - 1] = False
        wrong = both & ~constraints.allowed[pairs[:, 0], pairs[:, 1]]
        if wrong.any():
            t = int(np.argmax(wrong))
            raise ValueError(
                f"labels go from {given[t]} to {given[t + 1]} at observation {t}, which allowed "
                "forbids"
            )
    return constraints._replace(labels=given.astype(np.int64))


def _as_array(values) -> np.ndarray:
    """The values as an array; an empty one if their rows are not of one length."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.empty(0)
