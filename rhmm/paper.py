"""The experiment of the paper (its section 4): three states on the Poincaré disk."""

from rhmm.learners.em import RiemannianHMM
from rhmm.manifolds import Hyperbolic

STARTPROB = (1.0, 0.0, 0.0)
TRANSMAT = ((0.4, 0.3, 0.3), (0.2, 0.6, 0.2), (0.1, 0.1, 0.8))
MEANS = ((0.0, 0.0), (0.29, 0.82), (-0.29, 0.82))
SIGMAS = (0.2, 1.0, 1.0)
LENGTH = 10_000
"""Observations of each chain."""


def paper_model() -> RiemannianHMM:
    """The true model: eqs. (15) to (17)."""
    return RiemannianHMM.from_parameters(Hyperbolic(2), STARTPROB, TRANSMAT, MEANS, SIGMAS)
