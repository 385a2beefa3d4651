"""Everything that an online learner remembers of its stream."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rhmm.manifolds import Manifold
from rhmm.parameters import MIN_SIGMA
from rhmm.streams.ensemble import Ensemble, Runner
from rhmm.streams.stuck_sensor import StuckSensor
from rhmm.streams.trace import Trace


@dataclass
class Stream:
    """Everything that a learner remembers of its stream."""

    rng: np.random.Generator
    buffer: np.ndarray
    """Observations that the learner collects before its start, shape (B, *point_shape)."""
    sensor: StuckSensor
    first_rng_state: Mapping[str, Any]
    """Of `rng` before the start: a replay begins with it."""
    min_sigma: float = MIN_SIGMA
    """The floor of every σ, known from the start on."""
    skipped: int = 0
    """Missing observations before the start."""
    ensemble: Ensemble | None = None
    """The runners, after the start."""
    traces: list[Trace] = field(default_factory=list)
    latest: tuple[Runner, np.ndarray, bool] | None = None
    """For `explain`: the leader before the latest observation, the observation, and whether it is
    there."""
    peak_nbytes: int = 0

    @classmethod
    def beginning(cls, manifold: Manifold, rng: np.random.Generator) -> "Stream":
        return cls(
            rng,
            np.empty((0, *manifold.point_shape)),
            StuckSensor(int(np.prod(manifold.point_shape))),
            rng.bit_generator.state,
        )

    @property
    def n_samples_seen(self) -> int:
        if self.ensemble is None:
            return len(self.buffer) + self.skipped
        return int(self.ensemble.state.counters[0])

    @property
    def log_likelihood(self) -> float:
        """Σ of the predictive log densities of those who led; 0 before the start."""
        if self.ensemble is None:
            return 0.0
        several = len(self.ensemble.runners) > 1
        return float((self.ensemble if several else self.ensemble.state).log_likelihood[0])

    @property
    def nbytes(self) -> int:
        return self.buffer.nbytes if self.ensemble is None else self.ensemble.nbytes

    def note_size(self) -> None:
        self.peak_nbytes = max(self.peak_nbytes, self.nbytes)
