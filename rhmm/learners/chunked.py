"""EM on observations that come in chunks: one pass over them for each iteration.

In memory, the M-step searches for the centre of mass of each state, and goes over the observations
several times. Here each mean takes one step of Newton's method, from sums that a pass collects on
its way. The fixed points are the same, and near them so is the speed: after a Newton step what
remains is of second order. On flat spaces both are the same algorithm.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np

from rhmm.chunks import Chunks
from rhmm.emissions import SummedLaw
from rhmm.learners.baum_welch import LEAST_WEIGHT, Iterate, Monitor, chain_from_sums
from rhmm.learners.checkpoint import Checkpoint
from rhmm.learners.part_sums import Sums
from rhmm.learners.passes import draw_sample, sum_up
from rhmm.manifolds import Manifold

_LEAST_SHARE = 2.0**-10


class Climbed(NamedTuple):
    """Where EM has ended."""

    monitor: Monitor
    reached: Iterate
    sums: Sums
    min_sigma: float
    largest: int
    """Observations in the largest piece."""


def climb_chunks(
    manifold: Manifold,
    chunks: Chunks,
    begin: Callable[[np.ndarray, np.ndarray], tuple[Iterate, float]],
    *,
    sample_size: int,
    seed: int,
    n_iter: int,
    tol: float,
    callback: Callable[[Monitor], None] | None,
    executor: Executor | None,
    checkpoint: Checkpoint | None,
) -> Climbed:
    """Climb the likelihood of all observations.

    `begin` gives a start and the floor of σ from a sample of observations (T, *point_shape) and
    the lengths of its sequences. Where `checkpoint` holds an earlier climb, this one goes on from
    there. A callback that raises StopIteration ends it.
    """
    earlier = None if checkpoint is None else checkpoint.read()
    if earlier is not None:
        monitor, present, sums, share, min_sigma, prints = earlier
    else:
        X, lengths, prints = draw_sample(manifold, chunks, sample_size, seed, executor)
        present, min_sigma = begin(X, lengths)
        monitor, sums, share = Monitor(), None, 1.0
    while True:
        candidate = present
        if sums is not None:
            monitor.converged = monitor.gain < tol and not monitor.has_fallen
            if monitor.gain < tol or monitor.n_iter >= n_iter:
                break
            candidate = stepped(present, sums, share, min_sigma)
        found = sum_up(chunks, candidate, prints, executor)
        monitor.note(candidate, found.log_likelihood)
        if monitor.has_fallen and share > _LEAST_SHARE:
            # The means went too far: from the same sums again, with shorter steps from now on. The
            # rest of the M-step never loses likelihood.
            monitor.drop_last()
            share *= 0.5
            continue
        present, sums = candidate, found
        if checkpoint is not None:
            checkpoint.write(monitor, present, sums, share, min_sigma, prints)
        if monitor.is_stopped_by(callback):
            break
    return Climbed(monitor, present, sums, min_sigma, max(mark.size for mark in prints))


def stepped(present: Iterate, sums: Sums, share: float, min_sigma: float) -> Iterate:
    """The M-step; each mean takes this share of a Newton step."""
    alive = sums.occupied > LEAST_WEIGHT
    assert isinstance(present.law, SummedLaw)  # `fit` refuses all others
    law = present.law.stepped(sums.of_law, sums.occupied, alive, share, min_sigma)
    return Iterate(*chain_from_sums(sums.starts, sums.transitions, present.transmat), law)
