"""The Baum–Welch algorithm: EM steps on a hidden Markov model, whatever its emission."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rhmm.emissions import Law
from rhmm.inference import Smoothed, smoothing
from rhmm.inference.forward_backward import smoothing_scaled
from rhmm.parameters import Parameters

LEAST_WEIGHT = 1e-6
"""A state that explains fewer expected observations than this keeps its parameters."""

_ROUNDING = 1e-9
"""The share of itself by which rounding may make the log-likelihood fall."""


@dataclass
class Monitor:
    """What happened during `fit`: entry k of each list belongs to the parameters after k steps."""

    log_likelihood: list[float] = field(default_factory=list)
    """log p(X)."""
    log_prior: list[float] = field(default_factory=list)
    """Of the emission, 0 for the paper's. The sum of both never falls but for a
    `ConvergenceWarning`."""
    parameters: list[Parameters] = field(default_factory=list)
    """The whole path, from the start to the result."""
    converged: bool = False
    """Whether the last step gained less than `tol`."""
    cancelled: bool = False
    """Whether the callback stopped the fit."""

    def note(self, reached: "Iterate", log_likelihood: float) -> None:
        """Add where a step has led."""
        self.parameters.append(reached.parameters)
        self.log_likelihood.append(log_likelihood)
        self.log_prior.append(reached.law.log_prior())

    def drop_last(self) -> None:
        """Forget the last step, which is not taken after all."""
        for path in (self.parameters, self.log_likelihood, self.log_prior):
            path.pop()

    def is_stopped_by(self, callback: Callable[["Monitor"], None] | None) -> bool:
        """Show itself to the callback; whether that has raised StopIteration."""
        if callback is not None:
            try:
                callback(self)
            except StopIteration:
                self.cancelled = True
        return self.cancelled

    @property
    def n_iter(self) -> int:
        """Number of EM steps taken."""
        return len(self.parameters) - 1

    @property
    def gain(self) -> float:
        """Of the last step, in log-likelihood and log-prior."""
        if not self.n_iter:
            return np.inf
        gained = self.log_likelihood[-1] - self.log_likelihood[-2]
        return gained + (self.log_prior[-1] - self.log_prior[-2])

    @property
    def has_fallen(self) -> bool:
        """Whether the last step lost more likelihood than rounding explains."""
        return self.gain < -_ROUNDING * max(abs(self.log_likelihood[-1]), 1.0)


class Iterate(NamedTuple):
    """A hidden Markov model between two steps of EM."""

    startprob: np.ndarray
    transmat: np.ndarray
    law: Law

    @property
    def parameters(self) -> Parameters:
        return Parameters(self.startprob, self.transmat, self.law.means, self.law.sigmas)


def climb(
    X: np.ndarray,
    observed: np.ndarray,
    lengths: np.ndarray,
    start: Iterate,
    *,
    n_iter: int,
    tol: float,
    min_sigma: float,
    callback: Callable[[Monitor], None] | None = None,
) -> tuple[Monitor, Iterate, Smoothed]:
    """Climb the likelihood of X (T, *point_shape) from `start`, in silence.

    A callback that raises StopIteration ends the climb. Returns what happened, the last iterate and
    its posteriors.
    """
    monitor = Monitor()
    points = X if observed.all() else X[observed]
    present = start
    view = start.law.view(points)
    while True:
        posterior = expected(present, view, observed, lengths)
        monitor.note(present, posterior.log_likelihood)
        if monitor.is_stopped_by(callback):
            break
        monitor.converged = monitor.gain < tol and not monitor.has_fallen
        if monitor.gain < tol or monitor.n_iter == n_iter:
            break
        gamma = posterior.gamma if len(points) == len(X) else posterior.gamma[observed]
        weights = np.ascontiguousarray(gamma.T)
        alive = weights.sum(axis=1) > LEAST_WEIGHT
        law, view = present.law.maximised(points, weights, alive, view, min_sigma)
        present = Iterate(*maximised_chain(posterior, lengths, present.transmat), law)
    return monitor, present, posterior


def expected(present: Iterate, view, observed: np.ndarray, lengths: np.ndarray) -> Smoothed:
    """The E-step from what the means see of the observed points."""
    startprob, transmat, law = present
    density, shift = law.scaled_densities(view)
    if len(density) < len(observed):
        density, shift = at_observed(observed, density, 1.0), at_observed(observed, shift, 0.0)
    posterior = smoothing_scaled(startprob, transmat, density, shift, np.cumsum(lengths))
    if posterior is None:
        log_density = at_observed(observed, law.log_densities(view), np.nan)
        posterior = smoothing(startprob, transmat, log_density, lengths)
    return posterior


def at_observed(observed: np.ndarray, values: np.ndarray, missing: float) -> np.ndarray:
    """The values in rows where something was observed, and `missing` in the others."""
    full = np.full((len(observed), *values.shape[1:]), missing)
    full[observed] = values
    return full


def nbytes_held(shape: tuple[int, ...], n: int, seen: int = 1) -> int:
    """Bytes that EM holds at once: observations of this shape, and of each in every state γ and the
    numbers that the means see."""
    return 8 * (math.prod(shape) + (1 + seen) * n * shape[0])


def maximised_chain(posterior: Smoothed, lengths, old: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The M-step of the chain: π (N,) and A (N, N); a state that is never left keeps its row."""
    firsts = np.cumsum(lengths) - lengths
    return chain_from_sums(posterior.gamma[firsts].mean(axis=0), posterior.zeta_sum, old)


def chain_from_sums(
    starts: np.ndarray, zeta_sum: np.ndarray, old: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same from γ at the starts of sequences (N,), summed up, and the sum of ζ (N, N)."""
    leaving = zeta_sum.sum(axis=1, keepdims=True)
    transmat = np.where(
        leaving > LEAST_WEIGHT,
        zeta_sum / np.maximum(leaving, LEAST_WEIGHT),
        old,
    )
    transmat /= transmat.sum(axis=1, keepdims=True)
    return starts / starts.sum(), transmat
