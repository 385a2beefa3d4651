"""Where observations come from, and what is known of the model behind them."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from dashboard.model.analysis import shipped
from dashboard.model.spaces.chart import Coordinates
from dashboard.model.spaces.registry import SPACES
from rhmm import Manifold, RiemannianHMM


class Observations(NamedTuple):
    """What a source gives."""

    points: np.ndarray
    """Shape (T, *point_shape)."""
    states: np.ndarray
    """The hidden state of each point, or its label, −1 where none is known; shape (T,)."""
    lengths: np.ndarray | None = None
    """Of the sequences, shape (S,); None if it is one."""


class Source(Protocol):
    """Gives observations. Sources that are equal give the same ones."""

    @property
    def manifold(self) -> Manifold: ...

    def observe(self) -> Observations: ...

    def true_model(self) -> RiemannianHMM | None:
        """None if it is unknown: then there is no ceiling, and no error of what is learned."""


@dataclass(frozen=True)
class Simulated:
    """A chain drawn from a true model by a seed."""

    space: str
    transmat: tuple[tuple[float, ...], ...]
    means: tuple[Coordinates, ...]
    sigmas: tuple[float, ...]
    startprob: tuple[float, ...]
    length: int
    seed: int

    @property
    def manifold(self) -> Manifold:
        return SPACES[self.space].manifold

    def true_model(self) -> RiemannianHMM:
        """The model that the chain is drawn from."""
        space = SPACES[self.space]
        return RiemannianHMM.from_parameters(
            space.manifold, self.startprob, self.transmat, space.points(self.means), self.sigmas
        )

    def observe(self) -> Observations:
        """Draw the chain."""
        return Observations(*self.true_model().sample(self.length, random_state=self.seed))


@dataclass(frozen=True)
class Recorded:
    """A recording of the Data page, which comes without a true model."""

    name: str
    """Its key in links."""

    @property
    def manifold(self) -> Manifold:
        return shipped(self.name).recording.manifold

    def true_model(self) -> None:
        return None

    def observe(self) -> Observations:
        """The recording as it is, with its labels if it has any."""
        recording = shipped(self.name).recording
        labels = recording.labels
        if labels is None:
            labels = np.full(len(recording.points), -1)
        return Observations(recording.points, labels, recording.lengths)
