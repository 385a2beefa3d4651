"""The parameters of a world at one moment."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rhmm.manifolds import Manifold, check_manifold
from rhmm.parameters import stationary_law
from rhmm.validation import check_stochastic


@dataclass(frozen=True, eq=False)
class Truth:
    """N states, of which some may be away for a while."""

    full_transmat: np.ndarray
    """A as it is when all states are there, shape (N, N)."""
    means: np.ndarray
    """c_i, shape (N, *point_shape)."""
    sigmas: np.ndarray
    """σ_i, shape (N,)."""
    exists: np.ndarray
    """Which states are there, shape (N,)."""

    @property
    def n_states(self) -> int:
        """N, states that are away included."""
        return len(self.sigmas)

    @cached_property
    def transmat(self) -> np.ndarray:
        """A of the moment, shape (N, N): no state goes to one that is away.

        The row of a state that is away says where the chain goes if it was there when the state
        went. A row that only leads to states that are away leads to all others alike.
        """
        if self.exists.all():
            return self.full_transmat
        kept = np.where(self.exists, self.full_transmat, 0.0)
        sums = kept.sum(axis=1, keepdims=True)
        alike = self.exists / self.exists.sum()
        return np.where(sums > 0.0, kept / np.where(sums > 0.0, sums, 1.0), alike)

    @property
    def startprob(self) -> np.ndarray:
        """The stationary law of the states that are there, shape (N,)."""
        law = np.zeros(self.n_states)
        there = np.flatnonzero(self.exists)
        law[there] = stationary_law(self.transmat[np.ix_(there, there)])
        return law


def first_truth(manifold: Manifold, transmat, means, sigmas) -> Truth:
    """The checked parameters that a world begins with; all states are there."""
    check_manifold(manifold)
    means = manifold.points("means", means)
    if means.ndim != 1 + len(manifold.point_shape):
        raise ValueError(f"means must be one point for each state, not of shape {means.shape}")
    n = len(means)
    sigmas = manifold.check_sigma("sigmas", sigmas)
    if sigmas.shape != (n,):
        raise ValueError(f"sigmas must have shape ({n},) to match means, not {sigmas.shape}")
    _, transmat = check_stochastic(np.full(n, 1.0 / n), transmat, names=("means", "transmat"))
    return Truth(transmat.copy(), means.copy(), sigmas.copy(), np.ones(n, bool))
