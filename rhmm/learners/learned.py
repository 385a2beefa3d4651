"""What an online learner has learned so far, as people read it."""

from abc import abstractmethod

import numpy as np

from rhmm.emissions import Law, RiemannianGaussians
from rhmm.estimator import Estimator
from rhmm.learners.em import RiemannianHMM
from rhmm.parameters import stationary_law


class Learned(Estimator):
    """The parameters of an estimator with a state that changes, and the model that they make."""

    @property
    @abstractmethod
    def _state(self):
        """The state of the algorithm, with `transmat`, `means` and `delta`."""

    def _law(self, state) -> Law:
        """The laws of the observations in each state, as learned."""
        return RiemannianGaussians(
            self.manifold, state.means.copy(), self.manifold.sigma(state.delta)
        )

    @property
    def n_components_(self) -> int:
        """Number of states N, as learned so far."""
        return len(self._state.delta)

    @property
    def transmat_(self) -> np.ndarray:
        """A as learned so far, shape (N, N)."""
        return self._state.transmat.copy()

    @property
    def means_(self) -> np.ndarray:
        """The c_i as learned so far, shape (N, *point_shape)."""
        return self._state.means.copy()

    @property
    def sigmas_(self) -> np.ndarray:
        """The σ_i as learned so far, shape (N,)."""
        return self._law(self._state).sigmas

    @property
    def covariances_(self) -> np.ndarray:
        """Of an emission that has them, in the shape that `rhmm.emissions.covariances` says."""
        return self.to_hmm().covariances_

    @property
    def degrees_(self) -> float:
        """Degrees of freedom of an emission with heavy tails: those of the start, or of the latest
        review."""
        return self.to_hmm().degrees_

    def to_hmm(self) -> RiemannianHMM:
        """What has been learned, as a model that scores and decodes; it starts stationary."""
        transmat = self.transmat_
        return RiemannianHMM._of_law(stationary_law(transmat), transmat, self._law(self._state))

    def predict(self, X, *, lengths=None) -> np.ndarray:
        """The most probable state at each time given all of X, shape (T,): that of `to_hmm`."""
        return self.to_hmm().predict(X, lengths=lengths)

    def predict_proba(self, X, *, lengths=None) -> np.ndarray:
        """P(s_t = i | all of X), shape (T, N): that of `to_hmm`."""
        return self.to_hmm().predict_proba(X, lengths=lengths)

    def score(self, X, y=None, *, lengths=None) -> float:
        """log p(X) under what has been learned; `y` is ignored."""
        return self.to_hmm().score(X, lengths=lengths)
