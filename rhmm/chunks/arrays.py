"""Chunks that are arrays, from a list or from any object that can be gone over again."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from rhmm.chunks.source import Chunks, Piece, in_sequence


class ArrayChunks(Chunks):
    """Arrays (T_k, *point_shape) that come one after another.

    Parameters
    ----------
    arrays
        A list, or an object whose ``__iter__`` begins anew at each call, so that only one array
        has to be in memory at a time. A generator is used up after one pass, and is refused.
    one_sequence
        Whether all arrays together are one long sequence. Otherwise each is a sequence of its own.
    """

    def __init__(self, arrays: Iterable[Any], *, one_sequence: bool = False):
        if not hasattr(arrays, "__iter__"):
            raise ValueError(f"arrays must hold arrays, not {arrays!r}")
        if iter(arrays) is arrays:
            raise ValueError(
                "X must give its chunks again in every pass, and a generator is used up after one: "
                "give a list, or an object whose __iter__ begins anew"
            )
        self.arrays, self.one_sequence = arrays, one_sequence

    def pieces(self) -> Iterator[Piece]:
        named = ((f"X[{k}]", _Held(array)) for k, array in enumerate(self.arrays))
        return in_sequence(named, whole=not self.one_sequence)


class _Held(NamedTuple):
    array: Any

    def load(self, point_shape: tuple[int, ...]) -> list[Any]:
        return [self.array]

    @property
    def nbytes(self) -> int:
        return getattr(self.array, "nbytes", 0)
