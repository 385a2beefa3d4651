"""Observations with all that is known of them besides: labels, sequences, times."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rhmm.manifolds import Manifold
from rhmm.validation import check_integer

_BLOCK = 32
"""Observations that follow each other in a thinned recording."""


@dataclass(frozen=True, eq=False)
class Recording:
    """Sequences of observations, one after another."""

    manifold: Manifold
    points: np.ndarray
    """Shape (T, *point_shape); a row of NaN is a missing observation."""
    lengths: np.ndarray
    """How many observations each of the S sequences has, shape (S,); they add up to T."""
    sequence_names: tuple[str, ...]
    """One for each sequence."""
    labels: np.ndarray | None = None
    """A place in `label_names` for each observation, or -1 where none is known; shape (T,)."""
    label_names: tuple[str, ...] = ()
    times: np.ndarray | None = None
    """When each observation begins, in seconds; shape (T,)."""

    @property
    def observed(self) -> np.ndarray:
        """Which observations are there, shape (T,)."""
        return ~np.isnan(self.points.reshape(len(self.points), -1)).any(axis=1)

    def sequence(self, number: int) -> slice:
        """Where the observations of a sequence are."""
        ends = np.cumsum(self.lengths)
        return slice(int(ends[number] - self.lengths[number]), int(ends[number]))

    def thinned(self, most: int) -> "Recording":
        """About `most` of the observations: blocks that follow each other, evenly spread.

        Each block is a sequence of its own. A recording that is not longer is returned as it is.
        """
        every = -(-len(self.points) // check_integer("most", most, at_least=1))
        if every == 1:
            return self
        place = np.arange(len(self.points))
        kept = place[place // _BLOCK % every == 0]
        owner = np.repeat(np.arange(len(self.lengths)), self.lengths)[kept]
        firsts = np.flatnonzero(np.diff(owner, prepend=-1) | np.diff(kept // _BLOCK, prepend=-1))
        return replace(
            self,
            points=self.points[kept],
            lengths=np.diff(firsts, append=len(kept)),
            sequence_names=tuple(self.sequence_names[number] for number in owner[firsts]),
            labels=None if self.labels is None else self.labels[kept],
            times=None if self.times is None else self.times[kept],
        )

    def states_table(self, probabilities: np.ndarray) -> dict[str, Any]:
        """The columns of a file: each observation with its most probable state, counted from 1.

        `probabilities` (T, N) are those of the N states, see `HiddenMarkovModel.predict_proba`.
        """
        table: dict[str, Any] = {"observation": np.arange(1, len(self.points) + 1)}
        if len(self.lengths) > 1:
            table["sequence"] = np.repeat(self.sequence_names, self.lengths)
        if self.times is not None:
            table["time"] = self.times
        if self.labels is not None:
            names = np.array([*self.label_names, ""])  # an unknown label is -1, the last
            table["label"] = names[self.labels]
        table["state"] = probabilities.argmax(axis=1) + 1
        for i, column in enumerate(probabilities.T, start=1):
            table[f"probability_{i}"] = column
        return table
