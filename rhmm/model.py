"""A hidden Markov model on a manifold whose parameters are known.

It samples, scores, filters, smooths and decodes. `rhmm.learners.em.RiemannianHMM` is this model
with a `fit`.
"""

from typing import Any, Self

import numpy as np
from scipy.optimize import linear_sum_assignment

from rhmm import inference, storage
from rhmm._jit import kernel
from rhmm.emissions import RIEMANNIAN, Law, RiemannianGaussians, check_law, n_parameters
from rhmm.estimator import AUTO, Estimator
from rhmm.forecast import Forecast
from rhmm.manifolds import Manifold, check_manifold
from rhmm.parameters import Parameters
from rhmm.validation import as_generator, check_integer, check_stochastic


class HiddenMarkovModel(Estimator):
    """Gaussians on `manifold`, switched by a hidden Markov chain of N states.

    Observations are ``X`` of shape ``(T, *point_shape)``, several sequences one after another with
    their sizes in `lengths`. A row with NaN is a missing observation.
    """

    n_components: Any
    """A whole number, or a word where the learner finds it."""
    emission: str

    @classmethod
    def from_parameters(
        cls,
        manifold: Manifold,
        startprob,
        transmat,
        means,
        sigmas=None,
        *,
        emission: str = RIEMANNIAN,
        covariances=None,
        degrees: float | None = None,
    ) -> Self:
        """A model with known parameters, ready to sample and decode.

        `startprob` has shape (N,), `transmat` (N, N), `means` (N, *point_shape). The paper's
        emission has `sigmas` (N,); every other has `covariances` in the shape that
        `rhmm.emissions.covariances` says, and one with heavy tails `degrees` of freedom too.
        """
        startprob, transmat = check_stochastic(startprob, transmat, names=("startprob", "transmat"))
        n = len(startprob)
        check_manifold(manifold)
        law = check_law(manifold, emission, n, means, sigmas, covariances, degrees)
        return cls._of_law(startprob, transmat, law)

    @classmethod
    def _of_law(cls, startprob: np.ndarray, transmat: np.ndarray, law: Law) -> Self:
        model = cls(manifold=law.manifold, n_components=len(startprob), emission=law.emission)
        model._learn(Parameters(startprob, transmat, law.means, law.sigmas), law)
        return model

    def _learn(self, parameters: Parameters, law: Law) -> None:
        self.parameters_, self._law = parameters, law

    # Parameters, by the names that users of hmmlearn know

    @property
    def parameters_(self) -> Parameters:
        """All parameters in one tuple."""
        try:
            return self._parameters
        except AttributeError:
            raise self._not_fitted(
                f"call fit, or use {type(self).__name__}.from_parameters"
            ) from None

    @parameters_.setter
    def parameters_(self, parameters: Parameters) -> None:
        self._parameters = Parameters(*(np.array(value, dtype=float) for value in parameters))

    @property
    def law_(self) -> Law:
        """The laws of the observations in each state."""
        parameters = self.parameters_
        if self._law.emission == RIEMANNIAN:  # whose parameters can be set
            return RiemannianGaussians(self.manifold, parameters.means, parameters.sigmas)
        return self._law

    @property
    def covariances_(self) -> np.ndarray:
        """Of an emission that has them, in the shape that `rhmm.emissions.covariances` says.

        With heavy tails they are scale matrices, see `rhmm.emissions.student`.
        """
        law = self.law_
        if law.covariances is None:
            raise AttributeError(f"emission={law.emission!r} has sigmas_, and no covariances_")
        return law.covariances

    @property
    def degrees_(self) -> float:
        """Degrees of freedom of an emission with heavy tails."""
        law = self.law_
        if law.degrees is None:
            raise AttributeError(f"emission={law.emission!r} has no degrees_ of freedom")
        return law.degrees

    @property
    def startprob_(self) -> np.ndarray:
        """π, shape (N,)."""
        return self.parameters_.startprob

    @property
    def transmat_(self) -> np.ndarray:
        """A, shape (N, N)."""
        return self.parameters_.transmat

    @property
    def means_(self) -> np.ndarray:
        """The c_i, shape (N, *point_shape)."""
        return self.parameters_.means

    @property
    def sigmas_(self) -> np.ndarray:
        """The σ_i, shape (N,); of other emissions than the paper's, those with the same E[d²]."""
        return self.parameters_.sigmas

    @property
    def n_components_(self) -> int:
        """Number of hidden states N: `n_components`, or what was found if that is ``"auto"``."""
        return len(self.startprob_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_parameters")

    def to_hmm(self) -> Self:
        """The model itself: every learner has this method."""
        return self

    # Inference

    def sample(self, n_samples: int, random_state=None) -> tuple[np.ndarray, np.ndarray]:
        """A chain of observations (T, *point_shape) and its hidden states (T,): ``X, states``."""
        count = check_integer("n_samples", n_samples, at_least=1)
        rng = as_generator("random_state", random_state)
        states = np.empty(count, dtype=np.int64)
        walk(self.startprob_.cumsum(), self.transmat_.cumsum(axis=1), rng.random(count), states)
        X, law = np.empty((count, *self.manifold.point_shape)), self.law_
        for i in range(len(self.startprob_)):
            mine = states == i
            X[mine] = law.draw(i, int(mine.sum()), rng)
        return X, states

    def log_density(self, X) -> np.ndarray:
        """log p(y_t | s_t = i), shape (T, N); a row of NaN where the observation is missing."""
        law = self.law_
        X, observed = self.manifold.observations("X", X)
        points = X if observed.all() else X[observed]
        out = law.log_densities(law.view(points))
        if len(points) < len(X):
            full = np.full((len(X), len(law.means)), np.nan)
            full[observed] = out
            out = full
        return out

    def _chain(self, X, lengths):
        return self.startprob_, self.transmat_, self.log_density(X), lengths

    def score(self, X, y=None, *, lengths=None) -> float:
        """log p(X) with respect to the Riemannian volume; `y` is ignored."""
        return inference.log_likelihood(*self._chain(X, lengths))

    def predict_proba(self, X, *, lengths=None) -> np.ndarray:
        """P(s_t = i | all of X), shape (T, N)."""
        return inference.smoothing(*self._chain(X, lengths)).gamma

    def filter_proba(self, X, *, lengths=None) -> np.ndarray:
        """P(s_t = i | X up to t), shape (T, N)."""
        return inference.filtering(*self._chain(X, lengths)).alpha

    def predict(self, X, *, lengths=None) -> np.ndarray:
        """The most probable state at each time given all of X, shape (T,).

        It maximises accuracy. For the most probable *path*, which hmmlearn's `predict` gives, see
        `decode`.
        """
        return self.predict_proba(X, lengths=lengths).argmax(axis=1)

    def decode(self, X, *, lengths=None) -> tuple[float, np.ndarray]:
        """Viterbi: the log-probability of the most probable path, and the path (T,)."""
        log_probability, path = inference.viterbi(*self._chain(X, lengths))
        return log_probability, path

    def forecast(self, X, steps: int) -> Forecast:
        """What follows one sequence X (T, *point_shape) in each of the next `steps` times."""
        count = check_integer("steps", steps, at_least=1)
        law = self.filter_proba(X)[-1]
        states = np.empty((count, len(law)))
        for h in range(count):
            law = law @ self.transmat_
            states[h] = law
        return Forecast(states, self.law_)

    # Choosing and comparing models

    @property
    def n_parameters(self) -> int:
        """Free parameters: π, A, c, σ or the covariances, and ν of heavy tails."""
        n = self.n_components_ if self.n_components == AUTO else self.n_components
        return n_parameters(self.manifold, self.emission, n)

    def aic(self, X, *, lengths=None) -> float:
        """Akaike's criterion on X; lower is better."""
        return -2.0 * self.score(X, lengths=lengths) + 2.0 * self.n_parameters

    def bic(self, X, *, lengths=None) -> float:
        """Bayes' criterion on X; lower is better."""
        X, observed = self.manifold.observations("X", X)
        penalty = self.n_parameters * np.log(observed.sum())
        return -2.0 * self.score(X, lengths=lengths) + float(penalty)

    def permuted(self, order) -> Self:
        """The same model with state ``order[i]`` renamed to i."""
        n = len(self.startprob_)
        try:
            order = np.asarray(order)
            good = order.dtype.kind in "iu" and np.array_equal(np.sort(order), np.arange(n))
        except ValueError:  # rows of unequal length, or no row at all
            good = False
        if not good:
            raise ValueError(f"order must be a permutation of {n} states")
        startprob, transmat, *_ = self.parameters_.permuted(order)
        return self._of_law(startprob, transmat, self.law_.permuted(order))

    def align_to(self, other: "HiddenMarkovModel") -> Self:
        """The same model with its states in the order of the states of `other` that they resemble.

        See `order_like`.
        """
        return self.permuted(self.order_like(other))

    def order_like(self, other: "HiddenMarkovModel") -> np.ndarray:
        """``order[i]`` is the state that resembles state i of `other`; shape (N,).

        Resemblance is the Bhattacharyya distance of the two Gaussians, as if space were flat
        around them; the assignment with the least total is taken.
        """
        check_model("other", other, self.manifold, len(self.startprob_))
        d2 = self.manifold.squared_distances(self.means_, other.means_)
        ours, theirs = self.sigmas_[None, :], other.sigmas_[:, None]
        squares = ours**2 + theirs**2
        cost = 0.25 * d2 / squares
        cost += 0.5 * self.manifold.dim * np.log(squares / (2.0 * ours * theirs))
        return linear_sum_assignment(cost)[1]

    # Files

    def save(self, path) -> None:
        """Write the parameters to a ``.json`` or ``.npz`` file, to the last digit; no pickle."""
        storage.save(path, self.parameters_, self.law_)

    @classmethod
    def load(cls, path) -> Self:
        """Read a model that `save` wrote."""
        return cls.from_parameters(**storage.load(path))


def check_model(name: str, model, manifold: Manifold, n_components: int) -> HiddenMarkovModel:
    """A model of so many states on that manifold."""
    if not isinstance(model, HiddenMarkovModel):
        raise ValueError(f"{name} must be a RiemannianHMM, not {model!r}")
    if (model.manifold, len(model.startprob_)) != (manifold, n_components):
        raise ValueError(f"{name} must have {n_components} states on {manifold!r}, not {model!r}")
    return model


@kernel
def walk(start, transition, uniforms, states):
    """Follow the chain: cumulative probabilities and one uniform number for each step."""
    row = start
    for t in range(len(states)):
        states[t] = min(np.searchsorted(row, uniforms[t] * row[-1], side="right"), len(row) - 1)
        row = transition[states[t]]
