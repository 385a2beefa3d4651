"""A recording as a stream: its observations in order, once or again and again."""

from collections.abc import Iterable

import numpy as np

from rhmm.recording import Recording
from rhmm.worlds.blocks import BlockStream, Part
from rhmm.worlds.event import BLOCK, Change, Disturbance, Event


class Playback(BlockStream):
    """A recording with a script of events that disturb it.

    Parameters
    ----------
    recording
        Its labels are the true states. The model behind it is not known: there is no ceiling, and
        an event that needs or changes true parameters is refused.
    events
        See `rhmm.worlds`.
    seed
        A whole number.
    repeat
        Begin again at the end.
    """

    truth = None

    def __init__(
        self, recording: Recording, *, events: Iterable[Event] = (), seed=0, repeat: bool = False
    ):
        self._recording = recording
        self._repeat = bool(repeat)
        self._ends = np.cumsum(recording.lengths)
        if not len(recording.points):
            raise ValueError("recording must hold at least one observation")
        super().__init__(recording.manifold, events, seed)

    @property
    def is_over(self) -> bool:
        """Whether no observation is left."""
        return not self._repeat and self.n_taken >= len(self._recording.points)

    @property
    def until_end(self) -> int:
        """Observations that are left of the present sequence of the recording."""
        place = self.n_taken % len(self._recording.points)
        return int(self._ends[np.searchsorted(self._ends, place, side="right")]) - place

    def _rehearse(self) -> None:
        for event in self._ahead:
            needs_truth = isinstance(event, Disturbance) and event.needs_truth
            if needs_truth or isinstance(event, Change):
                raise ValueError(f"{event.name} needs true parameters, and a recording has none")

    def _next_blocks(self, most: int) -> Part | None:
        length, first = len(self._recording.points), self._produced
        size = BLOCK if self._repeat else min(BLOCK, length - first)
        if size <= 0:
            return None
        places = np.arange(first, first + BLOCK) % length  # beyond the end: to be disturbed alike
        self._forget_past()
        X = self._recording.points[places].copy()
        spoiled = self._disturb(X)
        unknown = self._note(X)
        labels = self._recording.labels
        states = np.full(BLOCK, -1) if labels is None else labels[places].astype(np.int64)
        self._produced += size
        nothing = np.full(BLOCK, -1)
        block = Part(X, states, nothing, np.zeros(BLOCK), ~(spoiled | unknown))
        return Part(*(field[:size] for field in block))
