"""Where a part of a long sequence can be smoothed without the rest of it.

A hidden chain forgets. Filters that begin in different states come to agree, and after that what
happened before the part makes no difference; going back, the same holds for what happens after it.
`forget_past` and `forget_future` find these times by following all N beginnings or ends at once.
Whatever lies outside of the part is a mixture of those N. So once they agree to the last digits,
the answer is exact: no length of an overlap has to be guessed.

`log_density` has shape (T, N), a row of NaN is a missing observation. It may be off by a number
for each row.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import copy_into, kernel
from rhmm.inference.chain import log_of, log_sum

_SAME = 1e-13
"""The relative difference of probabilities that agree."""
_ROUNDED = 1e-15
"""The rounding error of a logarithm, relative to itself."""
_LEAST = -600.0
"""The logarithm of a probability that is far from underflow."""


class Forgotten(NamedTuple):
    """Where a part of a sequence no longer depends on what lies beyond one of its ends."""

    time: int
    """A time t of the part."""
    law: np.ndarray
    """Of s_t, shape (N,): P(s_t = i | y before t), or log p(y_t, y_{t+1}, … | s_t = i) up to a
    number, 0 at its largest."""


def forget_past(transition: np.ndarray, log_density: np.ndarray) -> Forgotten | None:
    """The first time, T at the latest, whose predicted law does not depend on what came before the
    part, and whose probabilities are numbers that do not underflow. None if there is none.
    """
    laws = np.empty_like(transition)
    time = _forget_past(log_of(transition), log_density, laws)
    if time < 0:
        return None
    law = np.exp(_known(laws))
    return Forgotten(time, law / law.sum())


def forget_future(transition: np.ndarray, log_density: np.ndarray) -> Forgotten | None:
    """The last time at which the likelihood of each state does not depend, up to a factor, on what
    comes after the part. None if there is no such time.
    """
    laws = np.empty_like(transition)
    time = _forget_future(log_of(transition), log_density, laws)
    if time < 0:
        return None
    law = _known(laws)
    return Forgotten(time, law - law.max())


def _known(laws: np.ndarray) -> np.ndarray:
    """The law on which all rows agree that are possible."""
    return laws[~np.isnan(laws).any(axis=1)][0]


@kernel
def _forget_past(log_transition, log_density, laws):
    """The number of observations after which the rows of `laws` agree; −1 if there is none.

    ``laws[a]`` is the predicted law if the state before the part was a, in logarithms; NaN if that
    is impossible.
    """
    n = len(laws)
    terms, joint = np.empty(n), np.empty(n)
    copy_into(laws, log_transition)
    for t in range(len(log_density)):
        for a in range(n):
            for i in range(n):
                missing = math.isnan(log_density[t, i])
                joint[i] = laws[a, i] if missing else laws[a, i] + log_density[t, i]
            if not _normalise(joint):
                laws[a] = math.nan
                continue
            for j in range(n):
                for i in range(n):
                    terms[i] = joint[i] + log_transition[i, j]
                laws[a, j] = log_sum(terms)
        if _agree(laws) and _is_moderate(laws):
            return t + 1
    return -1


@kernel
def _forget_future(log_transition, log_density, laws):
    """The last time at which the rows of `laws` agree; −1 if they never do.

    ``laws[b]`` is the likelihood of each state if the state after the part is b, as logarithms; NaN
    if that is impossible.
    """
    n = len(laws)
    terms, later = np.empty(n), np.empty((n, n))
    for b in range(n):
        for i in range(n):
            later[b, i] = log_transition[i, b]
    for t in range(len(log_density) - 1, -1, -1):
        for b in range(n):
            for i in range(n):
                missing = math.isnan(log_density[t, i])
                laws[b, i] = later[b, i] if missing else later[b, i] + log_density[t, i]
            if not _normalise(laws[b]):
                laws[b] = math.nan
        if _agree(laws):
            return t
        for b in range(n):
            for i in range(n):
                for j in range(n):
                    terms[j] = log_transition[i, j] + laws[b, j]
                later[b, i] = math.nan if math.isnan(laws[b, 0]) else log_sum(terms)
    return -1


@kernel
def _normalise(logs):
    """Scale the numbers with these logarithms to sum to one; False if they are all zero or NaN."""
    scale = log_sum(logs)
    possible = scale > -math.inf
    if possible:
        for i in range(len(logs)):
            logs[i] -= scale
    return possible


@kernel
def _agree(laws):
    """Whether the rows that are not NaN are equal but for rounding; there must be one."""
    n = len(laws)
    possible = False
    for i in range(n):
        least, most = math.inf, -math.inf
        for a in range(n):
            if not math.isnan(laws[a, i]):
                possible = True
                least, most = min(least, laws[a, i]), max(most, laws[a, i])
        if most > -math.inf and most - least > _SAME - _ROUNDED * most:
            return False
    return possible


@kernel
def _is_moderate(laws):
    """Whether what is possible is not too unlikely to be written as a probability."""
    least = 0.0
    for i in range(laws.size):
        if laws.flat[i] > -math.inf:
            least = min(least, laws.flat[i])
    return least > _LEAST
