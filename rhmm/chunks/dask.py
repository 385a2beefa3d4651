"""Chunks from a Dask array or bag; the extra [cluster] has what they need."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from rhmm.chunks.source import Chunks, Piece, in_sequence


class DaskChunks(Chunks):
    """The blocks of a Dask array (T, *point_shape), which are one sequence; or a Dask bag of
    arrays, each of them a sequence.

    A block is computed where it is worked on, by one thread. Every pass computes it again: keep
    what is slow to make in files.
    """

    def __init__(self, collection: Any):
        kind = type(collection).__name__
        self.is_array = kind == "Array"
        if kind not in ("Array", "Bag"):
            raise ValueError(f"X must be a Dask array or a Dask bag, not {collection!r}")
        self.collection = collection

    def pieces(self) -> Iterator[Piece]:
        if self.is_array:
            array = self.collection.rechunk(dict.fromkeys(range(1, self.collection.ndim), -1))
            parts = (array.blocks[k] for k in range(array.numblocks[0]))
            name = "X.blocks[{}]"
        else:
            parts, name = self.collection.to_delayed(), "X (partition {})"
        several = not self.is_array
        named = ((name.format(k), DaskPart(_packed(part), several)) for k, part in enumerate(parts))
        return in_sequence(named, whole=not self.is_array)


def _packed(part) -> bytes:
    """What computes this part alone."""
    import cloudpickle
    import dask

    return cloudpickle.dumps(dask.optimize(part)[0])


class DaskPart(NamedTuple):
    graph: bytes
    """What computes it; it may hold functions that only cloudpickle can send."""
    is_several: bool
    """Whether it is a list of sequences."""

    def load(self, point_shape: tuple[int, ...]) -> list[Any]:
        import cloudpickle

        part = cloudpickle.loads(self.graph).compute(scheduler="synchronous")
        return list(part) if self.is_several else [part]

    @property
    def nbytes(self) -> int:
        return len(self.graph)
