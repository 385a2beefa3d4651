"""The parameters λ = (π, A, c, σ) of a Riemannian hidden Markov model, and a start for them."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from rhmm._jit import kernel, lean_kernel
from rhmm.gaussian.radial import RadialGaussian
from rhmm.manifolds import Manifold, verbs
from rhmm.vector_math import exp

_PSEUDO_COUNT = 1.0

MIN_SIGMA = 1e-3
"""No σ is estimated smaller unless asked for, or the data are small themselves: one on a few equal
points would be 0."""
_SMALLEST_FLOOR = 1e-12
_BLOCK = 256
"""Points that are worked on at a time, so that intermediate results stay in the nearest cache."""
_STEPS = 100_000
"""Steps from one point to the next that tell how large the data are, at most."""


class Parameters(NamedTuple):
    """λ = (π, A, c, σ) of N hidden states."""

    startprob: np.ndarray
    """π_i = P(s_1 = i), shape (N,)."""
    transmat: np.ndarray
    """A_ij = P(s_{t+1} = j | s_t = i), shape (N, N)."""
    means: np.ndarray
    """c_i, shape (N, *point_shape)."""
    sigmas: np.ndarray
    """σ_i, shape (N,)."""

    def permuted(self, order) -> "Parameters":
        """The same model with state ``order[i]`` renamed to i."""
        order = np.asarray(order)
        return Parameters(
            self.startprob[order],
            self.transmat[np.ix_(order, order)],
            self.means[order],
            self.sigmas[order],
        )


def log_densities(manifold: Manifold, d2: np.ndarray, sigmas: np.ndarray) -> np.ndarray:
    """log p(y_t; c_i, σ_i) of eq. (1), shape (T, N), from squared distances of shape (N, T)."""
    log_z = manifold.gaussian.moments(sigmas).log_z
    out = np.empty(d2.shape[::-1])
    _log_densities_into(d2, -0.5 / sigmas**2, log_z, out)
    return out


@kernel
def _log_densities_into(d2, eta, log_z, out):
    for t in range(len(out)):
        for i in range(len(eta)):
            out[t, i] = eta[i] * d2[i, t] - log_z[i]


@lean_kernel
def scaled_densities_into(d2, eta, log_z, first, last, density, shift):
    """e^{η_i d² − log Z_i} of d² (N, T) as `density` (N, T), divided by the largest of each time,
    whose logarithm goes to `shift` (T,); from the time `first` to before `last`.
    """
    for begin in range(first, last, _BLOCK):
        end = min(begin + _BLOCK, last)
        largest = shift[begin:end]
        for t in range(len(largest)):
            largest[t] = -math.inf
        for i in range(len(d2)):
            mine, row = density[i, begin:end], d2[i, begin:end]
            for t in range(len(mine)):
                mine[t] = eta[i] * row[t] - log_z[i]
                largest[t] = max(largest[t], mine[t])
        for i in range(len(d2)):
            mine = density[i, begin:end]
            for t in range(len(mine)):
                mine[t] = exp(mine[t] - largest[t])


def floor_of_sigma(manifold: Manifold, points: np.ndarray, min_sigma: float | None) -> float:
    """`min_sigma`, or if it is None 10⁻³ times the scale of these points (T, *point_shape), and
    10⁻³ at most.

    The scale is the median distance from one point to the next.
    """
    if min_sigma is not None:
        return float(min_sigma)
    scale = 0.0
    if len(points) > 1:
        scale = _typical_step(manifold, points)
    return MIN_SIGMA * min(scale, 1.0) if scale > _SMALLEST_FLOOR else MIN_SIGMA


def _typical_step(manifold: Manifold, points: np.ndarray) -> float:
    every = (len(points) - 2) // _STEPS + 1
    before, after = points[:-1:every].copy(), points[1::every].copy()
    d2 = np.empty(len(before))
    verbs.all_paired_distances(manifold.geometry, before, after, d2)
    middle = (len(d2) - 1) // 2, len(d2) // 2
    d2.partition(middle)
    return 0.5 * sum(math.sqrt(d2[k]) for k in middle)


@lru_cache(64)  # a short fit asks for it several times
def delta_of_floor(manifold: Manifold, min_sigma: float) -> float:
    """The floor of every δ that follows from that of σ."""
    return float(manifold.delta(min_sigma))


def sigmas_from_delta(manifold: Manifold, delta: np.ndarray, min_sigma: float) -> np.ndarray:
    """σ = δ⁻¹(mean d²), never below `min_sigma`: the likelihood is unbounded as σ → 0."""
    return dispersions_from_delta(manifold, delta, min_sigma)[0]


def dispersions_from_delta(
    manifold: Manifold, delta: np.ndarray, min_sigma: float
) -> tuple[np.ndarray, np.ndarray]:
    """The same σ and their log Z, each of shape (N,)."""
    least = _delta_of(manifold.gaussian, min_sigma)
    sigmas, log_z = manifold.gaussian.dispersions(np.maximum(delta, least))
    return np.where(delta > least, np.maximum(sigmas, min_sigma), min_sigma), log_z


@lru_cache(64)  # EM asks for it at every iteration
def _delta_of(gaussian: RadialGaussian, sigma: float) -> float:
    return float(gaussian.moments(np.array([sigma])).delta[0])


def parameters_from_labels(
    manifold: Manifold,
    labels: np.ndarray,
    observed: np.ndarray,
    ends: np.ndarray,
    centres: np.ndarray,
    d2: np.ndarray,
    min_sigma: float,
) -> Parameters:
    """The paper's initialisation: count transitions between clusters, σ_i from δ = mean d².

    `labels` and `d2` (squared distance of each point to its own centre) belong to the observed
    times; a transition is counted where both of its ends are observed. One pseudo-count is shared
    by each row, so that no transition starts as impossible.
    """
    n = len(centres)
    full = np.full(len(observed), -1)
    full[observed] = labels
    begins = np.concatenate([[0], ends[:-1]])
    before, after = full[:-1], full[1:]
    pair = (before >= 0) & (after >= 0)
    pair[begins[1:] - 1] = False
    counts = np.zeros((n, n))
    np.add.at(counts, (before[pair], after[pair]), 1.0)
    counts += _PSEUDO_COUNT / n
    start = np.full(n, _PSEUDO_COUNT / n)
    first = full[begins]
    np.add.at(start, first[first >= 0], 1.0)
    sizes = np.bincount(labels, minlength=n)
    sums = np.bincount(labels, weights=d2, minlength=n)
    overall = max(d2.mean(), np.finfo(float).tiny)
    delta = np.where(sizes > 0, sums / np.maximum(sizes, 1), overall)
    return Parameters(
        start / start.sum(),
        counts / counts.sum(axis=1, keepdims=True),
        centres,
        sigmas_from_delta(manifold, delta, min_sigma),
    )


def stationary_law(transmat: np.ndarray) -> np.ndarray:
    """The law that the chain keeps, π = πA; one of them if there are several.

    It is exactly 0 for states that the chain leaves for good.
    """
    if not np.isfinite(transmat).all():  # LAPACK would search for ever
        raise ValueError("transmat must be finite")
    n = len(transmat)
    system = np.vstack([transmat.T - np.eye(n), np.ones(n)])
    law = np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0]
    law = np.maximum(law, 0.0)
    returns = np.zeros(n, bool)
    for states in closed_classes(transmat):
        returns[states] = True
    law[~returns] = 0.0
    return law / law.sum()


def closed_classes(transmat: np.ndarray) -> list[np.ndarray]:
    """Sets of states that the chain goes round in for ever, once it is there."""
    possible = transmat > 0
    count, classes = connected_components(possible, directed=True, connection="strong")
    sets = [np.flatnonzero(classes == c) for c in range(count)]
    return [states for states in sets if not np.delete(possible[states], states, axis=1).any()]
