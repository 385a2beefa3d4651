"""Expectation–maximisation for Riemannian hidden Markov models (Baum–Welch on a manifold)."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from rhmm.estimator import check_components
from rhmm.exceptions import ConvergenceWarning, warn_degenerate, warn_not_converged
from rhmm.inference import Smoothed, smoothing
from rhmm.inference.forward_backward import smoothing_scaled
from rhmm.learners.learner import Learner, Progress
from rhmm.manifolds import Manifold
from rhmm.model import HiddenMarkovModel
from rhmm.parameters import (
    Parameters,
    floor_of_sigma,
    log_densities,
    scaled_densities_into,
    sigmas_from_delta,
)
from rhmm.search import search
from rhmm.validation import (
    as_generator,
    check_callback,
    check_integer,
    check_lengths,
    check_number,
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


class RiemannianHMM(HiddenMarkovModel):
    """Riemannian Gaussians on `manifold`, switched by a hidden Markov chain, learned by EM.

    Parameters
    ----------
    manifold
        Where the observations live: ``Hyperbolic(2)``, ``SPD(3)``, ``Euclidean(1)``…
    n_components
        Number of hidden states N.
    n_init
        Starts that are tried on a sample of the data, see `rhmm.search`; EM goes on from the best.
    n_iter, tol
        EM stops after `n_iter` steps, or when a step gains less than `tol` in log-likelihood.
    min_sigma
        Floor of every σ_i: without one the likelihood is unbounded. None: 10⁻³, or 10⁻³ times the
        scale of the data if that is smaller.
    init
        Another `RiemannianHMM` to start EM from, instead of a search.
    random_state
        A seed or numpy Generator for the search.
    callback
        Called with the `Monitor` after each EM step; raise StopIteration in it to stop there.

    After `fit`: `startprob_` (N,), `transmat_` (N, N), `means_` (N, *point_shape), `sigmas_` (N,),
    `monitor_`, `peak_nbytes_`.

    Observations are ``X`` of shape ``(T, *point_shape)``, several sequences one after another with
    their sizes in `lengths`. A row with NaN is a missing observation.
    """

    def __init__(
        self,
        manifold: Manifold,
        n_components: int,
        *,
        n_init: int = 16,
        n_iter: int = 100,
        tol: float = 1e-4,
        min_sigma: float | None = None,
        init: HiddenMarkovModel | None = None,
        random_state=None,
        callback: Callable[[Monitor], None] | None = None,
    ):
        self.manifold = manifold
        self.n_components = n_components
        self.n_init = n_init
        self.n_iter = n_iter
        self.tol = tol
        self.min_sigma = min_sigma
        self.init = init
        self.random_state = random_state
        self.callback = callback

    def check_options(self) -> None:
        """Raise a ValueError that names the first wrong argument of the constructor."""
        super().check_options()
        n = check_components("n_components", self.n_components)
        check_integer("n_init", self.n_init, at_least=1)
        check_integer("n_iter", self.n_iter, at_least=0)
        check_number("tol", self.tol, at_least=0.0)
        self.manifold.check_min_sigma(self.min_sigma)
        check_callback(self.callback)
        if self.init is not None:
            fits = isinstance(self.init, HiddenMarkovModel) and (
                (self.init.manifold, self.init.n_components) == (self.manifold, n)
            )
            if not fits:
                raise ValueError(f"init must be a model of {n} states on {self.manifold!r}")
            if not self.init.__sklearn_is_fitted__():
                raise ValueError(
                    "init has no parameters yet: fit it, or use RiemannianHMM.from_parameters"
                )

    def __sklearn_clone__(self) -> "RiemannianHMM":
        """A copy that has learned nothing; `init` comes along with its parameters."""
        given = self.get_params(deep=False)
        init = given.pop("init")
        return type(self)(init=init, **{name: clone(v, safe=False) for name, v in given.items()})

    def fit(self, X, y=None, *, lengths=None) -> "RiemannianHMM":
        """Expectation–maximisation from the best of several starts (or from `init`); `y` is
        ignored."""
        self.check_options()
        X, observed = self.manifold.observations("X", X)
        lengths = check_lengths(lengths, len(X))
        min_sigma = floor_of_sigma(self.manifold, X[observed], self.min_sigma)
        self.monitor_ = run_em(
            self.manifold,
            X,
            observed,
            lengths,
            self._start(X, observed, lengths, min_sigma),
            n_iter=self.n_iter,
            tol=self.tol,
            min_sigma=min_sigma,
            callback=self.callback,
        )
        self.parameters_ = self.monitor_.parameters[-1]
        self.peak_nbytes_ = X.nbytes + 2 * self.n_components * len(X) * 8
        """Bytes that EM holds at once: the observations, and γ and d² of each in every state."""
        return self

    def _start(self, X, observed, lengths, min_sigma: float) -> Parameters:
        n = self.n_components
        if self.init is not None:
            start = self.init.parameters_
            return start._replace(sigmas=np.maximum(start.sigmas, min_sigma))
        if observed.sum() < n:
            raise ValueError(
                f"X must hold at least n_components={n} observations, not {observed.sum()}"
            )
        found = search(
            self.manifold,
            X,
            observed,
            lengths,
            n,
            as_generator("random_state", self.random_state),
            tried=self.n_init,
            least_delta=float(self.manifold.delta(min_sigma)),
        )
        sigmas = sigmas_from_delta(self.manifold, found.delta, min_sigma)
        return Parameters(np.full(n, 1.0 / n), found.transmat, found.means, sigmas)


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


class _ExpectationMaximisation(Learner):
    """EM among the learners: its callback sees the monitor, its path are the iterates."""

    keeps_path = True

    def learn(self, estimator: RiemannianHMM, X, watch=None) -> None:
        if watch is not None:
            estimator.callback = lambda monitor: watch(
                Progress(estimator, f"iteration {monitor.n_iter}", _guess(monitor.n_iter))
            )
        estimator.fit(X)

    def path(self, estimator: RiemannianHMM) -> Iterates:
        """The parameters after each iteration."""
        return Iterates.of(estimator.monitor_)

    def remark(self, estimator: RiemannianHMM) -> str:
        monitor = estimator.monitor_
        return "" if monitor.converged else f"stopped after {monitor.n_iter} iterations"


def _guess(iterations: int) -> float:
    """The share of the work that is done: how many iterations EM takes is not known before."""
    return iterations / (iterations + 10)


LEARNER = _ExpectationMaximisation(
    key="em",
    label="EM",
    about="Expectation–maximisation: it holds all data and goes over them again and again.",
    estimator=RiemannianHMM,
)
