"""What an online learner writes down on its way, inside the kernel, at a chosen stride."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rhmm._jit import copy_into, lean_kernel


class Trace(NamedTuple):
    """Row r belongs to the moment after ``step[r]`` observations."""

    step: np.ndarray
    """Number of observations seen, shape (R,)."""
    transmat: np.ndarray
    """A, shape (R, N, N)."""
    means: np.ndarray
    """c, shape (R, N, *point_shape)."""
    delta: np.ndarray
    """δ, shape (R, N)."""
    sigmas: np.ndarray
    """σ, shape (R, N)."""
    gamma: np.ndarray
    """P(s_k = i | y_1..y_k), shape (R, N)."""
    visits: np.ndarray
    """What divides the steps: Σγ over the window, or the visits remembered; shape (R, N)."""
    log_likelihood: np.ndarray
    """Σ log p(y_k | y_1..y_{k−1}) so far, shape (R,): its slope is the predictive log density."""

    def permuted(self, order: np.ndarray) -> "Trace":
        """The same trace with state ``order[i]`` renamed to i."""
        of_states = {
            name: getattr(self, name)[:, order]
            for name in ("means", "delta", "sigmas", "gamma", "visits")
        }
        return self._replace(transmat=self.transmat[:, order][:, :, order], **of_states)


def empty_trace(rows: int, means: np.ndarray) -> Trace:
    """With room for so many rows."""
    return _new_trace(rows, *means.shape) if rows else _no_trace(*means.shape)


def _new_trace(rows: int, n: int, *point_shape: int) -> Trace:
    return Trace(
        np.zeros(rows, np.int64),
        np.empty((rows, n, n)),
        np.empty((rows, n, *point_shape)),
        np.empty((rows, n)),
        np.empty((rows, n)),
        np.empty((rows, n)),
        np.empty((rows, n)),
        np.empty(rows),
    )


@lru_cache(32)  # every chunk of a stream without a trace asks for it
def _no_trace(n: int, *point_shape: int) -> Trace:
    return _new_trace(0, n, *point_shape)


def joined(traces: list[Trace]) -> Trace:
    """The rows of all traces in one, read-only: callers cannot change what was recorded."""
    whole = Trace(*map(np.concatenate, zip(*traces, strict=True))) if traces[1:] else traces[0]
    for array in whole:
        array.flags.writeable = False
    return whole


@lean_kernel
def record(trace, row, step, transmat, means, delta, half_precision, gamma, visits, likelihood):
    trace.step[row] = step
    copy_into(trace.means[row], means)
    for i in range(len(delta)):
        for j in range(len(delta)):
            trace.transmat[row, i, j] = transmat[i, j]
        trace.delta[row, i], trace.sigmas[row, i] = delta[i], math.sqrt(0.5 / half_precision[i])
        trace.gamma[row, i], trace.visits[row, i] = gamma[i], visits[i]
    trace.log_likelihood[row] = likelihood
