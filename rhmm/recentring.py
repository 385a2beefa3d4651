"""Re-centring: each recording moved by an isometry so that its centre of mass is the origin.

Recordings of the same activity often differ by an isometry: electrodes sit elsewhere, an amplifier
is louder, a person is larger. Distances within a recording stay as they are, and what differs
between recordings as a whole is gone.
"""

from dataclasses import dataclass

import numpy as np

from rhmm.manifolds import Manifold, check_manifold
from rhmm.validation import check_lengths


@dataclass(frozen=True, eq=False)
class Recentring:
    """Isometries, one for each of S recordings: the translation that takes its centre of mass to
    the origin, along the geodesic between them.

    Recordings are given as X of shape (T, *point_shape), one after another, with their `lengths`.
    """

    manifold: Manifold
    centres: np.ndarray
    """Centre of mass of each recording, shape (S, *point_shape); the origin if it was empty."""

    def apply(self, X, *, lengths=None) -> np.ndarray:
        """X of shape (T, *point_shape) with each of its S recordings moved to the origin."""
        origins = np.repeat(self.manifold.origin[None], len(self.centres), axis=0)
        return self._move(X, lengths, self.centres, origins)

    def undo(self, X, *, lengths=None) -> np.ndarray:
        """The inverse of `apply`: what was at the origin is at the centre of its recording."""
        origins = np.repeat(self.manifold.origin[None], len(self.centres), axis=0)
        return self._move(X, lengths, origins, self.centres)

    def _move(self, X, lengths, sources, targets) -> np.ndarray:
        X, observed = self.manifold.observations("X", X, allow_all_missing=True)
        lengths = check_lengths(lengths, len(X))
        if len(lengths) != len(self.centres):
            raise ValueError(
                f"lengths must be those of {len(self.centres)} recordings, not of {len(lengths)}"
            )
        moved = np.full(X.shape, np.nan)
        owner = np.repeat(np.arange(len(lengths)), lengths)
        for number, (source, target) in enumerate(zip(sources, targets, strict=True)):
            mine = observed & (owner == number)
            coordinates, _ = self.manifold.normal_coordinates(source, X[mine])
            moved[mine] = self.manifold.from_normal_coordinates(target, coordinates)
        return moved


def recentred(manifold: Manifold, X, *, lengths=None) -> tuple[np.ndarray, Recentring]:
    """X of shape (T, *point_shape) with each recording's centre of mass at the origin, and the
    isometries that moved them, with their inverse.

    `lengths` are the sizes of the recordings; None is a single one. A row with NaN is a missing
    observation, and stays one.
    """
    check_manifold(manifold)
    X, observed = manifold.observations("X", X, allow_all_missing=True)
    lengths = check_lengths(lengths, len(X))
    owner = np.repeat(np.arange(len(lengths)), lengths)
    centres = [
        manifold.mean(X[mine]) if mine.any() else manifold.origin
        for mine in (observed & (owner == number) for number in range(len(lengths)))
    ]
    recentring = Recentring(manifold, np.stack(centres))
    return recentring.apply(X, lengths=lengths), recentring
