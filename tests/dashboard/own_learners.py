"""Two learners of a user's own package: importing this module is all that it takes to add them.

Only `own_learners_report` imports it, in a process of its own: the tables of the dashboard are made
when its modules are imported, and other tests must not see these learners.
"""

import numpy as np

from rhmm import RiemannianHMM, StreamingRiemannianHMM, register_learner
from rhmm.estimator import Estimator
from rhmm.learners.learner import Learner, OnlineLearner, Option


class PatientHMM(StreamingRiemannianHMM):
    """A streaming learner that starts from Δ observations, or from twice as many."""

    def __init__(
        self,
        manifold,
        n_components,
        *,
        window=100,
        patience="short",
        random_state=None,
        trace_every=None,
        callback=None,
    ):
        super().__init__(
            manifold,
            n_components,
            window=window,
            random_state=random_state,
            trace_every=trace_every,
            callback=callback,
        )
        self.patience = patience

    @property
    def start_size(self):
        return self.window * (2 if self.patience == "long" else 1)


class FirstPoints(Estimator):
    """Takes the first observations for the means, and learns nothing else."""

    def __init__(self, manifold, n_components, *, random_state=None):
        self.manifold = manifold
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X, y=None):
        n = self.n_components
        even = np.full((n + 1, n), 1 / n)
        self._model = RiemannianHMM.from_parameters(
            self.manifold, even[0], even[1:], X[:n], np.ones(n)
        )
        self.peak_nbytes_ = X[:n].nbytes
        return self

    def to_hmm(self):
        return self._model


register_learner(
    OnlineLearner(
        key="patient",
        label="patient",
        estimator=PatientHMM,
        options=(
            Option(
                "patience",
                "wait",
                "short",
                "Patience",
                "How long it waits before it starts.",
                choices={"short": "Short", "long": "Long"},
                phrases={"long": "long start"},
            ),
            Option(
                "window", "delta", 100, "Δ: observations to wait for", "So many.", phrases={"": "Δ"}
            ),
        ),
        variants={"soon": {}, "late": {"patience": "long"}},
    )
)
register_learner(Learner(key="first", label="first points (of a test)", estimator=FirstPoints))
