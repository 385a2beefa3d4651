"""The observations that a search looks at: few, but from everywhere in the data."""

from typing import NamedTuple

import numpy as np

from rhmm.manifolds import Manifold

BLOCK = 32
"""Observations that follow each other in a thinned sample: enough to tell how states follow."""


class Sample(NamedTuple):
    """Observations in sequences, none of them missing."""

    manifold: Manifold
    points: np.ndarray
    """Shape (T, *point_shape)."""
    ends: np.ndarray
    """Where each sequence ends, shape (S,)."""
    least_delta: float
    """The floor of every δ."""


def thinned(manifold: Manifold, X, observed, lengths, least_delta: float, most: int) -> Sample:
    """At most about `most` observations of X (T, *point_shape) in blocks, evenly spread.

    Missing ones are left out, as if there had been no time between their neighbours.
    """
    last = np.zeros(len(X), bool)
    last[np.cumsum(lengths) - 1] = True
    every = max(len(X) // max(most, 1), 1)
    taken = observed if every == 1 else observed & (np.arange(len(X)) // BLOCK % every == 0)
    if not taken.any():
        taken = observed
    cut = np.flatnonzero(np.diff(np.cumsum(last)[taken] - last[taken]) != 0)
    if every > 1:
        blocks = np.arange(len(X))[taken] // BLOCK
        cut = np.union1d(cut, np.flatnonzero(np.diff(blocks) != 0))
    points = np.ascontiguousarray(X[taken])
    return Sample(manifold, points, np.append(cut + 1, len(points)), least_delta)
