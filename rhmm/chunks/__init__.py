"""Observations that come in chunks, because together they do not fit into memory.

A fit goes over them again and again. Each source says where its pieces are; a piece is loaded where
it is worked on, in this process or in another.
"""

from pathlib import Path
from typing import Any

import numpy as np

from rhmm.chunks.arrays import ArrayChunks
from rhmm.chunks.dask import DaskChunks
from rhmm.chunks.parquet import ParquetChunks
from rhmm.chunks.source import Chunks, Piece

__all__ = ["ArrayChunks", "Chunks", "DaskChunks", "ParquetChunks", "Piece", "as_chunks"]


def as_chunks(X: Any, point_ndim: int) -> Chunks | None:
    """X as a source of chunks; None if it is an array, or what numpy can make one of.

    Chunks are paths of Parquet files, a Dask array or bag, and arrays with more dimensions than the
    `point_ndim` of a point, in a list or in an object of another kind that can be gone over.
    """
    if isinstance(X, Chunks):
        return X
    if type(X).__module__.split(".")[0] == "dask":
        return DaskChunks(X)
    if isinstance(X, (str, Path)):
        return ParquetChunks(X)
    if isinstance(X, (list, tuple)):
        first = X[0] if X else None
        if isinstance(first, (str, Path)):
            return ParquetChunks(X)
        is_chunk = isinstance(first, np.ndarray) and first.ndim > point_ndim
        return ArrayChunks(X) if is_chunk else None
    return ArrayChunks(X) if hasattr(X, "__iter__") and not _is_array(X) else None


def _is_array(X) -> bool:
    """Whether X is an array of some kind: a frame, a sparse matrix, a buffer, …"""
    if hasattr(X, "__array__") or hasattr(X, "shape"):
        return True
    try:
        memoryview(X)
    except TypeError:
        return False
    return True
