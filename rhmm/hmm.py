"""A hidden Markov model whose observations live on a manifold: sample, score, decode, fit by EM."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import linear_sum_assignment

from rhmm import inference, storage
from rhmm._jit import kernel
from rhmm.em import Monitor, run_em
from rhmm.kmeans import RiemannianKMeans
from rhmm.manifolds import Manifold, check_manifold
from rhmm.parameters import MIN_SIGMA, Parameters, log_densities
from rhmm.validation import (
    as_generator,
    check_callback,
    check_integer,
    check_lengths,
    check_number,
    check_stochastic,
)


class RiemannianHMM:
    """Riemannian Gaussians on `manifold`, switched by a hidden Markov chain.

    Parameters
    ----------
    manifold
        Where the observations live: ``Hyperbolic(2)``, ``SPD(3)``, ``Euclidean(1)``…
    n_components
        Number of hidden states N.
    n_init
        Starts of the K-means that EM begins with.
    n_iter, tol
        EM stops after `n_iter` steps, or when a step gains less than `tol` in log-likelihood.
    min_sigma
        Floor of every σ_i: without one the likelihood is unbounded.
    init
        Another `RiemannianHMM` to start EM from, instead of K-means.
    random_state
        A seed or numpy Generator for K-means.
    callback
        Called with the `Monitor` after each EM step; raise StopIteration in it to stop there.

    After `fit`: `startprob_`, `transmat_`, `means_`, `sigmas_`, `monitor_`.

    Observations are ``X`` of shape ``(T, *point_shape)``, several sequences one after another with
    their sizes in `lengths`. A row with NaN is a missing observation.
    """

    def __init__(
        self,
        manifold: Manifold,
        n_components: int,
        *,
        n_init: int = 5,
        n_iter: int = 100,
        tol: float = 1e-4,
        min_sigma: float = MIN_SIGMA,
        init: "RiemannianHMM | None" = None,
        random_state=None,
        callback: Callable[[Monitor], None] | None = None,
    ):
        self.manifold = check_manifold(manifold)
        self.n_components = check_integer("n_components", n_components, at_least=1)
        self.n_init = check_integer("n_init", n_init, at_least=1)
        self.n_iter = check_integer("n_iter", n_iter, at_least=0)
        self.tol = check_number("tol", tol, at_least=0.0)
        self.min_sigma = manifold.check_one_sigma("min_sigma", min_sigma)
        fits = isinstance(init, RiemannianHMM) and (
            (init.manifold, init.n_components) == (manifold, n_components)
        )
        if init is not None and not fits:
            raise ValueError(f"init must be a model of {n_components} states on {manifold!r}")
        self.init = init
        self.random_state = random_state
        self.callback = check_callback(callback)

    @classmethod
    def from_parameters(cls, manifold, startprob, transmat, means, sigmas) -> "RiemannianHMM":
        """A model with known parameters, ready to sample and decode."""
        startprob, transmat = check_stochastic(startprob, transmat, names=("startprob", "transmat"))
        n = len(startprob)
        check_manifold(manifold)
        means = manifold.points("means", means)
        sigmas = manifold.check_sigma("sigmas", sigmas)
        if means.shape != (n, *manifold.point_shape):
            raise ValueError(f"means must hold {n} points, not an array of shape {means.shape}")
        if sigmas.shape != (n,):
            raise ValueError(f"sigmas must hold {n} numbers, not an array of shape {sigmas.shape}")
        model = cls(manifold, n)
        model.parameters_ = Parameters(startprob, transmat, means, sigmas)
        return model

    # Parameters, by the names that users of hmmlearn know

    @property
    def parameters_(self) -> Parameters:
        """All parameters in one tuple."""
        try:
            return self._parameters
        except AttributeError:
            raise AttributeError(
                "this model has no parameters yet: call fit, or use RiemannianHMM.from_parameters"
            ) from None

    @parameters_.setter
    def parameters_(self, parameters: Parameters) -> None:
        self._parameters = Parameters(*(np.array(value, dtype=float) for value in parameters))

    @property
    def startprob_(self) -> np.ndarray:
        return self.parameters_.startprob

    @property
    def transmat_(self) -> np.ndarray:
        return self.parameters_.transmat

    @property
    def means_(self) -> np.ndarray:
        return self.parameters_.means

    @property
    def sigmas_(self) -> np.ndarray:
        return self.parameters_.sigmas

    def __repr__(self) -> str:
        return f"RiemannianHMM({self.manifold!r}, n_components={self.n_components})"

    # Learning

    def fit(self, X, lengths=None) -> "RiemannianHMM":
        """Expectation–maximisation from K-means (or from `init`)."""
        X, observed = self.manifold.observations("X", X)
        lengths = check_lengths(lengths, len(X))
        if self.init is None and observed.sum() < self.n_components:
            raise ValueError(
                f"X must hold at least n_components={self.n_components} observations, "
                f"not {observed.sum()}"
            )
        if self.init is not None:
            if not hasattr(self.init, "_parameters"):
                raise ValueError(
                    "init has no parameters yet: fit it, or use RiemannianHMM.from_parameters"
                )
            start = self.init.parameters_
            start = start._replace(sigmas=np.maximum(start.sigmas, self.min_sigma))
        else:
            start = self._start(X, lengths)
        self.monitor_ = run_em(
            self.manifold,
            X,
            observed,
            lengths,
            start,
            n_iter=self.n_iter,
            tol=self.tol,
            min_sigma=self.min_sigma,
            callback=self.callback,
        )
        self.parameters_ = self.monitor_.parameters[-1]
        return self

    def _start(self, X, lengths) -> Parameters:
        clusters = RiemannianKMeans(
            self.manifold, self.n_components, n_init=self.n_init, random_state=self.random_state
        ).fit(X)
        return clusters.to_parameters(lengths, self.min_sigma)

    # Inference

    def sample(self, n_samples: int, random_state=None) -> tuple[np.ndarray, np.ndarray]:
        """A chain of observations and its hidden states: ``X, states``."""
        count = check_integer("n_samples", n_samples, at_least=1)
        rng = as_generator("random_state", random_state)
        states = np.empty(count, dtype=np.int64)
        _walk(self.startprob_.cumsum(), self.transmat_.cumsum(axis=1), rng.random(count), states)
        X = np.empty((count, *self.manifold.point_shape))
        for i in range(self.n_components):
            mine = states == i
            X[mine] = self.manifold.sample(self.means_[i], self.sigmas_[i], int(mine.sum()), rng)
        return X, states

    def log_density(self, X) -> np.ndarray:
        """log p(y_t; c_i, σ_i), shape (T, N); a row of NaN where the observation is missing."""
        X, observed = self.manifold.observations("X", X)
        points = X if observed.all() else X[observed]
        d2 = self.manifold.squared_distances(points, self.means_)
        out = log_densities(self.manifold, d2, self.sigmas_)
        if len(points) < len(X):
            full = np.full((len(X), self.n_components), np.nan)
            full[observed] = out
            out = full
        return out

    def _chain(self, X, lengths):
        return self.startprob_, self.transmat_, self.log_density(X), lengths

    def score(self, X, lengths=None) -> float:
        """log p(X) with respect to the Riemannian volume."""
        return inference.log_likelihood(*self._chain(X, lengths))

    def predict_proba(self, X, lengths=None) -> np.ndarray:
        """P(s_t = i | all of X), shape (T, N)."""
        return inference.smoothing(*self._chain(X, lengths)).gamma

    def filter_proba(self, X, lengths=None) -> np.ndarray:
        """P(s_t = i | X up to t), shape (T, N)."""
        return inference.filtering(*self._chain(X, lengths)).alpha

    def predict(self, X, lengths=None) -> np.ndarray:
        """The most probable state at each time given all of X: what maximises accuracy.

        For the most probable *path*, which hmmlearn's `predict` gives, see `decode`.
        """
        return self.predict_proba(X, lengths).argmax(axis=1)

    def decode(self, X, lengths=None) -> tuple[float, np.ndarray]:
        """Viterbi: the log-probability of the most probable path, and the path."""
        return tuple(inference.viterbi(*self._chain(X, lengths)))

    # Choosing and comparing models

    @property
    def n_parameters(self) -> int:
        """Free parameters: π, A, c and σ."""
        n = self.n_components
        return (n - 1) + n * (n - 1) + n * self.manifold.dim + n

    def aic(self, X, lengths=None) -> float:
        """Akaike's criterion on X; lower is better."""
        return -2.0 * self.score(X, lengths) + 2.0 * self.n_parameters

    def bic(self, X, lengths=None) -> float:
        """Bayes' criterion on X; lower is better."""
        X, observed = self.manifold.observations("X", X)
        penalty = self.n_parameters * np.log(observed.sum())
        return -2.0 * self.score(X, lengths) + float(penalty)

    def permuted(self, order) -> "RiemannianHMM":
        """The same model with state ``order[i]`` renamed to i."""
        n = self.n_components
        try:
            order = np.asarray(order)
            good = order.dtype.kind in "iu" and np.array_equal(np.sort(order), np.arange(n))
        except ValueError:  # rows of unequal length, or no row at all
            good = False
        if not good:
            raise ValueError(f"order must be a permutation of {n} states")
        return RiemannianHMM.from_parameters(self.manifold, *self.parameters_.permuted(order))

    def align_to(self, other: "RiemannianHMM") -> "RiemannianHMM":
        """The same model with its states in the order of the states of `other` that they resemble.

        See `order_like`.
        """
        return self.permuted(self.order_like(other))

    def order_like(self, other: "RiemannianHMM") -> np.ndarray:
        """``order[i]`` is the state that resembles state i of `other`.

        Resemblance is the Bhattacharyya distance of the two Gaussians, as if space were flat
        around them; the assignment with the least total is taken.
        """
        check_model("other", other, self.manifold, self.n_components)
        d2 = self.manifold.squared_distances(self.means_, other.means_)
        ours, theirs = self.sigmas_[None, :], other.sigmas_[:, None]
        squares = ours**2 + theirs**2
        cost = 0.25 * d2 / squares
        cost += 0.5 * self.manifold.dim * np.log(squares / (2.0 * ours * theirs))
        return linear_sum_assignment(cost)[1]

    # Files

    def save(self, path) -> None:
        """Write the parameters to a ``.json`` or ``.npz`` file, to the last digit; no pickle."""
        storage.save(path, self.manifold, self.parameters_)

    @classmethod
    def load(cls, path) -> "RiemannianHMM":
        """Read a model that `save` wrote."""
        return cls.from_parameters(*storage.load(path))


def check_model(name: str, model, manifold: Manifold, n_components: int) -> RiemannianHMM:
    """A model of so many states on that manifold."""
    if not isinstance(model, RiemannianHMM):
        raise ValueError(f"{name} must be a RiemannianHMM, not {model!r}")
    if (model.manifold, model.n_components) != (manifold, n_components):
        raise ValueError(f"{name} must have {n_components} states on {manifold!r}, not {model!r}")
    return model


@kernel
def _walk(start, transition, uniforms, states):
    """Follow the chain: cumulative probabilities and one uniform number for each step."""
    row = start
    for t in range(len(states)):
        states[t] = min(np.searchsorted(row, uniforms[t] * row[-1], side="right"), len(row) - 1)
        row = transition[states[t]]
