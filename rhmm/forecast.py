"""What comes next: the law of the states, and the density of observations, some steps ahead."""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from rhmm.emissions import Law


class Forecast(NamedTuple):
    """Row h of each result belongs to the time h + 1 steps after the last observation."""

    states: np.ndarray
    """P(s_{T+1+h} = i | X), shape (steps, N)."""
    law: Law
    """Of the observations in each state."""

    def log_density(self, Y) -> np.ndarray:
        """log p(y_{T+1+h} = Y[k] | X) for points Y (K, *point_shape), shape (steps, K)."""
        Y = self.law.manifold.points("Y", Y)
        if Y.ndim != 1 + len(self.law.manifold.point_shape):
            raise ValueError(f"Y must be a batch of points, not an array of shape {Y.shape}")
        densities = self.law.log_densities(self.law.view(Y))
        return logsumexp(densities[None], b=self.states[:, None], axis=2)
