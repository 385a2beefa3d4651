"""Worlds that several test files use."""

import numpy as np

from rhmm import SPD, Euclidean, Hyperbolic, LogEuclideanSPD
from rhmm.paper import MEANS, SIGMAS, TRANSMAT
from rhmm.worlds import World

MANIFOLDS = (Hyperbolic(2), Hyperbolic(4), Euclidean(3), SPD(3), LogEuclideanSPD(2))


def paper_world(*events, seed=0) -> World:
    """The paper's chain with a script."""
    return World(Hyperbolic(2), TRANSMAT, MEANS, SIGMAS, events=events, seed=seed)


def some_means(manifold, count=3, spread=0.8) -> np.ndarray:
    """The same points of a manifold at every call."""
    coordinates = np.random.default_rng(7).normal(0.0, spread, (count, manifold.dim))
    return manifold.from_normal_coordinates(manifold.origin, coordinates)


def world_on(manifold, *events, seed=0) -> World:
    """Three states on any manifold, with the paper's A."""
    return World(
        manifold, TRANSMAT, some_means(manifold), (0.3, 0.4, 0.5), events=events, seed=seed
    )
