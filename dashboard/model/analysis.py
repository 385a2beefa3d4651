"""What a visitor sets on the Data page: which recording, how many states, learned by which method.

A file that a visitor gives is no part of a link: it stays with the session.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from dashboard.model.fields import Control, Settings, setting
from dashboard.model.kinds import Choice
from dashboard.model.marks import MARKS
from rhmm.datasets import load_emg, load_watch, load_weather, make_chain
from rhmm.datasets.dataset import Dataset
from rhmm.emissions.covariances import STUDENT
from rhmm.reading import Window
from rhmm.recording import Recording

MOST_STATES = 12
BIC, PREDICTION = "auto", "prediction"
"""In place of a number of states: what chooses it."""
FILE = "file"
"""In place of a recording that ships with the product: the visitor's own file."""
EM, STREAMING, AUTO = "em", "streaming", "auto"
ROUND, TIED, DIAG, FULL = "riemannian", "tied", "diag", "full"
"""Emissions, by the engine's names."""
LIGHT, HEAVY = "light", "heavy"
AS_IT_IS, RECENTRED = "as_it_is", "recentred"
SEED = 0
"""Of the search for a start, so that a script gives the same numbers."""
MOST_WINDOW = 200
"""Observations that the streaming learner starts from, if there are so many."""
LARGE = 1_000_000
"""Numbers of a recording above which EM would take minutes, see `thinned_size`."""
_THINNED = 200_000
"""Numbers of the part that is learned from at first, if a recording is larger."""
LAST_STEPS = 5
"""Of EM, over all observations, after that."""
LEAST_ONLINE, _MOST_ONLINE = 40, 20_000
"""Observations of a file that pages learn online, step by step."""


class Shipped(NamedTuple):
    """A recording that comes with the product."""

    title: str
    load: Callable[[], Recording]
    call: str
    """The same in a script."""
    states: int
    """How many it makes sense to begin with."""


SHIPPED = {
    "emg": Shipped("Hand signs", lambda: load_emg(["rr_s2"]), 'load_emg(["rr_s2"])', 5),
    "emg_refitted": Shipped(
        "Hand signs, refitted", lambda: load_emg(["mg_s1"]), 'load_emg(["mg_s1"])', 5
    ),
    "watch": Shipped("Exercises", load_watch, "load_watch()", 7),
    "weather": Shipped("Weather", load_weather, "load_weather()", 4),
}
"""Recordings, by their keys in links."""


def _simulated(space: str, title: str) -> Shipped:
    return Shipped(title, lambda: make_chain(space), f'make_chain("{space}")', 3)


SIMULATED = {
    "disk": _simulated("disk", "Poincaré disk"),
    "ball": _simulated("ball", "Hyperbolic 3-space"),
    "spd2": _simulated("spd2", "2 × 2 matrices"),
    "spd3": _simulated("spd3", "3 × 3 matrices"),
    "spd8": _simulated("spd8", "8 × 8 matrices"),
    "plane": _simulated("plane", "Plane"),
}
"""Simulated chains, by their keys in links."""
OFFERED = SHIPPED | SIMULATED
"""All that a visitor can open without a file."""


_COUNTS = tuple(map(str, range(1, MOST_STATES + 1)))


def _one_of(
    names: dict[str, str],
    key: str,
    about: str,
    label: str,
    help: str,
) -> Any:
    """A setting that is one of these, the first unless another is chosen; `key` is its name in
    links, `about` begins a sentence about a wrong one."""
    words = tuple(names)
    control = Control("radio", label, help, options=words, names=names)
    return setting(words[0], key, Choice(about, words), control=control)


@dataclass(frozen=True)
class Analysis(Settings):
    """A recording and how its states are learned."""

    recording: str = setting("emg", "data", Choice("The recording", (*OFFERED, FILE)))
    states: str = setting(
        "5",
        "states",
        Choice("The number of states", (BIC, PREDICTION, *_COUNTS)),
        control=Control(
            "slider",
            "Number of states",
            f"How many hidden states the model has. “BIC” and “prediction” try 1 to {MOST_STATES} "
            "of them. BIC asks for the number behind the data: it charges for every parameter. "
            "Prediction asks which number foretells observations best that were held out while it "
            "was learned; that takes four times as long. You can set another one afterwards.",
            options=(BIC, PREDICTION, *_COUNTS),
            names={BIC: "BIC", PREDICTION: "prediction"} | {n: n for n in _COUNTS},
        ),
    )
    method: str = _one_of(
        {EM: "EM", STREAMING: "Streaming, one pass", AUTO: "Automatic memory, one pass"},
        "learn",
        "The method",
        "Learned by",
        "EM goes over all observations again and again. Streaming sees each of them once. The "
        "automatic memory does so too, and starts anew when the data have become others: its "
        "states are what it said when each observation came.",
    )
    shape: str = _one_of(
        {
            ROUND: "Round, each of its own width",
            TIED: "One shape for all",
            DIAG: "Own widths along the axes",
            FULL: "Each of its own shape",
        },
        "shape",
        "The shape of states",
        "Shape of states",
        "How observations spread around the mean of their state. Round is the paper’s Gaussian, "
        "alike in all directions. The others are Gaussians of the tangent space at the mean; their "
        "widths and directions are learned.",
    )
    tails: str = _one_of(
        {LIGHT: "Of a Gaussian", HEAVY: "Heavy, of Student’s law"},
        "tails",
        "The tails of states",
        "Tails of states",
        "Heavy tails expect observations far from every mean, and let them pull less. How heavy "
        "they are is learned, one number for all states. Then outliers need no state of their own.",
    )
    centring: str = _one_of(
        {AS_IT_IS: "As they are", RECENTRED: "Each sequence re-centred"},
        "centring",
        "The centring",
        "Observations",
        "Re-centred: each sequence is moved by an isometry so that its centre of mass is the "
        "origin. That takes away what differs between recordings as a whole, such as how loud an "
        "amplifier is, and leaves distances within each of them as they are.",
    )

    reference: str = setting("no", "taught", Choice("The comparison with labels", ("no", "yes")))
    """Whether a model that was taught the labels is shown beside."""

    @property
    def emission(self) -> str:
        """The engine's name of the law of observations in a state."""
        if self.tails == LIGHT:
            return self.shape
        return STUDENT if self.shape == ROUND else f"{STUDENT}-{self.shape}"

    @property
    def n_states(self) -> int | str:
        """A number, or what is to choose it."""
        return int(self.states) if self.states in _COUNTS else self.states


class ReadOptions(NamedTuple):
    """What a visitor says of a file, under the names of the arguments of `rhmm.reading.read`.

    None is to be detected.
    """

    space: str | None = None
    layout: str | None = None
    window: Window | None = None
    columns: tuple[str, ...] | None = None
    label: str | None = None
    sequence: str | None = None
    time: str | None = None
    array: str | None = None
    separator: str | None = None

    def said(self) -> dict[str, Any]:
        """The arguments that are not to be detected."""
        return {name: value for name, value in self._asdict().items() if value is not None}


@dataclass(frozen=True)
class HeldFile:
    """A visitor's file in memory. Files of the same name and content are equal."""

    name: str
    content: bytes = field(repr=False, compare=False)
    digest: str = ""

    @classmethod
    def of(cls, name: str, content: bytes) -> "HeldFile":
        return cls(name, content, hashlib.sha256(content).hexdigest())


@dataclass(frozen=True)
class HeldRecording:
    """A recording in memory. Those with the same key hold the same observations."""

    key: tuple
    """The key of one that is shipped, or the file and how it was read."""
    recording: Recording = field(repr=False, compare=False)
    columns: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """Names of the channels of a signal in a file."""
    whole: int = field(default=0, repr=False, compare=False)
    """How many observations the file has, if these are what pages learn online of it."""

    @property
    def name(self) -> str:
        """The key of one that is shipped, or the name of the file."""
        first = self.key[0]
        return first.name if isinstance(first, HeldFile) else first

    @property
    def channels(self) -> tuple[str, ...]:
        """What the rows and columns of each matrix are called."""
        if isinstance(self.recording, Dataset):
            return self.recording.channels
        return self.columns or tuple(str(k + 1) for k in range(self.recording.manifold.size))

    @property
    def is_of_matrices(self) -> bool:
        return len(self.recording.manifold.point_shape) == 2

    @cached_property
    def n_observed(self) -> int:
        """Observations that are not missing."""
        return int(self.recording.observed.sum())

    def on_canvas(self) -> "HeldRecording":
        """The same, without labels if there are more of them than a canvas has marks for."""
        if len(self.recording.label_names) <= len(MARKS):
            return self
        return replace(self, recording=replace(self.recording, labels=None, label_names=()))

    def learned_online(self) -> "HeldRecording | None":
        """As much of it as can be learned step by step while a visitor waits, as a canvas can show
        it; None if it is too short for that."""
        recording, length = self.on_canvas().recording, len(self.recording.points)
        most = min(_MOST_ONLINE, LARGE // recording.manifold.dim)
        if length > most:
            recording = first_of(recording, most)
        if recording.observed.sum() < LEAST_ONLINE:
            return None
        return HeldRecording((*self.key, most), recording, self.columns, length)


def first_of(recording: Recording, count: int) -> Recording:
    """The first so many observations."""
    lengths = np.diff(np.minimum(np.cumsum(recording.lengths), count), prepend=0)
    lengths = lengths[lengths > 0]
    return replace(
        recording,
        points=recording.points[:count],
        lengths=lengths,
        sequence_names=recording.sequence_names[: len(lengths)],
        labels=None if recording.labels is None else recording.labels[:count],
        times=None if recording.times is None else recording.times[:count],
    )


@cache
def shipped(key: str) -> HeldRecording:
    """A recording that comes with the product, loaded or simulated once."""
    return HeldRecording((key,), OFFERED[key].load())


def streaming_window(n_observed: int, n_states: int) -> int:
    """From how many observations the streaming learner starts: a quarter, if they are few."""
    return max(n_states, min(MOST_WINDOW, n_observed // 4))


def thinned_size(recording: Recording) -> int | None:
    """How many observations EM and the count of states begin with; None if with all."""
    dim = recording.manifold.dim
    return _THINNED // dim if len(recording.points) * dim > LARGE else None
