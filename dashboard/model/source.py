"""Where observations come from, and what is known of the model behind them."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from dashboard.model.spaces.chart import Coordinates
from dashboard.model.spaces.registry import SPACES
from rhmm import RiemannianHMM


class Observations(NamedTuple):
    """What a source gives."""

    points: np.ndarray
    """Shape (T, *point_shape)."""
    states: np.ndarray
    """The hidden state of each point, shape (T,)."""


class Source(Protocol):
    """Gives observations. Sources that are equal give the same ones."""

    def observe(self) -> Observations: ...

    def true_model(self) -> RiemannianHMM: ...


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

    def true_model(self) -> RiemannianHMM:
        """The model that the chain is drawn from."""
        space = SPACES[self.space]
        return RiemannianHMM.from_parameters(
            space.manifold, self.startprob, self.transmat, space.points(self.means), self.sigmas
        )

    def observe(self) -> Observations:
        """Draw the chain."""
        return Observations(*self.true_model().sample(self.length, random_state=self.seed))
