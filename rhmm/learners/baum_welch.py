"""The Baum–Welch algorithm: EM steps on a hidden Markov model, whatever its emission."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rhmm.emissions import Law
from rhmm.exceptions import ConvergenceWarning, warn_degenerate, warn_not_converged
from rhmm.inference import Smoothed, smoothing
from rhmm.inference.forward_backward import smoothing_scaled
from rhmm.learners.constraints import FREE, Constraints
from rhmm.parameters import Parameters
from rhmm.threads import Map

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
    """Of the emission and of A, 0 where these have none. The sum of both never falls but for a
    `ConvergenceWarning`."""
    parameters: list[Parameters] = field(default_factory=list)
    """The whole path, from the start to the result."""
    converged: bool = False
    """Whether the last step gained less than `tol`."""
    cancelled: bool = False
    """Whether the callback stopped the fit."""

    def note(self, reached: "Iterate", log_likelihood: float, log_prior: float = 0.0) -> None:
        """Add where a step has led; `log_prior` is that of A."""
        self.parameters.append(reached.parameters)
        self.log_likelihood.append(log_likelihood)
        self.log_prior.append(reached.law.log_prior() + log_prior)

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


class Iterates(NamedTuple):
    """The path of EM: row r belongs to the parameters after ``step[r]`` iterations."""

    step: np.ndarray
    """Shape (R,)."""
    startprob: np.ndarray
    """Shape (R, N)."""
    transmat: np.ndarray
    """Shape (R, N, N)."""
    means: np.ndarray
    """Shape (R, N, *point_shape)."""
    sigmas: np.ndarray
    """Shape (R, N)."""
    log_likelihood: np.ndarray
    """log p(X), shape (R,)."""

    @classmethod
    def of(cls, monitor: Monitor) -> "Iterates":
        """All that a fit went through."""
        startprob, transmat, means, sigmas = map(np.stack, zip(*monitor.parameters, strict=True))
        step, log_likelihood = np.arange(len(startprob)), np.array(monitor.log_likelihood)
        return cls(step, startprob, transmat, means, sigmas, log_likelihood)

    def permuted(self, order: np.ndarray) -> "Iterates":
        """The same path with state ``order[i]`` renamed to i."""
        of_states = {
            name: getattr(self, name)[:, order] for name in ("startprob", "means", "sigmas")
        }
        return self._replace(transmat=self.transmat[:, order][:, :, order], **of_states)


def climb(
    X: np.ndarray,
    observed: np.ndarray,
    lengths: np.ndarray,
    start: Iterate,
    *,
    n_iter: int,
    tol: float,
    min_sigma: float,
    constraints: Constraints = FREE,
    callback: Callable[[Monitor], None] | None = None,
    each: Map = map,
) -> tuple[Monitor, Iterate, Smoothed]:
    """Climb the likelihood of X (T, *point_shape) from `start`, in silence.

    Transitions that are forbidden must be so in `start`: they then stay at 0. A callback that
    raises StopIteration ends the climb. `each` maps by several threads. Returns what happened, the
    last iterate and its posteriors.
    """
    monitor = Monitor()
    points = X if observed.all() else X[observed]
    present = start
    view = start.law.view(points)
    while True:
        posterior = expected(present, view, observed, lengths, constraints, each)
        monitor.note(present, posterior.log_likelihood, constraints.log_prior(present.transmat))
        if monitor.is_stopped_by(callback):
            break
        monitor.converged = monitor.gain < tol and not monitor.has_fallen
        if monitor.gain < tol or monitor.n_iter == n_iter:
            break
        gamma = posterior.gamma if len(points) == len(X) else posterior.gamma[observed]
        weights = np.ascontiguousarray(gamma.T)
        alive = weights.sum(axis=1) > LEAST_WEIGHT
        frozen = constraints.frozen
        law, view = present.law.maximised(points, weights, alive, view, min_sigma, frozen, each)
        if constraints.added is not None:
            zeta_sum = posterior.zeta_sum + constraints.added
            posterior = posterior._replace(zeta_sum=zeta_sum)
        startprob, transmat = maximised_chain(posterior, lengths, present.transmat)
        if "startprob" in frozen:
            startprob = present.startprob
        if "transmat" in frozen:
            transmat = present.transmat
        present = Iterate(startprob, transmat, law)
    return monitor, present, posterior


def expected(
    present: Iterate,
    view,
    observed: np.ndarray,
    lengths: np.ndarray,
    constraints: Constraints = FREE,
    each: Map = map,
) -> Smoothed:
    """The E-step from what the means see of the observed points."""
    startprob, transmat, law = present
    if constraints.labels is not None:
        log_density = at_observed(observed, law.log_densities(view).T, 0.0).T
        constraints.mask_densities(log_density)
        return smoothing(startprob, transmat, log_density, lengths)
    density, shift = law.scaled_densities(view, each)
    if len(shift) < len(observed):
        density, shift = at_observed(observed, density, 1.0), at_observed(observed, shift, 0.0)
    posterior = smoothing_scaled(startprob, transmat, density, shift, np.cumsum(lengths), each)
    if posterior is None:
        log_density = at_observed(observed, law.log_densities(view).T, np.nan).T
        posterior = smoothing(startprob, transmat, log_density, lengths)
    return posterior


def at_observed(observed: np.ndarray, values: np.ndarray, missing: float) -> np.ndarray:
    """The values (…, K) at the K times where something was observed, `missing` at the others."""
    full = np.full((*values.shape[:-1], len(observed)), missing)
    full[..., observed] = values
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


def warn_of_the_end(monitor: Monitor, n_iter: int) -> None:
    """Warn if EM has fallen, or has not converged within `n_iter` steps."""
    if monitor.has_fallen:
        warnings.warn(
            f"EM stopped: step {monitor.n_iter} lost {-monitor.gain:.3g} in log-likelihood",
            ConvergenceWarning,
            stacklevel=3,
        )
    elif not (monitor.converged or monitor.cancelled or n_iter == 0):
        warn_not_converged(f"EM ({n_iter} iterations)")


def warn_of_lost_states(law: Law, occupied: np.ndarray, min_sigma: float) -> None:
    """Warn of states that explain nothing, or a single point.

    `occupied` (N,) is the number of observations that each state is expected to explain.
    """
    for i in np.flatnonzero(occupied <= LEAST_WEIGHT).tolist():
        warn_degenerate("explains no observation; it keeps its last parameters", i)
    for i in np.flatnonzero(law.collapsed(min_sigma) & (occupied > LEAST_WEIGHT)).tolist():
        warn_degenerate(f"has collapsed onto a point; its sigma is min_sigma={min_sigma:g}", i)
