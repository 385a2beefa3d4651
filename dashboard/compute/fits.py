"""Files that are read and recordings whose states are learned: the requests of the Data page."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError

from dashboard.compute import data_workers
from dashboard.compute.counting import Curve, counted
from dashboard.compute.data_workers import Watch
from dashboard.compute.jobs import Expected, Report
from dashboard.compute.labels import Agreement, agreement, taught
from dashboard.compute.recording_map import Map, drawn
from dashboard.compute.visits import Visits, visits
from dashboard.model.analysis import (
    AUTO,
    EM,
    LAST_STEPS,
    PREDICTION,
    ROUND,
    SEED,
    STREAMING,
    HeldFile,
    HeldRecording,
    ReadOptions,
    first_of,
    streaming_window,
    thinned_size,
)
from rhmm import (
    AutoMemoryRiemannianHMM,
    DegenerateWarning,
    RiemannianHMM,
    StreamingRiemannianHMM,
    recentred,
)
from rhmm.learners.em import Monitor
from rhmm.learners.online import OnlineHMM
from rhmm.reading import Reading, WrongFileError, names_in, read
from rhmm.recording import Recording

_SEARCHED = 150_000
"""Numbers of the sample on which EM searches its start, about."""
_OF_A_SHAPE = 10.0
"""About how much longer a fit takes where states have shapes."""


# Requests


class FileRead(NamedTuple):
    """What came of a file."""

    names: tuple[str, ...]
    """Its columns or arrays, if they could be read."""
    reading: Reading | None
    problem: WrongFileError | None
    """Why there is no reading."""


@dataclass(frozen=True)
class ReadRequest:
    """Read this file under what the visitor says of it."""

    file: HeldFile
    options: ReadOptions

    def in_words(self) -> str:
        return f"{self.file.name} has been read."

    @property
    def effort(self) -> float:
        return 0.3 * len(self.file.content)


@dataclass(frozen=True)
class FitRequest:
    """Learn the states of this recording."""

    held: HeldRecording
    n_states: int | str
    """Or what is to choose it, `BIC` or `PREDICTION`."""
    method: str
    emission: str = ROUND
    is_recentred: bool = False
    """Whether each sequence is moved so that its centre of mass is the origin."""

    def in_words(self) -> str:
        recording = self.held.recording
        count = f"{len(recording.points):,} observations on {recording.manifold!r}"
        several = f" in {len(recording.lengths):,} sequences" if len(recording.lengths) > 1 else ""
        how = {
            EM: "EM",
            STREAMING: "one pass of our streaming algorithm",
            AUTO: "one pass of the automatic memory",
        }[self.method]
        if self.is_recentred:
            several += ", each re-centred" if several else ", re-centred"
        return f"{count}{several}, learned by {how}."

    @property
    def effort(self) -> float:
        recording = self.held.recording
        size = thinned_size(recording) or len(recording.points)
        numbers = size * recording.manifold.dim
        searched = min(numbers, _SEARCHED)  # starts are searched on a sample
        each = 1.0 if self.emission == ROUND else _OF_A_SHAPE
        if isinstance(self.n_states, str):
            rounds = 4.0 if self.n_states == PREDICTION else 1.0
            return rounds * each * (600.0 * searched + 20.0 * numbers)
        return each * self.n_states * (8.0 * searched + numbers)

    @property
    def data(self) -> tuple[HeldRecording, str, bool]:
        """What numbers of states can be compared on: the observations, and the shape of states."""
        return self.held, self.emission, self.is_recentred


# Results


@dataclass(frozen=True, eq=False)
class Fitted:
    """What was learned from a recording."""

    request: FitRequest
    model: RiemannianHMM
    probabilities: np.ndarray
    """P(s_t = i | all observations), shape (T, N); of the automatic memory, given those until t."""
    log_likelihood: float
    """Per observation; of the automatic memory, what it said of each before it saw it."""
    remark: str
    """What deserves a word, if anything does."""
    picture: Map
    agreement: Agreement | None
    """None without labels."""
    reference: float | None
    """The share of the labels that a model tells right which was taught them; None without."""
    curve: Curve | None
    """None if the visitor has set the number of states."""
    restarts: tuple[int, ...] = ()
    """After how many observations the automatic memory has started anew."""

    @property
    def recording(self) -> Recording:
        return self.request.held.recording

    @property
    def n_observed(self) -> int:
        """Observations that are not missing."""
        return self.request.held.n_observed

    @property
    def n_states(self) -> int:
        return self.model.n_components

    @cached_property
    def states(self) -> np.ndarray:
        """The most probable state of each observation, shape (T,)."""
        return self.probabilities.argmax(axis=1)

    @cached_property
    def visits(self) -> Visits:
        """When states are entered, and for how long."""
        return visits(self.states, self.recording.lengths)


def compute(request: ReadRequest | FitRequest, report: Report) -> FileRead | Fitted:
    """The result of a request; `report` may raise `jobs.Cancelled`."""
    if isinstance(request, ReadRequest):
        file = request.file
        return data_workers.call(read_file, (file.name, file.content, request.options), report)
    arguments = (
        request.held.recording, request.n_states, request.method, request.emission,
        request.is_recentred,
    )  # fmt: skip
    return Fitted(request, **data_workers.call(fit, arguments, report))


# What is done, in a process beside the server


def read_file(name: str, content: bytes, options: ReadOptions, watch: Watch) -> FileRead:
    """Read a file, or say what is wrong with it."""
    watch("Reading the file", 0.0)
    names: tuple[str, ...] = ()
    try:
        names = tuple(names_in(content, name=name, separator=options.separator))
        return FileRead(names, read(content, name=name, **options.said()), None)
    except WrongFileError as problem:
        return FileRead(names, None, problem)
    except MemoryError:
        return FileRead(names, None, WrongFileError("the file is too large: give fewer rows"))
    except ValueError as error:  # what was said of the file does not go together
        return FileRead(names, None, WrongFileError(f"{error}: change what is said of the file"))


def fit(
    recording: Recording,
    n_states: int | str,
    method: str,
    emission: str,
    is_recentred: bool,
    watch: Watch,
) -> dict:
    """Learn the states: the fields of `Fitted` but the request."""
    there = int(recording.observed.sum())
    if not isinstance(n_states, str) and there < n_states:
        raise Expected(f"{n_states} states need as many observations, and there are {there}.")
    if is_recentred:
        watch("Re-centring", 0.0)
        moved, _ = recentred(recording.manifold, recording.points, lengths=recording.lengths)
        recording = replace(recording, points=moved)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        size = thinned_size(recording)
        few = recording if size is None else recording.thinned(size)
        learned = _learned(recording, few, n_states, method, emission, watch)
        watch("Decoding", 0.97)
        reference = taught(few, recording, emission)
    model, said, density = learned.model, learned.said, learned.density
    if said is None:
        said = model.predict_proba(recording.points, lengths=recording.lengths)
        density = model.score(recording.points, lengths=recording.lengths) / there
    return {
        "model": model,
        "probabilities": said,
        "log_likelihood": density,
        "remark": " ".join([learned.remark, *_degenerate(caught)]).strip(),
        "picture": drawn(recording, model),
        "agreement": agreement(recording, said.argmax(axis=1), model.n_components),
        "reference": reference,
        "curve": learned.curve,
        "restarts": learned.restarts,
    }


class _Learned(NamedTuple):
    """What a method has found in a recording."""

    model: RiemannianHMM
    remark: str
    curve: Curve | None
    restarts: tuple[int, ...] = ()
    said: np.ndarray | None = None
    """What the automatic memory said of the state of each observation when it saw it, (T, N)."""
    density: float = float("nan")
    """The log density of an observation that it said before."""


def _learned(
    recording: Recording, few: Recording, n_states: int | str, method: str, emission: str,
    watch: Watch,
) -> _Learned:  # fmt: skip
    """Learn from the recording; `few` is what is left of it where it is too long for EM."""
    curve = start = None
    n = n_states
    if isinstance(n, str):
        curve, start = counted(few, n, emission, watch)
        n = start.n_components_
    if method == EM:
        model, remark = _by_em(few, n, emission, start, watch)
        if few is not recording:
            model, word = _over_all(recording, model, len(few.points), watch)
            remark = f"{remark} {word}"
        return _Learned(model, remark, curve)
    learner, said = _one_pass(recording, n, method, emission, watch)
    model = _plain(learner.to_hmm())
    if method != AUTO:
        return _Learned(model, "", curve)
    heard = max(int(recording.observed.sum()) - learner.start_size, 1)
    return _Learned(
        model, "", curve, tuple(learner.restarts_), said, learner.log_likelihood_ / heard
    )  # fmt: skip


def _degenerate(caught: Iterable[warnings.WarningMessage]) -> list[str]:
    """What the engine says of states that were lost; it counts them from 0, pages from 1."""
    found = [one.message for one in caught if isinstance(one.message, DegenerateWarning)]
    return [
        f"{one.problem[0].upper()}{one.problem[1:]}."
        if one.state is None
        else f"State {one.state + 1} {one.problem}."
        for one in found
    ]


def _by_em(
    recording: Recording,
    n_states: int,
    emission: str,
    start: RiemannianHMM | None,
    watch: Watch,
) -> tuple[RiemannianHMM, str]:
    watch("EM, looking for a start", 0.0)

    def show(monitor: Monitor) -> None:
        watch(f"EM, iteration {monitor.n_iter}", monitor.n_iter / (monitor.n_iter + 10))

    model = RiemannianHMM(
        recording.manifold, n_states, emission=emission, init=start, random_state=SEED,
        callback=show,
    )  # fmt: skip
    model.fit(recording.points, lengths=recording.lengths)
    iterations = model.monitor_.n_iter
    remark = "" if model.monitor_.converged else f"EM was stopped after {iterations} iterations."
    return _plain(model), remark


def _one_pass(
    recording: Recording, n_states: int, method: str, emission: str, watch: Watch
) -> tuple[OnlineHMM, np.ndarray]:
    """A learner that has seen each observation once, and what it said of its state then, (T, N); of
    the observations that it starts from, what it says when it has its start."""
    total, window = len(recording.points), streaming_window(int(recording.observed.sum()), n_states)
    options: dict[str, Any] = {
        "emission": emission,
        "random_state": SEED,
        "callback": lambda one: watch("Streaming", one.n_samples_seen_ / total),
    }

    def fresh() -> OnlineHMM:
        if method == AUTO:
            return AutoMemoryRiemannianHMM(recording.manifold, n_states, **options)
        return StreamingRiemannianHMM(recording.manifold, n_states, window=window, **options)

    learner = fresh()
    said = learner.partial_fit_predict_proba(recording.points, lengths=recording.lengths)
    try:
        learner.to_hmm()
    except NotFittedError:
        raise Expected("too few observations differ from those before them: use EM.") from None
    first = int((np.ptp(said, axis=1) > 0.0).argmax())  # until then all states are alike
    if first:
        past = first_of(recording, first)
        start = fresh().fit(past.points, lengths=past.lengths).to_hmm()
        said[:first] = start.predict_proba(past.points, lengths=past.lengths)
    return learner, said


def _over_all(
    recording: Recording, start: RiemannianHMM, size: int, watch: Watch
) -> tuple[RiemannianHMM, str]:
    """The model after a few steps of EM over all observations, and a sentence about it."""

    def show(monitor: Monitor) -> None:
        watch(f"EM over all, step {monitor.n_iter}", 0.6 + 0.3 * monitor.n_iter / LAST_STEPS)

    model = RiemannianHMM(
        recording.manifold, start.n_components, emission=start.emission, init=start,
        n_iter=LAST_STEPS, callback=show,
    )  # fmt: skip
    model.fit(recording.points, lengths=recording.lengths)
    remark = (
        f"These are many observations: EM was run to its end on {size:,} of them, in blocks from "
        f"all over the data, and then {LAST_STEPS} times over all."
    )
    return _plain(model), remark


def _plain(model: RiemannianHMM) -> RiemannianHMM:
    """The model without the way it was learned, which need not be kept or sent."""
    startprob, transmat, means, sigmas = model.parameters_
    law, given = model.law_, (model.manifold, startprob, transmat, means)
    if law.covariances is None:
        return RiemannianHMM.from_parameters(*given, sigmas)
    return RiemannianHMM.from_parameters(
        *given, emission=law.emission, covariances=law.covariances, degrees=law.degrees
    )
