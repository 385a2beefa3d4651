"""The experiment that all pages show: where its data come from, and how they are learned.

The data are drawn from a true model, or are a recording, which comes without one. The experiment
is one immutable value that is always valid; `fields` says how it is checked and how it goes into a
link.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from dashboard.model.analysis import OFFERED, HeldRecording
from dashboard.model.fields import Control, Settings, setting
from dashboard.model.kinds import (
    Choice,
    Choices,
    Invalid,
    Known,
    Maybe,
    Numbers,
    Rows,
    WholeNumber,
)
from dashboard.model.method_settings import (
    emission_setting,
    is_used,
    label_of,
    options_of,
    with_options,
)
from dashboard.model.methods import (
    BASELINES,
    EMISSION,
    ONLINE_LEARNERS,
    Variant,
    method_name,
    variant_with,
)
from dashboard.model.model_checks import (
    MOST_STATES,
    checked_means,
    checked_sigmas,
    checked_startprob,
    checked_transmat,
)
from dashboard.model.source import (
    SIMULATED,
    Recorded,
    Simulated,
    SourceChoice,
    held_by,
    source_title,
    states_at_first,
)
from dashboard.model.spaces.chart import Chart, Coordinates
from dashboard.model.spaces.recorded import RecordedSpace
from dashboard.model.spaces.registry import DEFAULT, SPACES
from dashboard.model.spaces.space import Space
from rhmm.learners import streaming, windowed
from rhmm.learners.registry import LEARNERS

LEAST_WINDOW, MOST_WINDOW = 20, 5_000
LEAST_LENGTH, MOST_LENGTH = 500, 100_000
MOST_SEED = 2**31 - 1

_OF_A_SHAPE = 10.0
"""About how much longer a method takes where states have shapes."""

WINDOWS = (20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400, 600, 800, 1000, 1500, 2000, 3000, 5000)
"""The values of Δ that a page offers: evenly spaced to the eye, on a scale of ratios."""

MODEL = ("transmat", "means", "sigmas", "startprob")
"""The parameters of the true model."""

TRUTH = ("space", *MODEL)
"""The settings of the true model: its parameters, and the space that it lives in."""


def least_window(n_states: int) -> int:
    """The smallest Δ from which so many states can be told apart."""
    return max(LEAST_WINDOW, 5 * n_states)


def window_for(n_states: int, window: int) -> int:
    """This Δ, or the least one that so many states need."""
    return max(window, least_window(n_states))


# Checks of the data


def _checked_states(states: int | None, known: Known) -> int | None:
    """Of a recording: so many, or as many as it makes sense to begin with."""
    recording = known["recording"]
    if recording == SIMULATED:
        return None
    return states or min(MOST_STATES, states_at_first(recording))


def _checked_reference(reference: str, known: Known) -> str:
    """A simulated chain has the true parameters instead."""
    return "no" if known["recording"] == SIMULATED else reference


class _Length(WholeNumber):
    """How long it may be depends on the source, see `_checked_length`."""

    def check(self, value) -> int:
        return value


def _checked_length(length, known: Known) -> int:
    if known["recording"] == SIMULATED:
        return WholeNumber("T", LEAST_LENGTH, MOST_LENGTH).check(length)
    return len(held_by(known["recording"]).recording.points)


def _checked_window(window: int, known: Known) -> int:
    length, n = known["length"], known["states"] or len(known["means"])
    if window > length:
        raise Invalid(
            f"Δ = {window:,} is more than the T = {length:,} observations there are: "
            f"take a smaller Δ{' or a longer chain' if known['states'] is None else ''}."
        )
    if window < least_window(n):
        raise Invalid(f"With {n} states Δ must be at least {5 * n}: five observations each.")
    return window


@dataclass(frozen=True)
@with_options
class Experiment(Settings):
    """The data, and the online learners with Δ and options.

    The data are those of a truth (space, A, c, σ, π) with T and seed, or a recording in which N
    states are looked for.
    """

    CHECKED_FIRST: ClassVar[tuple[str, ...]] = ("recording", "states", "space", "means")
    TOGETHER: ClassVar[tuple[str, ...]] = TRUTH  # half of a model would be one that was never set
    WRITES_DEFAULTS: ClassVar[bool] = True  # a link means the same after the defaults have changed

    recording: str | HeldRecording = setting(
        SIMULATED, "source", SourceChoice(Choice("The source", (SIMULATED, *OFFERED))), quiet=True
    )
    """By its name, or the visitor's own."""
    states: int | None = setting(
        None,
        "N",
        Maybe(WholeNumber("N", 1, MOST_STATES)),
        _checked_states,
        Control(
            "number",
            "N: number of states",
            f"How many hidden states are looked for in the recording, 1 to {MOST_STATES}.",
            shown=lambda experiment: experiment.is_recorded,
        ),
        quiet=True,
    )
    space: str = setting(DEFAULT.key, "space", Choice("The space", tuple(SPACES)), quiet=True)
    transmat: tuple[tuple[float, ...], ...] = setting(
        DEFAULT.truth["transmat"], "A", Rows(), checked_transmat
    )
    means: tuple[Coordinates, ...] = setting(DEFAULT.truth["means"], "c", Rows(), checked_means)
    sigmas: tuple[float, ...] = setting(DEFAULT.truth["sigmas"], "sigma", Numbers(), checked_sigmas)
    startprob: tuple[float, ...] = setting(
        DEFAULT.truth["startprob"], "pi", Numbers(), checked_startprob
    )
    length: int = setting(
        10_000,
        "T",
        _Length("T", LEAST_LENGTH, MOST_LENGTH),
        _checked_length,
        Control(
            "number",
            "T: length of the chain",
            f"From {LEAST_LENGTH} to {MOST_LENGTH:,} observations.",
            step=1_000,
            shown=lambda experiment: not experiment.is_recorded,
        ),
    )
    seed: int = setting(
        0,
        "seed",
        WholeNumber("The seed", 0, MOST_SEED),
        control=Control(
            "number",
            "Seed",
            "The same seed gives the same data and the same results, to the last digit.",
        ),
    )
    window: int = setting(
        200,
        "delta",
        WholeNumber("Δ", LEAST_WINDOW, MOST_WINDOW),
        _checked_window,
        Control(
            "slider",
            label_of("window"),
            "The paper’s algorithm looks back over the last Δ observations at every step. "
            "The streaming one only starts from the first Δ. "
            f"From {LEAST_WINDOW} to {MOST_WINDOW:,}, on a logarithmic scale.",
            WINDOWS,
            accepts_others=True,
            shown=is_used("window"),
        ),
    )
    algorithms: tuple[str, ...] = setting(
        (windowed.LEARNER.key, streaming.LEARNER.key),
        "algorithm",
        Choices("online algorithm", tuple(ONLINE_LEARNERS)),
        control=Control(
            "pills",
            "Online algorithms",
            "Windowed is the paper’s: at every step it looks back over the last Δ observations. "
            "Streaming is ours: it starts from Δ observations, and then looks at a few at a time. "
            "The automatic memory runs several streaming learners and follows the best.",
            tuple(ONLINE_LEARNERS),
            {key: method_name(key) for key in ONLINE_LEARNERS},
        ),
    )

    emission: str = emission_setting()
    reference: str = setting(
        "no",
        "reference",
        Choice("The comparison with labels", ("no", "yes")),
        _checked_reference,
        quiet=True,
    )
    """Whether a model that was taught the labels of a recording is learned besides."""

    @classmethod
    def controls(cls) -> tuple[list[str], list[str]]:
        """The settings with a control in the sidebar: those of learning, and those of the data."""
        data = ["states", "length", "seed"]
        names = [name for name, one in cls.table().items() if one.control is not None]
        return [name for name in names if name not in data], data

    @classmethod
    def plain(cls, asked: Known) -> "Experiment":
        """The default of the recording or space that is asked for: others would not fit there."""
        recording = asked.get("recording")
        if isinstance(recording, HeldRecording) or recording in OFFERED:
            return cls.of_recording(recording)
        space = SPACES.get(asked.get("space", DEFAULT.key), DEFAULT)
        return cls(**space.truth)

    @classmethod
    def of_recording(cls, recording: str | HeldRecording, states: int | None = None) -> Self:
        """A recording with a Δ that leaves most of it to be learned online, and as many states as
        it makes sense to begin with, unless others are asked for."""
        n = min(MOST_STATES, states or states_at_first(recording))
        most = min(cls.window, held_by(recording).n_observed // 4)
        window = max((w for w in WINDOWS if w <= most), default=LEAST_WINDOW)
        return cls(recording=recording, states=n, window=window_for(n, window))

    def to_query(self) -> dict[str, str]:
        """Of a recording without the truth and the length, which are not its own."""
        query = super().to_query()
        if not self.is_recorded:
            return query
        table = self.table()
        foreign = {table[name].key for name in (*TRUTH, "length")}
        return {key: text for key, text in query.items() if key not in foreign}

    @property
    def is_recorded(self) -> bool:
        """Whether the data are a recording: then there is no truth."""
        return self.recording != SIMULATED

    @property
    def held(self) -> HeldRecording:
        """The recording, if the data are one."""
        return held_by(self.recording)

    @property
    def own(self) -> HeldRecording | None:
        """The recording, if it is a visitor's own: what is made of it goes with that visitor."""
        return self.recording if isinstance(self.recording, HeldRecording) else None

    @cached_property
    def digest(self) -> str:
        """The same for the same settings and data, wherever they are. It holds no data."""
        return hashlib.sha256(repr(self).encode()).hexdigest()

    @property
    def n_states(self) -> int:
        """How many hidden states the true model has, or how many a recording is learned with."""
        return self.states or len(self.means)

    @property
    def label_names(self) -> tuple[str, ...]:
        """What the labels of a recording are called; empty if it has none, or is simulated."""
        return self.held.recording.label_names if self.is_recorded else ()

    @property
    def methods(self) -> tuple[str, ...]:
        """Keys of all methods that are run, in the order of every table and row of figures."""
        beside = (
            key
            for key, learner in BASELINES.items()
            if not (self.is_recorded and learner.needs_truth)
        )
        return (*self.algorithms, *beside)

    def options_of(self, key: str) -> dict[str, Any]:
        """The options of a method that are set here, by name."""
        return options_of(self, key)

    @property
    def has_shapes(self) -> bool:
        """Whether states are learned with another law than the paper's."""
        return self.emission != EMISSION.default

    @property
    def variants(self) -> list[Variant]:
        """The online learners with their options, Δ excepted."""
        return [variant_with(key, self.options_of(key)) for key in self.algorithms]

    @property
    def truth(self) -> dict:
        """The settings of the true model: what a preset replaces."""
        return {name: getattr(self, name) for name in TRUTH}

    @property
    def observed_in(self) -> Space | RecordedSpace:
        """The space that the observations lie in."""
        if not self.is_recorded:
            return SPACES[self.space]
        return RecordedSpace(self.source.manifold, source_title(self.recording))

    @property
    def chart(self) -> Chart:
        """The map that shows this truth; of a recording, see `runs.ExperimentRun.chart`."""
        return SPACES[self.space].chart_for(self.means, self.sigmas)

    @property
    def source(self) -> Simulated | Recorded:
        """Where the observations come from; the other settings say how they are learned."""
        return Recorded(self.held) if self.is_recorded else self.simulated

    @property
    def simulated(self) -> Simulated:
        """The chain of the true model: the source, unless that is a recording."""
        return Simulated(**self.truth, length=self.length, seed=self.seed)

    @property
    def slowness(self) -> float:
        """How many times longer learning takes here than as learners estimate it.

        Their estimates are those of three states in the default space.
        """
        return max(1.0, self.n_states / 3) * self.observed_in.effort

    @property
    def effort(self) -> float:
        """About how many microseconds of one processor all methods take together."""

        def of(key: str) -> float:
            learner, options = LEARNERS[key], self.options_of(key)
            known = learner.settings(options) if learner.is_online else {}
            longer = _OF_A_SHAPE if EMISSION.name in options else 1.0
            return longer * learner.effort(self.length, known)

        return self.slowness * sum(map(of, self.methods))

    def in_words(self) -> str:
        """One line that says what is on screen."""
        count = "one state" if self.n_states == 1 else f"{self.n_states} states"
        ways = "; ".join(
            ONLINE_LEARNERS[key].describe(self.options_of(key)) for key in self.algorithms
        )
        if self.is_recorded:
            title, part = source_title(self.recording), f"{self.length:,}"
            if self.own is not None and self.own.whole > self.length:
                part = f"the first {part} of {self.own.whole:,}"
            data = f"{title}: {part} observations, {count}"
        else:
            data = f"{self.length:,} observations of a chain with {count}"
        law = EMISSION.choices[self.emission]
        shapes = f" Law of a state: {law[0].lower()}{law[1:]}." if self.has_shapes else ""
        return f"{data}, learned online ({ways}).{shapes}"
