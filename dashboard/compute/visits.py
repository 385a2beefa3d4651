"""How long decoded states stay: runs of the same state within a sequence."""

from typing import NamedTuple

import numpy as np


class Visits(NamedTuple):
    """Each time that a state is entered, in the order of the recording."""

    state: np.ndarray
    """Shape (R,)."""
    length: np.ndarray
    """How many observations in a row it stays, shape (R,)."""

    def of(self, state: int) -> np.ndarray:
        """The lengths of all visits to this state."""
        return self.length[self.state == state]


def visits(states: np.ndarray, lengths: np.ndarray) -> Visits:
    """The visits in states (T,) of sequences with these lengths (S,); none goes beyond one."""
    begins = np.zeros(len(states), bool)
    begins[np.cumsum(lengths) - lengths] = True
    begins[1:] |= states[1:] != states[:-1]
    firsts = np.flatnonzero(begins)
    return Visits(states[firsts], np.diff(np.append(firsts, len(states))))
