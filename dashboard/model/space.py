"""The space that observations lie in, and the engine's model of an experiment's truth.

Today there is one space, the Poincaré disk.
"""

from dashboard.model.experiment import Experiment
from rhmm import Hyperbolic, RiemannianHMM

DISK = Hyperbolic(2)


def true_model(experiment: Experiment) -> RiemannianHMM:
    """The model that the experiment's data are drawn from."""
    return RiemannianHMM.from_parameters(
        DISK, experiment.startprob, experiment.transmat, experiment.means, experiment.sigmas
    )
