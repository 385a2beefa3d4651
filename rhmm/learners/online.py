"""What online learners share: each learns in constant memory, and answers at any moment."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from rhmm.estimator import check_components
from rhmm.exceptions import warn_degenerate
from rhmm.gaussian.table import radial_table
from rhmm.learners.learned import Learned
from rhmm.parameters import delta_of_floor, floor_of_sigma
from rhmm.streams import files
from rhmm.streams.chunk import Chunk, Present, lengths_until
from rhmm.streams.ensemble import Ensemble, Runner
from rhmm.streams.explanation import Explanation, predicted, scaled_densities
from rhmm.streams.stream import Stream
from rhmm.streams.trace import Trace, empty_trace, joined
from rhmm.validation import as_generator, check_callback, check_integer, nan_where_masked

_CHUNK = 4096


class OnlineHMM(Learned):
    """An HMM on a manifold that learns from each observation once and holds only a few.

    A row of X with NaN is a missing observation; so is what a stuck sensor repeats over and over.
    A learner of this kind says how many observations it starts from (`start_size`), what it begins
    with (`_begin`), how it goes on (`_decide`) and what its step is made of (`_explain`).
    """

    n_components: Any
    """A whole number, or a word where the learner finds it."""
    min_sigma: float | None
    trace_every: int | None
    callback: Callable[[Self], None] | None

    kernel: ClassVar[Callable]
    """The compiled recursion."""
    own_settings: ClassVar[tuple[str, ...]] = ()
    """The settings in which its runners differ."""

    _stream: Stream | None = None

    def check_options(self) -> None:
        """Raise a ValueError that names the first wrong argument of the constructor."""
        super().check_options()
        _ = self._sizes
        self.manifold.check_min_sigma(self.min_sigma)
        if self.trace_every is not None:
            check_integer("trace_every", self.trace_every, at_least=1)
        check_callback(self.callback)

    # Of each learner

    @property
    @abstractmethod
    def state_class(self) -> type:
        """The NamedTuple that the kernel works on."""

    def _densities(self, state, points: np.ndarray) -> np.ndarray:
        """p_i of points (T, *point_shape), each row divided by its largest entry, shape (T, N)."""
        return scaled_densities(state, self.manifold.squared_distances(points, state.means))

    @property
    def _sizes(self) -> tuple[int, int]:
        """How many states it has at least and at most; a stream is told in so many columns."""
        n = check_components("n_components", self.n_components)
        return n, n

    @property
    def ensembles(self) -> tuple[type[Ensemble], ...]:
        """The kinds of ensembles that it runs."""
        return (Ensemble,)

    @property
    @abstractmethod
    def start_size(self) -> int:
        """Observations that it starts from."""

    @property
    @abstractmethod
    def n_held(self) -> int:
        """The latest observations that it learns from at a time, after its start."""

    @abstractmethod
    def _begin(self, first: Present, seen: int) -> Ensemble:
        """The runners that begin with the first observations, after `seen` with the missing."""

    def _decide(self, ensemble: Ensemble) -> Ensemble:
        """What goes on after an ensemble has learned some observations: it, or another."""
        return ensemble

    @property
    def _chunk(self) -> int:
        """Observations between two calls of the callback, at most."""
        return _CHUNK

    @property
    @abstractmethod
    def _room(self) -> tuple[int, int, int]:
        """How many points a state holds between two observations, at least and at most, and how
        many it has room for."""

    @abstractmethod
    def _settings_of(self, kind: type[Ensemble], runner: int):
        """What a runner of such an ensemble runs under, by its place among the runners."""

    def _settings_from(self, stored: dict):
        """The settings of this learner that a file means: those of the state before the latest
        observation, when another ensemble may have run."""
        for kind in self.ensembles:
            for runner in range(kind.sizes[1]):
                settings = self._settings_of(kind, runner)
                if all(stored[name] == getattr(settings, name) for name in self.own_settings):
                    return settings
        raise ValueError("settings must follow from the options")

    @abstractmethod
    def _explain(self, runner: Runner, y: np.ndarray, observed: bool, begins: bool) -> Explanation:
        """The step that this runner takes at y, which may begin a sequence."""

    # Learning

    def fit(self, X, y=None, *, lengths=None) -> Self:
        """Forget everything, then learn from X (T, *point_shape), in order; `y` is ignored."""
        self._stream = None
        return self.partial_fit(X, lengths=lengths)

    def partial_fit(self, X, y=None, *, lengths=None) -> Self:
        """Learn from the observations X, in order. Any chunking gives the same, bit for bit.

        Without `lengths` X goes on with the sequence of the call before, which stays open. With
        them X holds sequences of so many observations: the first of them goes on with the open one,
        and all of them end. The next observation then begins a sequence in the stationary law, and
        no transition to it is counted. `y` is ignored.
        """
        self._take_in(*self._checked(X), lengths, want_filtered=False)
        return self

    def partial_fit_predict_proba(self, X, *, lengths=None) -> np.ndarray:
        """`partial_fit`, and P(s_k = i | y_1..y_k) of each observation as the stream went, (T, N).

        Uniform where the learner was still collecting its first observations, and where its
        callback has stopped it.
        """
        return self._take_in(*self._checked(X), lengths, want_filtered=True)

    def learn_one(self, y) -> Self:
        """Learn from one observation, shape (*point_shape,)."""
        self._open_stream()
        y, is_there = self._one(y)
        self._take_in(y[None], np.array([is_there]), None, want_filtered=False)
        return self

    def _checked(self, X) -> tuple[np.ndarray, np.ndarray]:
        """Observations as an array, and which of them are there."""
        self._open_stream()
        return self.manifold.observations("X", X, allow_all_missing=True)

    def _one(self, y) -> tuple[np.ndarray, bool]:
        """One observation as an array, and whether it is there."""
        y = self.manifold.as_array("y", nan_where_masked(y))
        if y.shape != self.manifold.point_shape:
            raise ValueError(f"y must be one point of shape {self.manifold.point_shape}")
        if self.manifold.belongs(y):
            return y, True
        if not np.isnan(y).any():
            self.manifold.points("y", y)  # says what is wrong
        return y, False

    def _open_stream(self) -> Stream:
        """The stream that goes on, or a new one if there is none."""
        if self._stream is None:
            self.check_options()
            rng = as_generator("random_state", self.random_state)
            self._stream = Stream.beginning(self.manifold, rng)
        return self._stream

    def _take_in(self, X, observed, lengths, want_filtered: bool) -> np.ndarray:
        """Learn from observations that were checked; returns what was thought of each if wanted."""
        stream = self._open_stream()
        before = None if self.callback is None else (stream.sensor.copy(), observed.copy())
        chunk, n = stream.chunk(X, observed, lengths), self._sizes[1]
        filtered = np.full((len(X), n), 1.0 / n) if want_filtered else np.empty((0, n))
        done = 0
        while done < len(X):
            if stream.ensemble is None:
                size = min(self.start_size - stream.buffer.size, len(X) - done)
            else:  # the last observation goes alone: the state before it is kept for `explain`
                most = min(self._chunk, stream.ensemble.until_decision())
                size = max(min(most, len(X) - 1 - done), 1)
            part = slice(done, done + size)
            if stream.ensemble is None:
                self._collect(stream, chunk.part(part))
                done += size
                continue
            done += self._advance(stream, stream.ensemble, chunk, filtered[part], part)
            if self.callback is not None and before is not None:
                try:
                    self.callback(self)
                except StopIteration:
                    stream.sensor, there = before  # the other one has seen what is left alone
                    stream.sensor.drop(X[:done], there[:done])
                    break
        stream.note_end(chunk, done, lengths)
        return filtered

    def _advance(self, stream: Stream, ensemble: Ensemble, chunk: Chunk, filtered, part) -> int:
        """Learn from a part of a chunk, or from its beginning if there is something to decide;
        returns how many observations that were. Writes into `filtered` unless it is empty."""
        is_last, chunk = part.stop == chunk.size, chunk.part(part)
        before = [runner.copy() for runner in ensemble.runners] if is_last else []
        seen = stream.n_samples_seen
        stream.latest = None
        geometry, table = self.manifold.geometry, radial_table(self.manifold.gaussian)
        probabilities, trace = ensemble.learn(geometry, table, chunk, len(filtered) > 0)
        if len(filtered):
            filtered[: len(probabilities)] = probabilities
        if len(trace.step):
            stream.traces.append(trace)
        if is_last:
            observed, begins = bool(chunk.observed[-1]), bool(chunk.begins[-1])
            stream.latest = before[ensemble.leader], chunk.points[-1].copy(), observed, begins
        taken, count = stream.n_samples_seen - seen, len(ensemble.runners)
        stream.ensemble = self._decide(ensemble)
        if stream.ensemble is not ensemble or len(ensemble.runners) != count:
            stream.note_size()
        return taken

    def _collect(self, stream: Stream, chunk: Chunk) -> None:
        """Fill the buffer with observations that are not missing; begin when it is full."""
        stream.collect(chunk)
        first = stream.buffer
        if first.size < self.start_size:
            return
        stream.buffer = Present.none(self.manifold.point_shape)
        stream.first_rng_state = stream.rng.bit_generator.state
        stream.min_sigma = floor_of_sigma(self.manifold, first.points, self.min_sigma)
        stream.ensemble = self._begin(first, first.size + stream.skipped)
        stream.note_size()
        several = self.start_size != self.n_components  # of one each, σ = 0 is no wonder
        if several and (stream.ensemble.state.delta <= self._least_delta).all():
            warn_degenerate(
                f"every state starts on a point and its sigma is min_sigma={stream.min_sigma:g}: "
                "data of a smaller scale need a smaller one"
            )

    @property
    def _least_delta(self) -> float:
        return delta_of_floor(self.manifold, self._known_stream.min_sigma)

    # What has been learned

    @property
    def n_samples_seen_(self) -> int:
        """Observations taken in, missing ones included."""
        return self._known_stream.n_samples_seen

    @property
    def _known_stream(self) -> Stream:
        if self._stream is None:
            raise self._not_fitted("call fit or partial_fit first")
        return self._stream

    @property
    def _state(self):
        stream = self._known_stream
        if stream.ensemble is None:
            raise self._not_fitted(
                f"it starts from {self.start_size} observations, and has seen {stream.buffer.size}"
            )
        return stream.ensemble.state

    @property
    def log_likelihood_(self) -> float:
        """Σ log p(y_k | y_1..y_{k−1}) since the start: its slope is the predictive log density."""
        return self._known_stream.log_likelihood

    @property
    def state_nbytes_(self) -> int:
        """Bytes that the learner needs to go on; after its start constant, whatever it has seen.

        Beside them it keeps its trace and, for `explain`, the state before the latest observation.
        """
        return self._known_stream.nbytes

    @property
    def peak_nbytes_(self) -> int:
        """The largest that `state_nbytes_` has been, at the start or since."""
        return self._known_stream.peak_nbytes

    @property
    def trace_(self) -> Trace:
        """The parameters at every `trace_every`-th observation, in arrays that are read-only."""
        if not self.trace_every:
            raise AttributeError("there is no trace: give trace_every to the constructor")
        stream = self._known_stream
        if not stream.traces:
            return empty_trace(0, np.empty((self._sizes[1], *self.manifold.point_shape)))
        stream.traces = [joined(stream.traces)]
        return stream.traces[0]

    def __sklearn_is_fitted__(self) -> bool:
        return self._stream is not None and self._stream.ensemble is not None

    def predict_proba_one(self, y) -> np.ndarray:
        """P(s = i | all that was learned from, and y as the next observation), shape (N,).

        Changes nothing.
        """
        (y, is_there), stream = self._one(y), self._stream
        if stream is None or stream.ensemble is None:
            return np.full(self._sizes[1], 1.0 / self._sizes[1])
        state = stream.ensemble.state
        law = predicted(state, stream.has_ended)
        if is_there and not stream.sensor.would_drop(y):
            law *= self._densities(state, y[None])[0]
            law /= law.sum()
        return stream.ensemble.in_columns(law)

    def predict_one(self, y) -> int | None:
        """The most probable state of y as the next observation; None before the start."""
        probabilities = self.predict_proba_one(y)
        return int(probabilities.argmax()) if self.__sklearn_is_fitted__() else None

    def explain(self, k: int | None = None, X=None, *, lengths=None) -> Explanation:
        """Every quantity of the update at observation k, as named arrays.

        Without arguments: the latest one. For an earlier k give the stream X from its beginning,
        and its `lengths` if there were any: a copy of the learner replays it up to there.
        """
        seen = self.n_samples_seen_
        if X is not None:
            X, _ = self.manifold.observations("X", X)
            k = check_integer("k", len(X) if k is None else k, at_least=self.start_size + 1)
            if k > len(X):
                raise ValueError(f"k must be at most the {len(X)} observations of X, not {k}")
            return (
                self._fresh()
                .partial_fit(X[:k], lengths=lengths_until(k, len(X), lengths))
                .explain()
            )
        if k not in (None, seen):
            raise ValueError(
                f"k must be the latest observation, {seen}, unless X holds the stream from its "
                "beginning"
            )
        latest = self._known_stream.latest
        if latest is None:
            raise ValueError(
                f"k={seen} cannot be explained: the learner was still collecting its first "
                "observations, or was stopped in the middle of its data"
            )
        return self._explain(*latest)

    # Copies and files

    def stored_options(self) -> dict:
        """What the constructor was given, apart from the manifold, seeds and functions."""
        left_out = ("manifold", "random_state", "callback")
        return {n: value for n, value in self.get_params(deep=False).items() if n not in left_out}

    def _fresh(self) -> Self:
        """A learner with the same options and random numbers that has seen nothing."""
        rng = files.generator_at(self._known_stream.first_rng_state)
        return type(self)(self.manifold, **self.stored_options(), random_state=rng)

    def save(self, path) -> None:
        """Write everything to an ``.npz`` file, so that a loaded learner goes on bit for bit."""
        files.save(path, self)

    @classmethod
    def load(cls, path) -> Self:
        """Read a learner that `save` wrote; it has no callback."""
        return files.load(path, cls)
