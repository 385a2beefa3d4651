"""One pass over observations in chunks, on this process or on many."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import Any, NamedTuple

import numpy as np

from rhmm._jit import kernel
from rhmm.chunks import Chunks, Piece
from rhmm.learners.baum_welch import Iterate
from rhmm.learners.part_sums import Contribution, Part, Sums, Tree
from rhmm.manifolds import Manifold
from rhmm.search.sample import BLOCK
from rhmm.validation import nan_where_masked
from rhmm.version import __version__

_MOST_PIECES, _MOST_BYTES = 512, 2**28
"""Pieces that an executor has at a time, and bytes that were sent with them: enough for a cluster,
and no more than this process can hold."""


class Print(NamedTuple):
    """What tells whether a piece is the same as in another pass."""

    size: int
    """Observations in it."""
    n_observed: int
    """Those that are not missing."""
    total: int
    nested: int


class Task(NamedTuple):
    """What a worker does with a piece."""

    version: str
    manifold: Manifold
    piece: Piece
    known: Print | None
    """Of an earlier pass, in which its points were checked; None in the first."""


class Observations(NamedTuple):
    """A piece in memory."""

    X: np.ndarray
    observed: np.ndarray
    lengths: np.ndarray
    print: Print


class Blocks(NamedTuple):
    """Neighbouring observations that may become a part of the sample."""

    lot: np.ndarray
    """Random numbers: the smallest win, shape (B,)."""
    place: list[tuple[int, int]]
    """Number of the piece and place in it, which gives their order."""
    points: list[np.ndarray]


class Sample(NamedTuple):
    """What a search looks at, and what the first pass found out on its way."""

    X: np.ndarray
    """Shape (T, *point_shape)."""
    lengths: np.ndarray
    prints: list[Print]


def draw_sample(
    manifold: Manifold, chunks: Chunks, most: int, seed: int, executor: Executor | None
) -> Sample:
    """Check all observations, and draw about `most` of them in short blocks from everywhere.

    Each block of a piece draws a lot that depends on the seed and on its place, and the blocks with
    the smallest lots win. So every block has the same chance, however many there are.
    """
    wanted, prints = max(most // BLOCK, 1), []
    held = Blocks(np.empty(0), [], [])
    tasks = (
        (Task(__version__, manifold, piece, None), k) for k, piece in enumerate(chunks.pieces())
    )
    calls = ((task, k, seed, wanted) for task, k in tasks)
    for found, mark in in_order(executor, _candidates, calls):
        prints.append(mark)
        held = _best(held, found, wanted)
    if not prints:
        raise ValueError("X must hold at least one chunk, and it is empty")
    if not held.points:
        raise ValueError("X must hold at least one observation that is not NaN")
    order = sorted(range(len(held.place)), key=held.place.__getitem__)
    blocks = [held.points[k] for k in order]
    return Sample(np.concatenate(blocks), np.array([len(block) for block in blocks]), prints)


def sum_up(chunks: Chunks, model: Iterate, prints: list[Print], executor: Executor | None) -> Sums:
    """The sums of EM over all observations under `model`; `prints` are those of the first pass."""
    manifold, tree = model.law.manifold, Tree()
    pieces: deque[Piece] = deque()

    def calls():
        count = 0
        for count, piece in enumerate(chunks.pieces(), 1):
            if count > len(prints):
                break
            pieces.append(piece)
            yield Task(__version__, manifold, piece, prints[count - 1]), model
        if count != len(prints):
            raise ValueError(
                f"X must give the same chunks in every pass: there were {len(prints)}, and then "
                f"{count if count < len(prints) else 'more'}"
            )

    contributions = in_order(executor, contribution, calls())
    for sums in stitched(model, ((pieces.popleft(), found) for found in contributions)):
        tree.add(sums)
    total = tree.total()
    assert total is not None  # a first pass has found chunks
    return total


def stitched(
    model: Iterate, found: Iterable[tuple[Piece, Contribution]], kind: type[Part] = Part
) -> Iterator[Any]:
    """All sums in the order of time, with those of the observations that pieces kept back for their
    neighbours."""
    waiting: list[np.ndarray] = []
    start, begins = model.startprob, True
    for piece, (sums, head, later, tail, following) in found:
        if piece.begins:
            waiting, start, begins = [], model.startprob, True
        if len(head):
            waiting.append(head)
        if waiting and (sums is not None or piece.ends):
            X = np.concatenate(waiting)
            yield kind(model, X, _not_nan(X)).joined(start, later, begins)
        if sums is not None:
            yield sums
        if following is not None:
            waiting, start, begins = [tail], following, False


def _candidates(task: Task, number: int, seed: int, wanted: int) -> tuple[Blocks, Print]:
    """The blocks of a piece with the smallest lots: of so many, no more can be in the sample."""
    X, observed, lengths, mark = _loaded(task)
    firsts = np.concatenate(
        [
            np.arange(end - size, end, BLOCK)
            for end, size in zip(np.cumsum(lengths), lengths, strict=True)
        ]
    )
    lots = np.random.default_rng([seed, number]).random(len(firsts))
    ends = np.append(firsts[1:], len(X))
    chosen = np.argsort(lots, kind="stable")[:wanted]
    found = [(k, X[firsts[k] : ends[k]][observed[firsts[k] : ends[k]]]) for k in chosen]
    found = [(k, points) for k, points in found if len(points)]
    kept = [int(k) for k, _ in found]
    return Blocks(lots[kept], [(number, k) for k in kept], [points for _, points in found]), mark


def _best(ours: Blocks, theirs: Blocks, wanted: int) -> Blocks:
    """So many blocks with the smallest lots."""
    lot = np.concatenate([ours.lot, theirs.lot])
    place, points = ours.place + theirs.place, ours.points + theirs.points
    chosen = np.argsort(lot, kind="stable")[:wanted]
    return Blocks(lot[chosen], [place[k] for k in chosen], [points[k] for k in chosen])


def contribution(task: Task, model: Iterate, kind: type[Part] = Part) -> Contribution:
    """What a piece says of `model`."""
    X, observed, lengths, _ = _loaded(task)
    part, piece = kind(model, X, observed), task.piece
    if piece.begins and piece.ends:
        nothing = X[:0].copy()
        return Contribution(part.sums(lengths), nothing, None, nothing, None)
    return part.contribution(piece.begins, piece.ends)


def _loaded(task: Task) -> Observations:
    """The observations of a piece, checked unless they are the same as in an earlier pass."""
    version, manifold, piece, known = task
    if version != __version__:
        raise RuntimeError(f"the fit is of rhmm {version}, its worker has {__version__}")
    given = piece.loader.load(manifold.point_shape)
    if not given:
        raise ValueError(f"{piece.name} must hold at least one sequence, and it is empty")
    several = len(given) > 1
    names = [f"{piece.name}[{k}]" for k in range(len(given))] if several else [piece.name]
    arrays = [
        manifold.as_array(name, nan_where_masked(one))
        for name, one in zip(names, given, strict=True)
    ]
    for name, array in zip(names, arrays, strict=True):
        if array.ndim != 1 + len(manifold.point_shape) or len(array) == 0:
            manifold.observations(name, array)  # which says what is wrong
    X = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
    lengths = np.array([len(array) for array in arrays])
    total, nested = map(int, _checksum(X.reshape(-1).view(np.uint64)))
    if known is not None:
        if (len(X), total, nested) != (known.size, known.total, known.nested):
            raise ValueError(
                f"{piece.name} has changed since an earlier pass: X must give the same chunks in "
                "every pass"
            )
        is_whole = known.n_observed == known.size
        return Observations(X, np.ones(len(X), bool) if is_whole else _not_nan(X), lengths, known)
    observed = [
        manifold.observations(name, array, allow_all_missing=True)[1]
        for name, array in zip(names, arrays, strict=True)
    ]
    there = np.concatenate(observed)
    return Observations(X, there, lengths, Print(len(X), int(there.sum()), total, nested))


def _not_nan(X: np.ndarray) -> np.ndarray:
    return ~np.isnan(X.reshape(len(X), -1)).any(axis=1)


@kernel
def _checksum(words):
    """Fletcher's two sums: they differ when a number, or the order of two of them, does."""
    total, nested = np.uint64(0), np.uint64(0)
    for word in words:
        total += word
        nested += total
    return total, nested


def in_order(
    executor: Executor | None, function: Callable, calls: Iterable[tuple]
) -> Iterator[Any]:
    """What the function returns for each call, in the order of the calls."""
    if executor is None:
        for call in calls:
            yield function(*call)
        return
    under_way: deque[tuple[Future, int]] = deque()
    nbytes = 0
    try:
        for call in calls:
            size = call[0].piece.loader.nbytes
            while under_way and (len(under_way) == _MOST_PIECES or nbytes + size > _MOST_BYTES):
                future, freed = under_way.popleft()
                nbytes -= freed
                yield future.result()
            under_way.append((executor.submit(function, *call), size))
            nbytes += size
        while under_way:
            yield under_way.popleft()[0].result()
    finally:
        for future, _ in under_way:
            future.cancel()
