"""EM beside an endless stream: fitted to the latest observations when the visitor asks for it.

Between two fits its parameters stand still, and it decodes the stream by the filter under them. A
fit belongs to a time of the stream, which waits for it: so what follows is always the same.
"""

import threading
import time

import numpy as np

from rhmm import RiemannianHMM
from rhmm.inference.onward import filter_onward
from rhmm.learners import em
from rhmm.manifolds import Manifold
from rhmm.parameters import stationary_law

RECENT = 10_000
"""Observations that it is fitted to."""

_one_at_a_time = threading.Lock()


class Refitted:
    """An EM that can be asked what an online learner is asked."""

    def __init__(self, manifold: Manifold, n_states: int, seed: int):
        self._manifold = manifold
        self._n_states = n_states
        self._seed = seed
        self._recent = np.empty((RECENT, *manifold.point_shape))
        """The latest observations; the oldest is overwritten by the next."""
        self._ends = np.zeros(RECENT, bool)
        """After which of them a sequence ends."""
        self._seen = 0
        self._model: RiemannianHMM | None = None
        self._found: tuple[RiemannianHMM, int, float] | None = None
        """What a fit has found, not used yet: the model, after how many observations, and how many
        microseconds each of them took."""
        self._predicted = np.empty(0)
        """The law of the next state given all so far, shape (N,)."""
        self._thread: threading.Thread | None = None
        self.log_likelihood_ = 0.0
        self.fitted_at_: int | None = None
        """After how many observations it was fitted last."""
        self.micros_ = float("nan")

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    @property
    def state_nbytes_(self) -> int:
        """Of the observations that it keeps, which are nearly all of it."""
        return self._recent.nbytes

    @property
    def means_(self) -> np.ndarray:
        return self._fitted.means_

    @property
    def transmat_(self) -> np.ndarray:
        return self._fitted.transmat_

    @property
    def _fitted(self) -> RiemannianHMM:
        if self._model is None:
            raise AttributeError("it was not fitted yet")
        return self._model

    @property
    def least_size(self) -> int:
        """Observations that a fit needs."""
        return 10 * self._n_states

    @property
    def is_busy(self) -> bool:
        """Whether a fit is under way."""
        return self._thread is not None and self._thread.is_alive()

    def refit(self) -> None:
        """Begin to fit it to the latest observations, in a thread: other streams do not wait."""
        if self.is_busy or not self._seen:
            return
        kept = min(self._seen, RECENT)
        numbers = np.arange(self._seen - kept, self._seen) % RECENT
        ends = np.append(np.flatnonzero(self._ends[numbers[:-1]]) + 1, kept)
        self._thread = threading.Thread(
            target=self._fit,
            args=(self._recent[numbers], np.diff(ends, prepend=0), self._seen),
            daemon=True,
        )
        self._thread.start()

    def _fit(self, X: np.ndarray, lengths: np.ndarray, seen: int) -> None:
        with _one_at_a_time:
            begin = time.thread_time()
            if np.count_nonzero(~_is_missing(X)) < self.least_size:
                return
            learner = em.LEARNER.make(self._manifold, self._n_states, self._seed, {})
            model = learner.fit(X, lengths=lengths)
            self._found = model, seen, 1e6 * (time.thread_time() - begin) / len(X)

    def partial_fit_predict_proba(self, X: np.ndarray, *, lengths=None) -> np.ndarray:
        """Keep the observations; returns P(state | all until then) of each, shape (n, N).

        With `lengths` the sequence ends with them.
        """
        places = (self._seen + np.arange(len(X)))[-RECENT:] % RECENT
        self._recent[places], self._ends[places] = X[-RECENT:], False
        self._ends[places[-1]] = lengths is not None
        self._seen += len(X)
        if self._found is not None:
            self._model, self.fitted_at_, self.micros_ = self._found
            self._found, self._predicted = None, stationary_law(self._model.transmat_)
        if self._model is None:
            return np.full((len(X), self._n_states), 1.0 / self._n_states)
        filtered = self._filtered(self._model, X)
        if lengths is not None:
            self._predicted = stationary_law(self._model.transmat_)
        return filtered

    def _filtered(self, model: RiemannianHMM, X: np.ndarray) -> np.ndarray:
        density = np.full((len(X), self._n_states), np.nan)
        there = ~_is_missing(X)
        if there.any():
            density[there] = model.log_density(X[there])
        filtered, predictive = np.empty_like(density), np.empty(len(X))
        self._predicted = filter_onward(
            self._predicted, model.transmat_, density, filtered, predictive
        )
        # in order, so that the sum is the same in whatever pieces it is made
        self.log_likelihood_ = float(np.append(self.log_likelihood_, predictive).cumsum()[-1])
        return filtered


def _is_missing(X: np.ndarray) -> np.ndarray:
    return np.isnan(X).reshape(len(X), -1).any(axis=1)
