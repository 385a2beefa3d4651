"""EM beside an endless stream: fitted to the latest observations when the visitor asks for it.

Between two fits its parameters stand still, and it decodes the stream by the filter under them.
"""

import threading
import time

import numpy as np

from rhmm import RiemannianHMM
from rhmm.learners import em
from rhmm.manifolds import Manifold

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
        self._seen = 0
        self._model: RiemannianHMM | None = None
        self._found: tuple[RiemannianHMM, int, float] | None = None
        """What a fit has found, not used yet: the model, after how many observations, and how many
        microseconds each of them took."""
        self._law = np.full(n_states, 1.0 / n_states)
        self._thread: threading.Thread | None = None
        self.log_likelihood_ = 0.0
        self.fitted_at_: int | None = None
        """After how many observations it was fitted last."""
        self.micros_ = float("nan")

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    @property
    def state_nbytes_(self) -> int:
        """Almost all of it are the observations that it keeps."""
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
    def is_busy(self) -> bool:
        """Whether a fit is under way."""
        return self._thread is not None and self._thread.is_alive()

    def refit(self) -> None:
        """Begin to fit it to the latest observations, in a thread: the stream does not wait."""
        if self.is_busy or not self._seen:
            return
        kept = min(self._seen, RECENT)
        numbers = np.arange(self._seen - kept, self._seen) % RECENT
        self._thread = threading.Thread(
            target=self._fit, args=(self._recent[numbers], self._seen), daemon=True
        )
        self._thread.start()

    def _fit(self, X: np.ndarray, seen: int) -> None:
        with _one_at_a_time:
            begin = time.thread_time()
            present = X[~_is_missing(X)]
            if len(present) < 10 * self._n_states:
                return
            model = em.LEARNER.make(self._manifold, self._n_states, self._seed, {}).fit(X)
            self._found = model, seen, 1e6 * (time.thread_time() - begin) / len(X)

    def partial_fit_predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Keep the observations; returns P(state | all until then) of each, shape (n, N)."""
        self._recent[(self._seen + np.arange(len(X)))[-RECENT:] % RECENT] = X[-RECENT:]
        self._seen += len(X)
        if self._found is not None:
            self._model, self.fitted_at_, self.micros_ = self._found
            self._found = None
        if self._model is None:
            return np.full((len(X), self._n_states), 1.0 / self._n_states)
        probabilities = self._filtered(self._model, X)
        self._law = probabilities[-1]
        return probabilities

    def _filtered(self, model: RiemannianHMM, X: np.ndarray) -> np.ndarray:
        begin, transmat = self._law @ model.transmat_, model.transmat_
        if _is_missing(X).all():  # then only time passes
            laws = [begin]
            for _ in range(len(X) - 1):
                laws.append(laws[-1] @ transmat)
            return np.array(laws)
        going_on = RiemannianHMM.from_parameters(
            self._manifold, begin / begin.sum(), transmat, model.means_, model.sigmas_
        )
        self.log_likelihood_ += going_on.score(X)
        return going_on.filter_proba(X)


def _is_missing(X: np.ndarray) -> np.ndarray:
    return np.isnan(X).reshape(len(X), -1).any(axis=1)
