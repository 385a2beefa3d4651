"""Where observations come from, and what is known of the model behind them."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from dashboard.model.analysis import FILE, OFFERED, HeldRecording, shipped
from dashboard.model.analysis import SIMULATED as SIMULATED_RECORDINGS
from dashboard.model.kinds import Choice, Invalid
from dashboard.model.spaces.chart import Coordinates
from dashboard.model.spaces.registry import SPACES
from rhmm import Manifold, RiemannianHMM

SIMULATED = "simulated"
"""In place of a recording: a chain that is drawn from the true model."""

_STATES_AT_FIRST = 3
"""In a file without labels."""


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
    """A recording, which comes without a true model."""

    held: HeldRecording

    @property
    def manifold(self) -> Manifold:
        return self.held.recording.manifold

    def true_model(self) -> None:
        return None

    def observe(self) -> Observations:
        """The recording as it is, with its labels if it has any."""
        recording = self.held.recording
        labels = recording.labels
        if labels is None:
            labels = np.full(len(recording.points), -1)
        return Observations(recording.points, labels, recording.lengths)


# What a visitor chooses: the name of a source, or a file of their own


@dataclass(frozen=True)
class SourceChoice:
    """A source by its name, or the visitor's own recording, which a link can only mention."""

    names: Choice

    def read(self, text: str) -> str:
        return self.names.read(text)

    def write(self, value: str | HeldRecording) -> str:
        return FILE if isinstance(value, HeldRecording) else self.names.write(value)

    def check(self, value) -> str | HeldRecording:
        if isinstance(value, HeldRecording):
            return value
        if value == FILE:
            raise Invalid(
                "its data were a file that is gone, or another visitor’s; choose a source, or give "
                "the file on the Data page."
            )
        return self.names.check(value)


def held_by(recording: str | HeldRecording) -> HeldRecording:
    """The recording that a visitor has chosen."""
    return recording if isinstance(recording, HeldRecording) else shipped(recording)


def source_title(source: str | HeldRecording) -> str:
    """What the visitor calls a source."""
    if source == SIMULATED:
        return "Simulated chain of a true model"
    if isinstance(source, HeldRecording) or source == FILE:
        return "Your file"
    title = OFFERED[source].title
    return f"Simulated recording: {title}" if source in SIMULATED_RECORDINGS else title


def states_at_first(recording: str | HeldRecording) -> int:
    """With how many states it makes sense to begin."""
    if isinstance(recording, HeldRecording):
        return len(recording.recording.label_names) or _STATES_AT_FIRST
    return OFFERED[recording].states
