"""The ceiling: the true parameters, which no learner can beat on average."""

from rhmm.estimator import Estimator
from rhmm.learners.learner import Learner
from rhmm.model import HiddenMarkovModel


class KnownParameters(Estimator):
    """Learns nothing: it decodes with the parameters of `truth`."""

    peak_nbytes_ = 0

    def __init__(self, truth: HiddenMarkovModel):
        self.truth = truth

    @property
    def manifold(self):
        return self.truth.manifold

    def fit(self, X, y=None, *, lengths=None) -> "KnownParameters":
        """Does nothing; `y` and `lengths` are ignored."""
        return self

    def to_hmm(self) -> HiddenMarkovModel:
        """The true model."""
        return self.truth


class _Ceiling(Learner):
    needs_truth = True

    def make(self, manifold, n_components, seed, options, *, truth=None, trace_every=None):
        return KnownParameters(truth)


LEARNER = _Ceiling(
    key="ceiling",
    label="true parameters (the ceiling)",
    about="Learns nothing: it decodes these data with the true parameters. On average nothing does "
    "better; on one chain a method may, by chance.",
    estimator=KnownParameters,
)
