"""A learner of a user's own: what it takes to appear everywhere."""

import numpy as np

from rhmm import RiemannianHMM
from rhmm.estimator import Estimator
from rhmm.learners.learner import Learner, Option


class FirstPoints(Estimator):
    """Takes observations from the beginning of the chain for the means, `apart` from each other."""

    def __init__(self, manifold, n_components, *, apart=1, random_state=None):
        self.manifold = manifold
        self.n_components = n_components
        self.apart = apart
        self.random_state = random_state

    def fit(self, X, y=None):
        n = self.n_components
        uniform = np.full((n + 1, n), 1 / n)
        self._model = RiemannianHMM.from_parameters(
            self.manifold, uniform[0], uniform[1:], X[: n * self.apart : self.apart], np.ones(n)
        )
        self.peak_nbytes_ = X[:n].nbytes
        return self

    def to_hmm(self):
        return self._model


APART = Option(
    "apart", "gap", 1, "Apart", "Observations from one mean to the next", phrases={"": "apart"}
)

TOY = Learner(
    key="toy", label="first points", estimator=FirstPoints, options=(APART,), table=({"apart": 2},)
)
