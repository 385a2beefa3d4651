"""Expectation–maximisation for hidden Markov models on manifolds."""

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

import numpy as np
from sklearn.base import clone

from rhmm.chunks import Chunks, as_chunks
from rhmm.emissions import (
    RIEMANNIAN,
    check_degrees,
    check_emission,
    free_parameters,
    n_parameters,
)
from rhmm.estimator import AUTO, check_components
from rhmm.learners.baum_welch import (
    Iterate,
    Iterates,
    Monitor,
    climb,
    nbytes_held,
    warn_of_lost_states,
    warn_of_the_end,
)
from rhmm.learners.checkpoint import Checkpoint
from rhmm.learners.chunked import climb_chunks
from rhmm.learners.constraints import (
    Constraints,
    check_frozen,
    check_transmat_prior,
    constraints_of,
    with_labels,
)
from rhmm.learners.em_sizes import criterion_values, fit_sizes
from rhmm.learners.learner import Learner, Progress
from rhmm.learners.named_start import named
from rhmm.learners.tangent_start import Emission, law_like, searched_start
from rhmm.manifolds import Manifold
from rhmm.model import HiddenMarkovModel
from rhmm.parameters import floor_of_sigma
from rhmm.search import sample_size
from rhmm.threads import check_n_jobs, mapping
from rhmm.validation import (
    as_generator,
    check_callback,
    check_integer,
    check_lengths,
    check_number,
)

_PATIENCE = 3
"""Numbers of states that are tried beyond the best."""
_NOT_IN_CHUNKS: dict[str, Any] = {
    "emission": RIEMANNIAN, "prior_sigma": None, "transmat_prior": 1.0, "stickiness": 0.0,
    "allowed": None, "frozen": (), "n_jobs": None,
}  # fmt: skip
"""Options that only a fit in memory knows, each with the value that it must have for chunks."""


class RiemannianHMM(HiddenMarkovModel):
    """Gaussians on `manifold`, switched by a hidden Markov chain, learned by EM.

    Parameters
    ----------
    manifold
        Where the observations live: ``Hyperbolic(2)``, ``SPD(3)``, ``Euclidean(1)``…
    n_components
        Number of hidden states N, or ``"auto"``: the one that BIC prefers, see `rhmm.selection`.
        `n_components_` says how many there are.
    max_components
        The most states that ``"auto"`` tries; it stops earlier when three more are no better.
    emission
        The law of the observations in a state: ``"riemannian"``, the paper's Riemannian Gaussian,
        or a wrapped Gaussian (see `rhmm.emissions.wrapped`) whose covariance is ``"isotropic"``,
        ``"diag"``, ``"tied"`` (one shape, shared by all states) or ``"full"``. With heavy tails:
        ``"student"``, which is isotropic, ``"student-diag"``, ``"student-tied"`` and
        ``"student-full"``, see `rhmm.emissions.student`.
    degrees
        Degrees of freedom of heavy tails, shared by all states; None: learned.
    shrinkage, prior_sigma
        A prior of σ or the covariances: `shrinkage` observations that spread alike in all
        directions, as a Gaussian of `prior_sigma` does, are added to those of each state, so that
        few observations give a covariance too. None: as many as the manifold has dimensions, but
        none for the paper's emission, and the mean spread of the start.
    transmat_prior, stickiness
        Dirichlet priors of the rows of A, as hmmlearn's: one number, or a matrix (N, N). 1 is no
        prior; 1 + a adds a transitions to those expected. `stickiness` adds to the diagonal alone.
    allowed
        Which transitions are possible, True or False in shape (N, N); all others stay at 0. The
        states of the start take the order in which the most of their transitions are allowed.
    frozen
        Parameters that keep the values of `init`: names among ``"startprob"``, ``"transmat"``,
        ``"means"``, and ``"sigmas"`` or ``"covariances"``.
    n_init
        Starts that are tried on a sample of the data, see `rhmm.search`; EM goes on from the best.
        With a wrapped Gaussian, so many more are tried, see `rhmm.learners.tangent_start`.
    n_iter, tol
        EM stops after `n_iter` steps, or when a step gains less than `tol` in log-likelihood.
    min_sigma
        Floor of every σ_i: without one the likelihood is unbounded. None: 10⁻³, or 10⁻³ times the
        scale of the data if that is smaller.
    init
        Another `RiemannianHMM` to start EM from, instead of a search.
    random_state
        A seed or numpy Generator for the search.
    n_jobs
        Threads that EM runs on after its start, as scikit-learn has it: None for one, −1 for as
        many as there are cores. Sequences are smoothed side by side, and states maximised; results
        have the same digits with any number. It pays from about 10,000 observations on.
    callback
        Called with the `Monitor` after each EM step; raise StopIteration in it to stop there.

    After `fit`: `startprob_` (N,), `transmat_` (N, N), `means_` (N, *point_shape), `sigmas_` (N,),
    `covariances_` of other emissions than the paper's, `degrees_` of heavy tails, `law_`,
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
        emission: str = RIEMANNIAN,
        degrees: float | None = None,
        shrinkage: float | None = None,
        prior_sigma: float | None = None,
        transmat_prior=1.0,
        stickiness: float = 0.0,
        allowed=None,
        frozen: tuple[str, ...] = (),
        n_init: int = 16,
        n_iter: int = 100,
        tol: float = 1e-4,
        min_sigma: float | None = None,
        init: HiddenMarkovModel | None = None,
        random_state=None,
        n_jobs: int | None = None,
        callback: Callable[[Monitor], None] | None = None,
    ):
        self.manifold = manifold
        self.n_components = n_components
        self.max_components = max_components
        self.emission = emission
        self.degrees = degrees
        self.shrinkage = shrinkage
        self.prior_sigma = prior_sigma
        self.transmat_prior = transmat_prior
        self.stickiness = stickiness
        self.allowed = allowed
        self.frozen = frozen
        self.n_init = n_init
        self.n_iter = n_iter
        self.tol = tol
        self.min_sigma = min_sigma
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def check_options(self) -> None:
        """Raise a ValueError that names the first wrong argument of the constructor."""
        super().check_options()
        if self.n_components != AUTO:
            check_components("n_components", self.n_components)
        check_components("max_components", self.max_components)
        check_emission(self.emission)
        if self.degrees is not None:
            check_degrees(self.degrees)
        if self.shrinkage is not None:
            check_number("shrinkage", self.shrinkage, at_least=0.0)
        if self.prior_sigma is not None:
            self.manifold.check_one_sigma("prior_sigma", self.prior_sigma)
        n = None if self.n_components == AUTO else self.n_components
        check_transmat_prior(self.transmat_prior, self.stickiness, self.allowed, n)
        check_frozen(self.frozen, self.emission, self.init is not None)
        check_integer("n_init", self.n_init, at_least=1)
        check_integer("n_iter", self.n_iter, at_least=0)
        check_number("tol", self.tol, at_least=0.0)
        self.manifold.check_min_sigma(self.min_sigma)
        check_n_jobs(self.n_jobs)
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

    def fit(
        self,
        X,
        y=None,
        *,
        lengths=None,
        labels=None,
        executor: Executor | None = None,
        checkpoint=None,
    ) -> "RiemannianHMM":
        """Expectation–maximisation from the best of several starts (or from `init`).

        `labels` (T,) are the states of those observations where they are known, and −1 where they
        are not; the log-likelihood of the monitor is then that of X and the labels. `y` is ignored.

        X may also come in chunks that do not fit into memory together: a list of arrays, an object
        that gives arrays each time it is gone over, Parquet files, a Dask array or bag, see
        `rhmm.chunks`. EM then makes one pass over X for each step, with the paper's emission, for a
        given number of states, without priors and labels. Two arguments are for chunks only.
        `executor` is any `concurrent.futures.Executor`, such as what `rhmm.open_executor` gives;
        None: this process. `checkpoint` is an ``.npz`` file that is written after each step; if it
        is there already, the fit goes on from it.
        """
        self.check_options()
        chunks = as_chunks(X, len(self.manifold.point_shape))
        if chunks is not None:
            return self._fit_chunks(chunks, lengths, labels, executor, checkpoint)
        for name, value in (("executor", executor), ("checkpoint", checkpoint)):
            if value is not None:
                raise ValueError(f"{name} must be None where X is one array in memory")
        X, observed = self.manifold.observations("X", X)
        lengths = check_lengths(lengths, len(X))
        min_sigma = floor_of_sigma(self.manifold, X[observed], self.min_sigma)
        if labels is not None and self.n_components == AUTO:
            raise ValueError("labels must be None where n_components is 'auto'")
        start = self._start(X, observed, lengths, min_sigma, self._rng())
        constraints = with_labels(self._constraints(start), labels, lengths, len(start.startprob))
        if self.init is None:
            start = named(start, X, observed, lengths, constraints, min_sigma)
        elif "transmat" not in self.frozen:
            start = start._replace(transmat=constraints.masked(start.transmat))
        with mapping(self.n_jobs) as each:
            self.monitor_, reached, posterior = climb(
                X, observed, lengths, start, n_iter=self.n_iter, tol=self.tol, min_sigma=min_sigma,
                constraints=constraints, callback=self.callback, each=each,
            )  # fmt: skip
        self._learn(self.monitor_.parameters[-1], reached.law)
        warn_of_the_end(self.monitor_, self.n_iter)
        warn_of_lost_states(reached.law, posterior.gamma.sum(axis=0), min_sigma)
        most = self.max_components if self.n_components == AUTO else self.n_components
        # means see d², or normal coordinates and log J
        seen = 1 if self.emission == RIEMANNIAN else self.manifold.dim + 1
        self.peak_nbytes_ = nbytes_held(X.shape, most, seen)
        return self

    def _fit_chunks(self, chunks: Chunks, lengths, labels, executor, checkpoint) -> "RiemannianHMM":
        for name, value in (("lengths", lengths), ("labels", labels)):
            if value is not None:
                raise ValueError(f"{name} must be None where X comes in chunks, see rhmm.chunks")
        given = self.get_params(deep=False)
        for name, default in _NOT_IN_CHUNKS.items():
            if not np.array_equal(given[name], default):
                raise ValueError(f"{name} must be {default!r} where X comes in chunks")
        if self.n_components == AUTO:
            raise ValueError("n_components must be a number where X comes in chunks")
        n, rng = self.n_components, self._rng()

        def begin(points, sizes) -> tuple[Iterate, float]:
            floor = floor_of_sigma(self.manifold, points, self.min_sigma)
            return self._start(points, np.ones(len(points), bool), sizes, floor, rng), floor

        self.monitor_, reached, sums, min_sigma, largest = climb_chunks(
            self.manifold,
            chunks,
            begin,
            sample_size=sample_size(n),
            seed=int(rng.integers(2**63)),
            n_iter=self.n_iter,
            tol=self.tol,
            callback=self.callback,
            executor=executor,
            checkpoint=None if checkpoint is None else Checkpoint(checkpoint, self.manifold, n),
        )
        self._learn(reached.parameters, reached.law)
        warn_of_the_end(self.monitor_, self.n_iter)
        warn_of_lost_states(reached.law, sums.occupied, min_sigma)
        self.peak_nbytes_ = nbytes_held((largest, *self.manifold.point_shape), n)
        return self

    def _rng(self) -> np.random.Generator:
        return as_generator("random_state", self.random_state)

    def _start(self, X, observed, lengths, min_sigma: float, rng: np.random.Generator) -> Iterate:
        n = self.n_components
        if n == AUTO:
            return self._chosen(X, observed, lengths, min_sigma, rng)
        if self.init is not None:
            startprob, transmat, *_ = self.init.parameters_
            law = law_like(self.init.law_, self._emission, min_sigma)
            return Iterate(startprob, transmat, law)
        if observed.sum() < n:
            raise ValueError(
                f"X must hold at least n_components={n} observations, not {observed.sum()}"
            )
        return searched_start(
            self._emission, self.manifold, X, observed, lengths, n, rng,
            tried=self.n_init, min_sigma=min_sigma,
        )  # fmt: skip

    @property
    def _emission(self) -> Emission:
        variance = None
        if self.prior_sigma is not None:
            variance = float(self.manifold.delta(self.prior_sigma)) / self.manifold.dim
        return Emission(self.emission, self.shrinkage, variance, self.degrees)

    def _constraints(self, start: Iterate) -> Constraints:
        return constraints_of(
            self.transmat_prior, self.stickiness, self.allowed, self.frozen, len(start.startprob)
        )

    @property
    def n_parameters(self) -> int:
        """Free parameters: π, A, c, σ or the covariances, and ν of heavy tails, unless known."""
        n = self.n_components_ if self.n_components == AUTO else self.n_components
        free = free_parameters(self.manifold, self.emission, n)
        if self.allowed is not None:
            free["transmat"] -= int((~np.asarray(self.allowed)).sum())
        known = {*self.frozen, *(() if self.degrees is None else ("degrees",))}
        return sum(count for name, count in free.items() if name not in known)

    def _chosen(self, X, observed, lengths, min_sigma: float, rng) -> Iterate:
        """The model with as many states as BIC prefers."""
        count = int(observed.sum())
        sizes = list(range(1, min(self.max_components, count) + 1))
        found = fit_sizes(
            self.manifold, X, observed, lengths, sizes, rng,
            emission=self._emission, tried=self.n_init, min_sigma=min_sigma, patience=_PATIENCE,
        )  # fmt: skip
        tried = list(found)
        likelihood = np.array([monitor.log_likelihood[-1] for monitor, _ in found.values()])
        free = np.array([n_parameters(self.manifold, self.emission, n) for n in tried])
        bic = criterion_values("bic", likelihood, free, count)
        return found[tried[int(np.argmin(bic))]][1]


class _ExpectationMaximisation(Learner):
    """EM among the learners: its callback sees the monitor, its path are the iterates."""

    keeps_path = True

    def learn(self, estimator: RiemannianHMM, X, watch=None, *, lengths=None) -> None:
        if watch is not None:
            estimator.callback = lambda monitor: watch(
                Progress(estimator, f"iteration {monitor.n_iter}", _guess(monitor.n_iter))
            )
        estimator.fit(X, lengths=lengths)

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
