"""Hidden Markov models on curved spaces: sample, score, filter, smooth, decode, learn."""

from rhmm.em import Monitor
from rhmm.exceptions import ConvergenceWarning, DegenerateWarning
from rhmm.hmm import RiemannianHMM
from rhmm.kmeans import RiemannianKMeans
from rhmm.manifolds import SPD, Euclidean, Hyperbolic, Manifold
from rhmm.online import OnlineRiemannianHMM, Trace
from rhmm.parameters import Parameters
from rhmm.scoring import Evaluation, evaluate

__all__ = [
    "SPD",
    "ConvergenceWarning",
    "DegenerateWarning",
    "Euclidean",
    "Evaluation",
    "Hyperbolic",
    "Manifold",
    "Monitor",
    "OnlineRiemannianHMM",
    "Parameters",
    "RiemannianHMM",
    "RiemannianKMeans",
    "Trace",
    "evaluate",
]
