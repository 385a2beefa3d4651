"""Several threads where data are large; the same digits whatever their number.

Kernels run without the interpreter lock. Work is parted by the data alone, never by the number of
threads, and sums are added up in the order of the parts.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from rhmm.validation import check_integer

Map = Callable[..., Iterable[Any]]
"""`map`, or the same by several threads."""

_LEAST = 4096
"""Observations of a part, at least: a thread begins with one in a fraction of its time."""
_MOST_PARTS = 16


def processors() -> int:
    """Those that this process may run on: in a container or a batch job, fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_n_jobs(n_jobs: int | None) -> None:
    """As scikit-learn has it: a number of threads, None for one, −1 for all cores."""
    if n_jobs is not None and check_integer("n_jobs", n_jobs, at_least=-1) == 0:
        raise ValueError("n_jobs must be None, -1 for all cores, or at least 1, not 0")


@contextmanager
def mapping(n_jobs: int | None) -> Iterator[Map]:
    """`map` by so many threads, see `check_n_jobs`."""
    count = 1 if n_jobs is None else processors() if n_jobs == -1 else n_jobs
    if count == 1:
        yield map
        return
    with ThreadPoolExecutor(count) as pool:
        yield pool.map


def spans(size: int) -> list[tuple[int, int]]:
    """Nearly equal parts of so many observations: the first of each, and the first of the next."""
    count = min(max(size // _LEAST, 1), _MOST_PARTS)
    cuts = [size * part // count for part in range(count + 1)]
    return list(pairwise(cuts))


def spans_of_sequences(ends: np.ndarray) -> list[tuple[int, int]]:
    """Parts of sequences that stop at `ends` (S,): the first sequence of each, and the first of the
    next."""
    wanted = max(_LEAST, int(ends[-1]) // _MOST_PARTS)
    found, first, begin = [], 0, 0
    while first < len(ends):
        last = min(int(np.searchsorted(ends, begin + wanted)) + 1, len(ends))
        found.append((first, last))
        first, begin = last, int(ends[last - 1])
    return found
