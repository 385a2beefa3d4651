"""Hidden Markov models on curved spaces: sample, score, filter, smooth, decode, learn."""

from rhmm import manifolds
from rhmm.em import Monitor
from rhmm.exceptions import (
    ConvergenceWarning,
    DegenerateWarning,
    NotRecordedWarning,
    RunFailedError,
)
from rhmm.hmm import RiemannianHMM
from rhmm.kmeans import RiemannianKMeans
from rhmm.manifolds import *  # noqa: F403 (the registry of manifolds says which)
from rhmm.online import OnlineRiemannianHMM, Trace
from rhmm.parameters import Parameters
from rhmm.scoring import Evaluation, evaluate
from rhmm.sweeping import Configuration, Run, open_executor, sweep

__version__ = "0.5.0"

__all__ = [
    "Configuration",
    "ConvergenceWarning",
    "DegenerateWarning",
    "Evaluation",
    "Monitor",
    "NotRecordedWarning",
    "OnlineRiemannianHMM",
    "Parameters",
    "RiemannianHMM",
    "RiemannianKMeans",
    "Run",
    "RunFailedError",
    "Trace",
    "evaluate",
    "open_executor",
    "sweep",
    *manifolds.__all__,
]
