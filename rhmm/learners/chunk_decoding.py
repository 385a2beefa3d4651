"""Scores and states of observations that come in chunks, as exact as in memory.

One pass over the chunks is enough: a worker decodes the middle of its piece, where the chain has
forgotten the neighbours, and the observations at the ends are joined with theirs, see `part_sums`.
"""

import math
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np

from rhmm.chunks import Chunks, Piece, as_chunks
from rhmm.learners.baum_welch import Iterate
from rhmm.learners.part_sums import Contribution, Part
from rhmm.learners.passes import Task, contribution, in_order, stitched
from rhmm.model import HiddenMarkovModel
from rhmm.version import __version__


class Decoded(NamedTuple):
    """Some observations in a row."""

    log_likelihood: float
    states: np.ndarray
    """The most probable ones, shape (T,)."""


class DecodedPart(Part):
    """A part of which states are wanted, and no sums."""

    def _summed(self, posterior, first, last, starts) -> Decoded:
        gamma = posterior.gamma[: last - first]
        return Decoded(posterior.log_likelihood, gamma.argmax(axis=1).astype(np.int32))


def predict_chunks(
    model: HiddenMarkovModel, X, *, executor: Executor | None = None
) -> Iterator[np.ndarray]:
    """The most probable state at each time given its whole sequence, shape (T,) for each chunk.

    `X` is what `RiemannianHMM.fit` takes in chunks, see `rhmm.chunks`; a Parquet file has a chunk
    for each of its row groups. The states are those of `predict` on all of it. Chunks are worked on
    as their states are asked for, on `executor` if there is one; those of a chunk come when the
    chain has forgotten what follows it.
    """
    chunks = _checked(model, X)
    return _in_chunks(model, chunks, executor)


def score_chunks(model: HiddenMarkovModel, X, *, executor: Executor | None = None) -> float:
    """log p(X), as `score` gives it for all of X in memory; `X` as in `predict_chunks`."""
    parts = _decoded(model, _checked(model, X), deque(), executor)
    return math.fsum(part.log_likelihood for part in parts)


def _checked(model: HiddenMarkovModel, X) -> Chunks:
    chunks = as_chunks(X, len(model.manifold.point_shape))
    if chunks is None:
        raise ValueError("X must come in chunks, see rhmm.chunks; predict and score take arrays")
    return chunks


def _in_chunks(
    model: HiddenMarkovModel, chunks: Chunks, executor: Executor | None
) -> Iterator[np.ndarray]:
    """The states of each chunk, when all of them are known."""
    sizes: deque[int] = deque()
    held: list[np.ndarray] = []
    for part in _decoded(model, chunks, sizes, executor):
        held.append(part.states)
        while sizes and sum(map(len, held)) >= sizes[0]:
            states = np.concatenate(held)
            yield states[: sizes[0]].astype(np.int64)
            held = [states[sizes.popleft() :]]


def _decoded(
    model: HiddenMarkovModel, chunks: Chunks, sizes: deque[int], executor: Executor | None
) -> Iterator[Decoded]:
    """All observations in order, in parts; the sizes of chunks are written down on the way."""
    present = Iterate(model.startprob_, model.transmat_, model.law_)
    pieces: deque[Piece] = deque()

    def calls():
        for piece in chunks.pieces():
            pieces.append(piece)
            yield Task(__version__, model.manifold, piece, None), present, DecodedPart

    def found() -> Iterator[tuple[Piece, Contribution]]:
        one = None
        for one in in_order(executor, contribution, calls()):
            middle = 0 if one.sums is None else len(one.sums.states)
            sizes.append(len(one.head) + middle + len(one.tail))
            yield pieces.popleft(), one
        if one is None:
            raise ValueError("X must hold at least one chunk, and it is empty")

    return stitched(present, found(), DecodedPart)
