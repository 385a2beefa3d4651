"""The climb of EM from a start: its steps, and what is kept of them."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from rhmm.exceptions import ConvergenceWarning, warn_degenerate, warn_not_converged
from rhmm.inference import Smoothed, smoothing
from rhmm.inference.forward_backward import smoothing_scaled
from rhmm.manifolds import Manifold
from rhmm.parameters import (
    Parameters,
    log_densities,
    scaled_densities_into,
    sigmas_from_delta,
)

_LEAST_WEIGHT = 1e-6
"""A state that explains fewer expected observations than this keeps its parameters."""

_ROUNDING = 1e-9
"""The share of itself by which rounding may make the log-likelihood fall."""


@dataclass
class Monitor:
    """What happened during `fit`: entry k of each list belongs to the parameters after k steps."""

    log_likelihood: list[float] = field(default_factory=list)
    """log p(X), which never falls but for a `ConvergenceWarning`."""
    parameters: list[Parameters] = field(default_factory=list)
    """The whole path, from the start to the result."""
    converged: bool = False
    """Whether the last step gained less than `tol`."""
    cancelled: bool = False
    """Whether the callback stopped the fit."""

    @property
    def n_iter(self) -> int:
        """Number of EM steps taken."""
        return len(self.parameters) - 1

    @property
    def _gain(self) -> float:
        """Of the last step, in log-likelihood."""
        return self.log_likelihood[-1] - self.log_likelihood[-2] if self.n_iter else np.inf

    @property
    def _has_fallen(self) -> bool:
        """Whether the last step lost more likelihood than rounding explains."""
        return self._gain < -_ROUNDING * max(abs(self.log_likelihood[-1]), 1.0)


def run_em(
    manifold: Manifold,
    X: np.ndarray,
    observed: np.ndarray,
    lengths: np.ndarray,
    start: Parameters,
    *,
    n_iter: int,
    tol: float,
    min_sigma: float,
    callback: Callable[[Monitor], None] | None,
) -> Monitor:
    """Climb the likelihood from `start`; `callback` sees the monitor after every step.

    A callback that raises StopIteration ends the climb; the parameters so far are the result.
    """
    monitor = Monitor()
    points = X if observed.all() else X[observed]
    present = start
    d2 = manifold.squared_distances(points, start.means)
    while True:
        posterior = _expect(manifold, d2, observed, lengths, present)
        monitor.parameters.append(present)
        monitor.log_likelihood.append(posterior.log_likelihood)
        if callback is not None:
            try:
                callback(monitor)
            except StopIteration:
                monitor.cancelled = True
                break
        monitor.converged = monitor._gain < tol and not monitor._has_fallen
        if monitor._gain < tol or monitor.n_iter == n_iter:
            break
        present, d2 = _maximise(
            manifold, points, observed, lengths, posterior, present, d2, min_sigma
        )
    _warn_of_the_end(monitor, n_iter)
    _warn_of_lost_states(present, posterior, min_sigma)
    return monitor


def nbytes_held(X: np.ndarray, n: int) -> int:
    """Bytes that EM holds at once: the observations, and γ and d² of each in every state."""
    return X.nbytes + 2 * n * len(X) * 8


def _expect(
    manifold: Manifold,
    d2: np.ndarray,
    observed: np.ndarray,
    lengths: np.ndarray,
    present: Parameters,
) -> Smoothed:
    """The E-step from d² (N, number of observed times)."""
    startprob, transmat, _, sigmas = present
    count, n = d2.shape[1], len(sigmas)
    density, shift = np.empty((count, n)), np.empty(count)
    log_z = manifold.gaussian.moments(sigmas).log_z
    scaled_densities_into(d2, -0.5 / sigmas**2, log_z, density, shift)
    if count < len(observed):
        density, shift = _at(observed, density, 1.0), _at(observed, shift, 0.0)
    posterior = smoothing_scaled(startprob, transmat, density, shift, np.cumsum(lengths))
    if posterior is None:
        log_density = _at(observed, log_densities(manifold, d2, sigmas), np.nan)
        posterior = smoothing(startprob, transmat, log_density, lengths)
    return posterior


def _at(observed: np.ndarray, values: np.ndarray, missing: float) -> np.ndarray:
    """The values in rows where something was observed, and `missing` in the others."""
    full = np.full((len(observed), *values.shape[1:]), missing)
    full[observed] = values
    return full


def _maximise(
    manifold: Manifold,
    points: np.ndarray,
    observed: np.ndarray,
    lengths: np.ndarray,
    posterior: Smoothed,
    old: Parameters,
    d2: np.ndarray,
    min_sigma: float,
) -> tuple[Parameters, np.ndarray]:
    """The M-step; returns the new parameters and d² (N, T) to their means."""
    gamma = posterior.gamma if len(points) == len(observed) else posterior.gamma[observed]
    weights = np.ascontiguousarray(gamma.T)
    occupied = weights.sum(axis=1)
    alive = occupied > _LEAST_WEIGHT
    means, sigmas = old.means.copy(), old.sigmas.copy()
    means[alive], d2_alive, _ = manifold.recentre(points, weights[alive], old.means[alive])
    delta = np.einsum("it,it->i", weights[alive], d2_alive) / occupied[alive]
    sigmas[alive] = sigmas_from_delta(manifold, delta, min_sigma)
    if alive.all():
        d2 = d2_alive
    else:
        d2 = d2.copy()
        d2[alive] = d2_alive
    leaving = posterior.zeta_sum.sum(axis=1, keepdims=True)
    transmat = np.where(
        leaving > _LEAST_WEIGHT,
        posterior.zeta_sum / np.maximum(leaving, _LEAST_WEIGHT),
        old.transmat,
    )
    firsts = np.cumsum(lengths) - lengths
    startprob = posterior.gamma[firsts].mean(axis=0)
    transmat /= transmat.sum(axis=1, keepdims=True)
    return Parameters(startprob / startprob.sum(), transmat, means, sigmas), d2


def _warn_of_the_end(monitor: Monitor, n_iter: int) -> None:
    if monitor._has_fallen:
        warnings.warn(
            f"EM stopped: step {monitor.n_iter} lost {-monitor._gain:.3g} in log-likelihood",
            ConvergenceWarning,
            stacklevel=4,
        )
    elif not (monitor.converged or monitor.cancelled or n_iter == 0):
        warn_not_converged(f"EM ({n_iter} iterations)")


def _warn_of_lost_states(present: Parameters, posterior: Smoothed, min_sigma: float) -> None:
    occupied = posterior.gamma.sum(axis=0)
    for i in np.flatnonzero(occupied <= _LEAST_WEIGHT):
        warn_degenerate(f"state {i} explains no observation; it keeps its last parameters")
    for i in np.flatnonzero((present.sigmas <= min_sigma) & (occupied > _LEAST_WEIGHT)):
        warn_degenerate(
            f"state {i} has collapsed onto a point; its sigma is min_sigma={min_sigma:g}"
        )
