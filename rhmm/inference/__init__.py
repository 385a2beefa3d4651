"""Recursions on a hidden chain: functions of (start, transition, log densities), no manifold.

`start` has shape (N,), `transition` (N, N). ``log_density[t, i]`` = log p(y_t | s_t = i), shape
(T, N); a row of NaN is a missing observation. Several sequences lie one after another, their sizes
in `lengths`, which add up to T. The symbols are the paper's (Table 1).
"""

from rhmm.inference.beta import backward
from rhmm.inference.decoding import Decoded, viterbi
from rhmm.inference.fixed_lag import fixed_lag_smoothing
from rhmm.inference.forward import Filtered, filtering, log_likelihood
from rhmm.inference.forward_backward import Smoothed, smoothing
from rhmm.inference.pairs import pair_posteriors

__all__ = [
    "Decoded",
    "Filtered",
    "Smoothed",
    "backward",
    "filtering",
    "fixed_lag_smoothing",
    "log_likelihood",
    "pair_posteriors",
    "smoothing",
    "viterbi",
]
