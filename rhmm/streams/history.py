"""A thinned record of a stream in constant memory, to look back at all of it."""

import math
from functools import lru_cache

import numpy as np

from rhmm._jit import kernel
from rhmm.manifolds import Manifold
from rhmm.search import Sample
from rhmm.streams.checks import MOST, check_array, check_points, check_whole
from rhmm.streams.chunk import ends_of

_BLOCK = 16
"""Observations that follow each other in the record."""
_FOR_EACH_STATE, _LEAST = 100, 400
"""How many observations tell a good model from a bad one: so many for each state, and at least in
all."""
_FEW_STATES, _FOR_EACH_PAIR, _MOST = 3, 100, 10_000
"""With more states than these a record has room for so many for each entry of A, and at most."""


def history_size(n_components: int) -> int:
    """How many observations tell a good model from a bad one."""
    return _in_blocks(max(_FOR_EACH_STATE * n_components, _LEAST))


def room_for(n_components: int) -> int:
    """How many observations a learner of so many states keeps a record of."""
    if n_components <= _FEW_STATES:
        return history_size(n_components)
    pairs = _FOR_EACH_PAIR * n_components**2
    return _in_blocks(max(min(pairs, _MOST), history_size(n_components)))


def _in_blocks(wanted: int) -> int:
    """The least even number of blocks with so many observations, in observations."""
    return 2 * _BLOCK * math.ceil(wanted / (2 * _BLOCK))


class History:
    """Blocks of observations, evenly spread over all that was seen.

    When there is no more room, every second block goes, and of the blocks to come every second one
    is kept, and so on.
    """

    def __init__(self, points: np.ndarray, sequence: np.ndarray, seen: int = 0):
        self.points = points
        """Shape (size, *point_shape); what is not used yet is zero."""
        self.sequence = sequence
        """The number of the sequence of each, shape (size,)."""
        self.seen = seen
        """Observations offered to it, missing ones not counted."""

    @classmethod
    def empty(cls, manifold: Manifold, size: int) -> "History":
        """With room for so many observations: an even number of blocks."""
        return cls(np.zeros((size, *manifold.point_shape)), np.zeros(size, np.int64))

    @property
    def every(self) -> int:
        """Of so many blocks one is kept."""
        return 1 << max((self.seen - 1) // len(self.points), 0).bit_length()

    @property
    def is_whole(self) -> bool:
        """Whether it still has everything that was seen."""
        return self.seen <= len(self.points)

    def add(self, points: np.ndarray, sequence: np.ndarray) -> None:
        """Take in points of shape (T, *point_shape) of these sequences (T,)."""
        size, count = len(self.points), len(points)
        if count:
            _keep(
                points.reshape(count, -1), sequence, self.seen, self.points.reshape(size, -1),
                self.sequence,
            )  # fmt: skip
        self.seen += count

    @staticmethod
    def _count(seen: int, every: int) -> int:
        """How many of so many observations are kept."""
        blocks, rest = divmod(seen, _BLOCK)
        return math.ceil(blocks / every) * _BLOCK + (rest if blocks % every == 0 else 0)

    @property
    def kept(self) -> int:
        """How many observations it has."""
        return self._count(self.seen, self.every)

    def sample(self, manifold: Manifold, least_delta: float, step: int = 1) -> Sample:
        """What is kept, or one block of `step`; blocks that do not follow each other are sequences
        of their own."""
        every = self.every
        count = self._count(self.seen, every)
        points, sequence = self.points[:count], self.sequence[:count]
        if step > 1:
            kept = np.arange(count) // _BLOCK % step == 0
            points, sequence = points[kept], sequence[kept]
        ends = ends_of(sequence)
        if every * step > 1:
            blocks = _ends_of_blocks(len(points))
            ends = blocks if len(ends) == 1 else np.union1d(blocks, ends)
        return Sample(manifold, points, ends, least_delta)

    def check(self, size: int, manifold: Manifold) -> None:
        """Refuse what a file says if it could not have come about; it has room for `size`."""
        check_array("record", self.points, (size, *manifold.point_shape))
        check_array("sequence", self.sequence, (len(self.points),), np.int64)
        check_whole("recorded", self.seen, 0, MOST)
        check_points("record", self.points[: self.kept], manifold)


@lru_cache(16)  # every review of a full record asks for it
def _ends_of_blocks(count: int) -> np.ndarray:
    """Where each of the blocks ends that so many observations make; not to be written into."""
    return np.append(np.arange(_BLOCK, count, _BLOCK), count)


@kernel
def _keep(points, sequence, seen, record, record_sequence):
    """Write points (T, K) that follow `seen` others into the record, as far as they are kept.

    When it is full, every second block goes.
    """
    room, end, every = len(record), seen + len(points), 1
    width, half = points.shape[1], len(record) // 2
    while seen > room * every:
        every *= 2
    place = seen
    while place < end:
        if place == room * every:
            for k in range(room):
                kept = k // _BLOCK * 2 * _BLOCK + k % _BLOCK
                record_sequence[k] = record_sequence[kept] if k < half else 0
                for q in range(width):
                    record[k, q] = record[kept, q] if k < half else 0.0
            every *= 2
        block = place // _BLOCK
        next_block = min((block + 1) * _BLOCK, end)
        if block % every == 0:
            for k in range(place, next_block):
                at = block // every * _BLOCK + k % _BLOCK
                record_sequence[at] = sequence[k - seen]
                for q in range(width):
                    record[at, q] = points[k - seen, q]
            place = next_block
        else:
            place = min((block // every + 1) * every * _BLOCK, end)
