"""Learning from a stream in constant memory: the paper's algorithm, and ours."""

from rhmm.online.bank import BANK
from rhmm.online.explain import Estimate, Explanation
from rhmm.online.learner import OnlineRiemannianHMM
from rhmm.online.trace import Trace

__all__ = ["BANK", "Estimate", "Explanation", "OnlineRiemannianHMM", "Trace"]
