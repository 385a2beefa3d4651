"""A hidden chain as the recursions take it: checked, with logarithms on demand."""

import math

import numpy as np

from rhmm._jit import kernel
from rhmm.validation import check_lengths, check_stochastic

_MOST_STATES = 2**16


class Chain:
    """The checked arguments of a recursion.

    `start` has shape (N,), `transition` (N, N) and `log_density` (T, N); `ends` are the ends of the
    sequences, the last of them T.
    """

    def __init__(self, start, transition, log_density, lengths):
        self.start, self.transition = check_stochastic(start, transition)
        n = len(self.start)
        try:
            self.log_density = np.require(log_density, float, ["C", "W"])
        except (TypeError, ValueError):
            raise ValueError(
                f"log_density must be an array of numbers, not {log_density!r}"
            ) from None
        if self.log_density.ndim != 2 or self.log_density.shape[1] != n:
            raise ValueError(
                f"log_density must have shape (T, {n}) for {n} states, not {self.log_density.shape}"
            )
        if n > _MOST_STATES:
            raise ValueError(f"transition must have at most {_MOST_STATES} states, not {n}")
        self.ends = np.cumsum(check_lengths(lengths, len(self.log_density)))
        bad = _first_bad_row(self.log_density)
        if bad >= 0:
            raise ValueError(
                f"log_density[{bad}] must be below +inf in every state, and NaN in all or in none"
            )

    def transition_for(self, in_logs: bool) -> np.ndarray:
        """The transition matrix, or its logarithms."""
        return log_of(self.transition) if in_logs else self.transition


def log_of(probabilities: np.ndarray) -> np.ndarray:
    """Logarithms, −inf where a probability is zero."""
    return np.log(probabilities, out=np.full_like(probabilities, -np.inf), where=probabilities > 0)


@kernel
def log_sum(terms):
    """log Σ exp(terms)."""
    largest = terms.max()
    if largest == -math.inf:
        return largest
    total = 0.0
    for term in terms:
        total += math.exp(term - largest)
    return largest + math.log(total)


@kernel
def _first_bad_row(log_density):
    """The first row that holds +inf, or NaN beside a number; −1 if there is none."""
    size, n = log_density.shape
    for t in range(size):
        missing = math.isnan(log_density[t, 0])
        for i in range(n):
            if log_density[t, i] == math.inf or math.isnan(log_density[t, i]) != missing:
                return t
    return -1
