"""Observations that a stream learns at a time, and the sequences that they belong to."""

from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel
from rhmm.validation import check_lengths


class Present(NamedTuple):
    """P observations in a row, none of them missing."""

    points: np.ndarray
    """Shape (P, *point_shape)."""
    sequence: np.ndarray
    """The number of the sequence of each, shape (P,)."""

    @property
    def size(self) -> int:
        return len(self.points)

    @classmethod
    def none(cls, point_shape: tuple[int, ...]) -> "Present":
        return cls(np.empty((0, *point_shape)), np.empty(0, np.int64))

    def followed_by(self, later: "Present") -> "Present":
        return Present(*map(np.concatenate, zip(self, later, strict=True)))

    def latest(self, most: int) -> "Present":
        """At most so many of them, the last."""
        return Present(self.points[-most:], self.sequence[-most:])


class Chunk(NamedTuple):
    """T observations in a row."""

    points: np.ndarray
    """Shape (T, *point_shape)."""
    observed: np.ndarray
    """Which of them are not missing, shape (T,)."""
    begins: np.ndarray
    """Which of them are the first of a sequence, shape (T,)."""
    sequence: np.ndarray
    """The number of the sequence of each, shape (T,)."""
    is_whole: bool = False
    """Whether it is known that none is missing."""

    def part(self, where: slice) -> "Chunk":
        return Chunk(
            self.points[where], self.observed[where], self.begins[where], self.sequence[where],
            self.is_whole,
        )  # fmt: skip

    @property
    def size(self) -> int:
        return len(self.points)

    @property
    def present(self) -> Present:
        """Those that are not missing."""
        if self.is_whole or self.observed.all():
            return Present(self.points, self.sequence)
        return Present(self.points[self.observed], self.sequence[self.observed])


def ends_of(sequence: np.ndarray) -> np.ndarray:
    """Where each of the sequences ends that points belong to, the last of them at T; shape (S,)."""
    if len(sequence) and sequence[0] == sequence[-1]:  # their numbers never fall
        return np.array([len(sequence)])
    return np.append(np.flatnonzero(np.diff(sequence)) + 1, len(sequence))


def begins_of(sequence: np.ndarray) -> np.ndarray:
    """Which points are the first of a sequence, shape (T,); the very first of all is not."""
    return np.diff(sequence, prepend=sequence[:1]) != 0


def lengths_until(k: int, size: int, lengths) -> np.ndarray:
    """Of sequences with these lengths, `size` in all, those of the first k observations."""
    ends = np.minimum(np.cumsum(check_lengths(lengths, size)), k)
    return np.diff(np.unique(ends), prepend=0)


@kernel
def start_law(transmat, law):
    """The law that a chain keeps, into `law` (N,), by elimination; all entries of A are positive.

    A sequence begins with it.
    """
    n = len(law)
    left = transmat.copy()
    for k in range(n - 1, 0, -1):
        leaving = 0.0
        for j in range(k):
            leaving += left[k, j]
        for i in range(k):
            left[i, k] /= leaving
            for j in range(k):
                left[i, j] += left[i, k] * left[k, j]
    law[0] = 1.0
    total = 1.0
    for k in range(1, n):
        law[k] = 0.0
        for i in range(k):
            law[k] += law[i] * left[i, k]
        total += law[k]
    for k in range(n):
        law[k] /= total
