"""Learning a Riemannian hidden Markov model from a stream, in constant memory."""

from collections.abc import Callable

import numpy as np

from rhmm.exceptions import warn_degenerate
from rhmm.gaussian.table import radial_table
from rhmm.hmm import RiemannianHMM
from rhmm.manifolds import Manifold, check_manifold
from rhmm.online import start, storage
from rhmm.online.bank import BANK, Bank
from rhmm.online.explain import (
    Explanation,
    explain_streaming,
    explain_windowed,
    scaled_densities,
)
from rhmm.online.race import ENOUGH, Race
from rhmm.online.runner import Field, Runner, Settings
from rhmm.online.streaming import StreamingState
from rhmm.online.stuck import StuckSensor
from rhmm.online.trace import Trace, empty_trace, joined
from rhmm.parameters import MIN_SIGMA, stationary_law
from rhmm.validation import (
    as_generator,
    check_callback,
    check_choice,
    check_integer,
    nan_where_masked,
)

_AUTO_START = 20
"""Observations for each state that ``window="auto"`` starts from."""
_GAIN = 1.25


class OnlineRiemannianHMM:
    """An HMM on a manifold that learns from each observation once and holds only a few.

    A row with NaN is a missing observation; so is what a stuck sensor repeats over and over.

    Parameters
    ----------
    manifold, n_components
        As for `RiemannianHMM`.
    window
        The paper's Δ: how many observations the learner starts from, and how long it remembers
        (``memory="fixed"``) or looks back (``algorithm="windowed"``). ``"auto"`` runs the memories
        of `BANK` side by side, follows the one that has predicted best lately, and starts anew
        when all are lost.
    algorithm
        ``"windowed"`` is the paper's, with a backward pass over Δ observations at each step;
        ``"streaming"`` is ours, whose cost does not depend on Δ.
    memory
        Of the streaming algorithm: ``"growing"`` converges, ``"fixed"`` tracks a drifting chain.
    transition_update
        Of the windowed algorithm: ``"paper"`` as printed; ``"convex"`` keeps A stochastic.
    lag
        Of the streaming algorithm: observations are learned in groups of so many, each with at
        least so many later ones known.
    init
        ``"kmeans"`` on the first Δ observations (streaming: seeds as of K-means++ and EM from the
        best of them), or ``"cold"``: random points among the first 30 (10 for each state if that
        is more), streaming only.
    min_sigma
        Floor of every σ_i.
    random_state
        A seed or numpy Generator for the start.
    trace_every
        Write down the parameters at every so many observations, see `trace_`.
    callback
        Called with the learner between chunks of observations, after the start; raise
        StopIteration in it to leave the rest of the data alone (`n_samples_seen_` tells how far it
        went).
    """

    def __init__(
        self,
        manifold: Manifold,
        n_components: int,
        *,
        window: int | str = 200,
        algorithm: str = "streaming",
        memory: str = "growing",
        transition_update: str = "convex",
        lag: int = 8,
        init: str = "kmeans",
        min_sigma: float = MIN_SIGMA,
        random_state=None,
        trace_every: int | None = None,
        callback: Callable[["OnlineRiemannianHMM"], None] | None = None,
    ):
        self.manifold = check_manifold(manifold)
        self.n_components = check_integer("n_components", n_components, at_least=1)
        self.algorithm = check_choice("algorithm", algorithm, ("streaming", "windowed"))
        self.memory = check_choice("memory", memory, ("growing", "fixed"))
        self.transition_update = check_choice(
            "transition_update", transition_update, ("convex", "paper")
        )
        self.lag = check_integer("lag", lag, at_least=1)
        self.init = check_choice("init", init, ("kmeans", "cold"))
        self.auto = isinstance(window, str) and window == "auto"
        if isinstance(window, str) and not self.auto:
            raise ValueError(f"window must be a whole number or 'auto', not {window!r}")
        first = max(BANK[0], _AUTO_START * self.n_components)
        self.window = first if self.auto else check_integer("window", window, at_least=2)
        if self.window < n_components:
            raise ValueError(f"window must be at least n_components={n_components}, not {window}")
        if algorithm == "windowed" and (self.auto or init == "cold"):
            raise ValueError("algorithm='windowed' needs a window in numbers and init='kmeans'")
        self.min_sigma = manifold.check_one_sigma("min_sigma", min_sigma)
        self.random_state = random_state
        self.trace_every = (
            0 if trace_every is None else check_integer("trace_every", trace_every, at_least=1)
        )
        self.callback = check_callback(callback)
        self._rng = as_generator("random_state", random_state)
        self._first_luck = self._rng.bit_generator.state
        self._geometry = manifold.geometry
        self._table = radial_table(manifold.gaussian)
        self._least_delta = float(manifold.delta(self.min_sigma))
        self._buffer = np.empty((0, *manifold.point_shape))
        self._skipped = 0
        self._sensor = StuckSensor(int(np.prod(manifold.point_shape)))
        self._field: Field | None = None
        self._traces: list[Trace] = []
        self._latest: tuple[Runner, np.ndarray, bool] | None = None
        self.peak_nbytes_ = 0
        """The largest that `state_nbytes_` has been, at the start or since."""

    def __repr__(self) -> str:
        window = "auto" if self.auto else self.window
        return (
            f"OnlineRiemannianHMM({self.manifold!r}, n_components={self.n_components}, "
            f"window={window!r}, algorithm={self.algorithm!r})"
        )

    # Learning

    def partial_fit(self, X) -> "OnlineRiemannianHMM":
        """Learn from the observations X, in order. Any chunking gives the same, bit for bit."""
        self._consume(X, want_filtered=False)
        return self

    def partial_fit_predict_proba(self, X) -> np.ndarray:
        """`partial_fit`, and P(s_k = i | y_1..y_k) of each observation as the stream went, (T, N).

        Uniform where the learner was still collecting its first observations, and where its
        callback has left them alone.
        """
        return self._consume(X, want_filtered=True)

    def learn_one(self, y) -> "OnlineRiemannianHMM":
        """Learn from one observation."""
        return self.partial_fit(self._one(y))

    def _one(self, y) -> np.ndarray:
        """y, checked, as a stream of one."""
        y = self.manifold._as_array("y", nan_where_masked(y))
        if y.shape != self.manifold.point_shape:
            raise ValueError(f"y must be one point of shape {self.manifold.point_shape}")
        if not np.isnan(y).any():
            self.manifold.points("y", y)
        return y[None]

    def _consume(self, X, want_filtered: bool) -> np.ndarray:
        X, observed = self.manifold.observations("X", X, allow_all_missing=True)
        n = self.n_components
        filtered = np.full((len(X) if want_filtered else 0, n), 1.0 / n)
        done = 0
        while done < len(X):
            if self._field is None:
                size = min(self.start_size - len(self._buffer), len(X) - done)
            else:  # the last observation goes alone: the state before it is kept for `explain`
                size = max(min(self._field.until_decision(), len(X) - 1 - done), 1)
            part = slice(done, done + size)
            done += size
            self._sensor.drop(X[part], observed[part])
            if self._field is None:
                self._collect(X[part], observed[part])
                self._note_size()
                continue
            before = [runner.copy() for runner in self._field.runners] if done == len(X) else None
            self._latest = None
            probabilities, trace = self._field.learn(
                self._geometry, self._table, X[part], observed[part], want_filtered
            )
            if want_filtered:
                filtered[part] = probabilities
            if len(trace.step):
                self._traces.append(trace)
            if before is not None:
                self._latest = before[self._field.leader], X[-1].copy(), bool(observed[-1])
            self._decide()
            self._note_size()
            if self.callback is not None:
                try:
                    self.callback(self)
                except StopIteration:
                    break
        return filtered

    def _collect(self, X, observed) -> None:
        """Fill the buffer with observations that are there; begin when it is full."""
        self._buffer = np.concatenate([self._buffer, X[observed]])
        self._skipped += int((~observed).sum())
        if len(self._buffer) == self.start_size:
            self._note_size()
            self._begin()
            one_each = self.start_size == self.n_components  # then it is no wonder
            if (self._state.delta <= self._least_delta).all() and not one_each:
                warn_degenerate(
                    f"every state starts on a point and its sigma is min_sigma={self.min_sigma:g}: "
                    "data of a smaller scale need a smaller one"
                )

    def _note_size(self) -> None:
        self.peak_nbytes_ = max(self.peak_nbytes_, self.state_nbytes_)

    @property
    def start_size(self) -> int:
        """Observations that it starts from: Δ, or a few if it starts cold."""
        return max(30, 10 * self.n_components) if self.init == "cold" else self.window

    # The start: candidates, a race between them, and then one memory or a bank of them

    def _begin(self) -> None:
        points, n = self._buffer, self.n_components
        self._buffer = points[:0]
        self._first_luck = self._rng.bit_generator.state
        seen = len(points) + self._skipped
        if self.algorithm == "windowed":
            state = start.windowed_state(self.manifold, points, n, self.min_sigma, self._rng, seen)
            self._field = Field([Runner(self._settings(1.0, 1.0), state)])
            return
        cold = self.init == "cold"
        race = n > 1 and (cold or len(points) < ENOUGH * n)
        found = self._candidates(points, cold, race)
        found = [start.in_order_of(self.manifold, found[0].means, each) for each in found]
        settings = self._settings(1.0, len(points) / n)
        states = [start.streaming_state(self.manifold, each, self.lag, seen) for each in found]
        scores = np.array([0.0 if cold else each.log_likelihood for each in found])
        self._field = Race([Runner(settings, state) for state in states], scores, len(points))
        self._decide()

    def _candidates(self, points: np.ndarray, cold: bool, race: bool) -> list[start.Candidate]:
        n, least = self.n_components, self._least_delta
        return start.candidates(self.manifold, points, self._rng, n, least, cold=cold, race=race)

    def _settings(self, gain: float, cap: float) -> Settings:
        convex, dim = self.transition_update == "convex", self.manifold.dim
        return Settings(self.window, convex, dim, gain, cap, self._least_delta, self.trace_every)

    def _decide(self) -> None:
        """Let the field judge its runners, and set up what follows a race that is over."""
        if isinstance(self._field, Bank):
            self._field.decide(self._start_anew)
        elif isinstance(self._field, Race):
            self._field.decide()
            if self._field.is_over:
                state = self._field.state
                state.log_likelihood[:] = self._field.log_likelihood
                self._field = self._settled(state)

    def _settled(self, state: StreamingState) -> Field:
        if self.auto:
            members = [Runner(self._memory(memory), state).copy() for memory in BANK]
            size = max(200, ENOUGH * self.n_components)
            return Bank(members, np.zeros((size, *self.manifold.point_shape)))
        memory = "growing" if self.memory == "growing" else self.window
        return Field([Runner(self._memory(memory), state)])

    def _memory(self, memory: int | str) -> Settings:
        if memory == "growing":
            return self._settings(_GAIN, np.inf)
        return self._settings(1.0, memory / self.n_components)

    def _start_anew(self, bank: Bank) -> StreamingState:
        """A state from the bank's recent observations alone, its states named as they were."""
        (found,) = self._candidates(bank.recent, cold=False, race=False)
        found = start.recognised(self.manifold, bank.transmat, bank.means, bank.delta, found)
        return start.streaming_state(self.manifold, found, self.lag, self.n_samples_seen_)

    # What has been learned

    @property
    def n_samples_seen_(self) -> int:
        """Observations taken in, missing ones included."""
        if self._field is None:
            return len(self._buffer) + self._skipped
        return int(self._field.state.counters[0])

    @property
    def _state(self):
        if self._field is None:
            raise AttributeError(
                f"nothing is learned before {self.start_size} observations; "
                f"{len(self._buffer)} have been seen"
            )
        return self._field.state

    @property
    def transmat_(self) -> np.ndarray:
        """A as learned so far, shape (N, N)."""
        return self._state.transmat.copy()

    @property
    def means_(self) -> np.ndarray:
        """The c_i as learned so far, shape (N, *point_shape)."""
        return self._state.means.copy()

    @property
    def sigmas_(self) -> np.ndarray:
        """The σ_i as learned so far, shape (N,)."""
        return self.manifold.sigma(self._state.delta)

    @property
    def window_(self) -> int | str:
        """Δ; with ``window="auto"`` the memory of `BANK` that is followed, once there is a bank."""
        return self._field.followed if isinstance(self._field, Bank) else self.window

    @property
    def bank_(self) -> dict[int | str, float]:
        """With ``window="auto"``: each memory's recent predictive log density per observation.

        Recent means weighted by e^{−age/100}; `window_` is the memory with the largest.
        """
        return self._bank("bank_").recent_scores()

    @property
    def restarts_(self) -> list[int]:
        """With ``window="auto"``: after how many observations it started anew, the latest 100."""
        return self._bank("restarts_").restarts.tolist()

    def _bank(self, attribute: str) -> Bank:
        if not isinstance(self._field, Bank):
            raise AttributeError(f'{attribute} exists with window="auto", after the start')
        return self._field

    @property
    def state_nbytes_(self) -> int:
        """Bytes that the learner needs to go on, after its start whatever it has seen.

        Beside them it keeps its trace and, for `explain`, the state before the latest observation.
        """
        return self._buffer.nbytes if self._field is None else self._field.nbytes

    @property
    def trace_(self) -> Trace:
        """The parameters at every `trace_every`-th observation, in arrays that are read-only."""
        if not self.trace_every:
            raise AttributeError("there is no trace: give trace_every to the constructor")
        if not self._traces:
            return empty_trace(0, np.empty((self.n_components, *self.manifold.point_shape)))
        self._traces = [joined(self._traces)]
        return self._traces[0]

    def to_hmm(self) -> RiemannianHMM:
        """What has been learned, as a model that scores and decodes; it starts stationary."""
        transmat = self.transmat_
        return RiemannianHMM.from_parameters(
            self.manifold, stationary_law(transmat), transmat, self.means_, self.sigmas_
        )

    def predict_proba_one(self, y) -> np.ndarray:
        """P(s = i | all that was learned from, and y as the next observation); changes nothing."""
        y = self._one(y)
        if self._field is None:
            return np.full(self.n_components, 1.0 / self.n_components)
        state = self._state
        streaming = self.algorithm == "streaming"
        latest = state.filtered if streaming else state.alpha[state.counters[1] - 1]
        predicted = latest @ state.transmat
        if np.isnan(y).any() or self._sensor.would_drop(y):
            return predicted
        d2 = self.manifold.squared_distances(y, state.means)
        joint = predicted * scaled_densities(state, d2)[0]
        return joint / joint.sum()

    def predict_one(self, y) -> int | None:
        """The most probable state of y as the next observation; None before the start."""
        probabilities = self.predict_proba_one(y)
        return None if self._field is None else int(probabilities.argmax())

    def explain(self, k: int | None = None, X=None) -> Explanation:
        """Every quantity of the update at observation k, as named arrays.

        Without arguments: the latest one. For an earlier k give the stream X from its beginning:
        a copy of the learner replays it up to there.
        """
        if X is not None:
            X, _ = self.manifold.observations("X", X)
            k = check_integer("k", len(X) if k is None else k, at_least=self.start_size + 1)
            if k > len(X):
                raise ValueError(f"k must be at most the {len(X)} observations of X, not {k}")
            return self._fresh().partial_fit(X[:k]).explain()
        if k not in (None, self.n_samples_seen_):
            raise ValueError(
                f"k must be the latest observation, {self.n_samples_seen_}, unless X holds the "
                "stream from its beginning"
            )
        if self._latest is None:
            raise ValueError(
                f"k={self.n_samples_seen_} cannot be explained: the learner was still collecting "
                "its first observations, or was stopped in the middle of its data"
            )
        runner, y, observed = self._latest
        explain = explain_streaming if self.algorithm == "streaming" else explain_windowed
        return explain(self.manifold, runner.settings, runner.state, y, observed)

    # Copies and files

    def _options(self) -> dict:
        """What the constructor was given, apart from seeds and functions."""
        names = ("n_components", "algorithm", "memory", "transition_update", "lag", "init")
        return {
            **{name: getattr(self, name) for name in names},
            "window": "auto" if self.auto else self.window,
            "min_sigma": self.min_sigma,
            "trace_every": self.trace_every or None,
        }

    def _fresh(self) -> "OnlineRiemannianHMM":
        """A learner with the same options and the same luck that has seen nothing."""
        fresh = OnlineRiemannianHMM(self.manifold, **self._options())
        fresh._rng = storage.generator_at(self._first_luck)
        return fresh

    def save(self, path) -> None:
        """Write everything to an ``.npz`` file, so that a loaded learner goes on bit for bit."""
        storage.save(path, self)

    @classmethod
    def load(cls, path) -> "OnlineRiemannianHMM":
        """Read a learner that `save` wrote; it has no callback."""
        return storage.load(path, cls)
