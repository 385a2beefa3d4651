"""Everything that an online learner remembers of its stream."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rhmm.manifolds import Manifold
from rhmm.parameters import MIN_SIGMA
from rhmm.streams.chunk import Chunk, Present
from rhmm.streams.ensemble import Ensemble, Runner
from rhmm.streams.stuck_sensor import StuckSensor
from rhmm.streams.trace import Trace
from rhmm.validation import check_lengths


@dataclass
class Stream:
    """Everything that a learner remembers of its stream."""

    rng: np.random.Generator
    buffer: Present
    """Observations that the learner collects before its start."""
    sensor: StuckSensor
    first_rng_state: Mapping[str, Any]
    """Of `rng` before the start: a replay begins with it."""
    min_sigma: float = MIN_SIGMA
    """The floor of every σ, known from the start on."""
    sequence: int = 0
    """The number of the sequence of the latest observation."""
    has_ended: bool = False
    """Whether that sequence has ended."""
    skipped: int = 0
    """Missing observations before the start."""
    ensemble: Ensemble | None = None
    """The runners, after the start."""
    traces: list[Trace] = field(default_factory=list)
    latest: tuple[Runner, np.ndarray, bool, bool] | None = None
    """For `explain`: the leader before the latest observation, the observation, whether it is
    there, and whether it begins a sequence."""
    peak_nbytes: int = 0

    @classmethod
    def beginning(cls, manifold: Manifold, rng: np.random.Generator) -> "Stream":
        return cls(
            rng,
            Present.none(manifold.point_shape),
            StuckSensor(math.prod(manifold.point_shape)),
            rng.bit_generator.state,
        )

    def chunk(self, X: np.ndarray, observed: np.ndarray, lengths) -> Chunk:
        """What comes next: X goes on with the open sequence, if the latest has not ended.

        With `lengths` each of these sequences ends, without them the last stays open. What a stuck
        sensor repeats is not observed.
        """
        first = self.sequence + self.has_ended
        begins = np.zeros(len(X), bool)
        if lengths is None:
            sequence = np.zeros(len(X), np.int64)
            sequence += first
        else:
            sizes = check_lengths(lengths, len(X))
            sequence = np.repeat(np.arange(len(sizes)), sizes) + first
            begins[1:] = sequence[1:] != sequence[:-1]
        begins[:1] = self.has_ended
        return Chunk(X, observed, begins, sequence, is_whole=self.sensor.drop(X, observed))

    def note_end(self, chunk: Chunk, done: int, lengths) -> None:
        """Remember which sequence the first `done` observations of a chunk have led to."""
        self.sequence = int(chunk.sequence[done - 1])
        following = chunk.begins[done : done + 1]
        self.has_ended = bool(following[0]) if len(following) else lengths is not None

    def collect(self, chunk: Chunk) -> None:
        """Add observations that are not missing to the buffer."""
        present = chunk.present
        self.buffer = self.buffer.followed_by(present)
        self.skipped += chunk.size - present.size
        self.note_size()

    @property
    def n_samples_seen(self) -> int:
        if self.ensemble is None:
            return self.buffer.size + self.skipped
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
        return self.buffer.points.nbytes if self.ensemble is None else self.ensemble.nbytes

    def note_size(self) -> None:
        self.peak_nbytes = max(self.peak_nbytes, self.nbytes)
