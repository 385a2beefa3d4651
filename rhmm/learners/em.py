"""Expectation–maximisation for Riemannian hidden Markov models (Baum–Welch on a manifold)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from rhmm.estimator import AUTO, check_components
from rhmm.learners.em_sizes import criterion_values, fit_sizes
from rhmm.learners.em_steps import Monitor, nbytes_held, run_em
from rhmm.learners.learner import Learner, Progress
from rhmm.manifolds import Manifold
from rhmm.model import HiddenMarkovModel
from rhmm.parameters import Parameters, floor_of_sigma, sigmas_from_delta
from rhmm.search import search
from rhmm.validation import (
    as_generator,
    check_callback,
    check_integer,
    check_lengths,
    check_number,
)

_PATIENCE = 3
"""Numbers of states that are tried beyond the best."""


class RiemannianHMM(HiddenMarkovModel):
    """Riemannian Gaussians on `manifold`, switched by a hidden Markov chain, learned by EM.

    Parameters
    ----------
    manifold
        Where the observations live: ``Hyperbolic(2)``, ``SPD(3)``, ``Euclidean(1)``…
    n_components
        Number of hidden states N, or ``"auto"``: the one that BIC prefers, see `rhmm.selection`.
        `n_components_` says how many there are.
    max_components
        The most states that ``"auto"`` tries; it stops earlier when three more are no better.
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
        n_components: int | str,
        *,
        max_components: int = 12,
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
        self.max_components = max_components
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
        if self.n_components != AUTO:
            check_components("n_components", self.n_components)
        check_components("max_components", self.max_components)
        check_integer("n_init", self.n_init, at_least=1)
        check_integer("n_iter", self.n_iter, at_least=0)
        check_number("tol", self.tol, at_least=0.0)
        self.manifold.check_min_sigma(self.min_sigma)
        check_callback(self.callback)
        if self.init is not None:
            self._check_init(self.init)

    def _check_init(self, init) -> None:
        if self.n_components == AUTO:
            raise ValueError("init must be None where n_components is 'auto'")
        fits = isinstance(init, HiddenMarkovModel) and init.manifold == self.manifold
        if fits and not init.__sklearn_is_fitted__():
            raise ValueError(
                "init has no parameters yet: fit it, or use RiemannianHMM.from_parameters"
            )
        if not fits or init.n_components_ != self.n_components:
            raise ValueError(
                f"init must be a model of {self.n_components} states on {self.manifold!r}"
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
        most = self.max_components if self.n_components == AUTO else self.n_components
        self.peak_nbytes_ = nbytes_held(X, most)
        return self

    def _start(self, X, observed, lengths, min_sigma: float) -> Parameters:
        n, rng = self.n_components, as_generator("random_state", self.random_state)
        if n == AUTO:
            return self._chosen(X, observed, lengths, min_sigma, rng)
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
            rng,
            tried=self.n_init,
            least_delta=float(self.manifold.delta(min_sigma)),
        )
        sigmas = sigmas_from_delta(self.manifold, found.delta, min_sigma)
        return Parameters(np.full(n, 1.0 / n), found.transmat, found.means, sigmas)

    def _chosen(self, X, observed, lengths, min_sigma: float, rng) -> Parameters:
        """The model with as many states as BIC prefers."""
        count = int(observed.sum())
        sizes = list(range(1, min(self.max_components, count) + 1))
        found = fit_sizes(
            self.manifold, X, observed, lengths, sizes, rng,
            min_sigma=min_sigma, patience=_PATIENCE,
        )  # fmt: skip
        tried = np.array(list(found))
        likelihood = np.array([monitor.log_likelihood[-1] for monitor in found.values()])
        bic = criterion_values("bic", likelihood, tried, self.manifold.dim, count)
        return found[int(tried[np.argmin(bic)])].parameters[-1]


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
