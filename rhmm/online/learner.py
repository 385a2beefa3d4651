"""Learning a Riemannian hidden Markov model from a stream, in constant memory."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from rhmm._jit import kernel
from rhmm.gaussian.table import SMALLEST_SIGMA, half_precision_and_log_z, radial_table
from rhmm.hmm import RiemannianHMM
from rhmm.kmeans import RiemannianKMeans
from rhmm.manifolds import Manifold
from rhmm.online import start, storage, streaming, windowed
from rhmm.online.explain import Explanation, explain_streaming, explain_windowed
from rhmm.online.trace import Trace, empty_trace
from rhmm.parameters import stationary_law
from rhmm.validation import as_generator, check_choice, check_integer, check_number

BANK = (50, 200, 800, 3200)
"""The memories that ``window="auto"`` runs side by side."""

_AUTO_WINDOW = 200
_AUTO_HORIZON = 200.0
_GAIN = 1.25
_ENOUGH = 60
"""Observations for each state that tell a good start from a bad one at once."""
_RACE = 160
"""Observations for each state after which the candidates of a short start have been told apart."""
_FINALISTS = 4
"""Candidates in the second half of the race."""
_CHUNK = 4096
_MOST_REPEATS = 8
_UNBOUNDED = 1e300


class Settings(NamedTuple):
    """What the kernels need to know besides their state."""

    window: int
    convex: bool
    dim: int
    gain: float
    cap: float
    least_delta: float
    trace_every: int


class Runner(NamedTuple):
    """One state on its way through the stream, and the settings it runs under."""

    settings: Settings
    state: streaming.StreamingState | windowed.WindowedState

    def copy(self) -> "Runner":
        state = type(self.state)(*(array.copy() for array in self.state))
        return Runner(self.settings, state)


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
        of `BANK` side by side and follows the one that has predicted best lately.
    algorithm
        ``"windowed"`` is the paper's, with a backward pass over Δ observations at each step;
        ``"streaming"`` is ours, whose cost does not depend on Δ.
    memory
        Of the streaming algorithm: ``"growing"`` converges, ``"fixed"`` tracks a drifting chain.
    transition_update
        Of the windowed algorithm: ``"paper"`` as printed; ``"convex"`` keeps A stochastic.
    lag
        Of the streaming algorithm: how many observations later a state is learned from.
    init
        ``"kmeans"`` on the first Δ observations, or ``"cold"``: random points among the first 30
        (10 for each state if that is more), streaming only.
    min_sigma
        Floor of every σ_i.
    random_state
        A seed or numpy Generator for the start.
    trace_every
        Write down the parameters at every so many observations, see `trace_`.
    callback
        Called with the learner between chunks of observations; raise StopIteration in it to leave
        the rest of the data alone (`n_samples_seen_` tells how far it went).
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
        min_sigma: float = 1e-3,
        random_state=None,
        trace_every: int | None = None,
        callback: Callable[["OnlineRiemannianHMM"], None] | None = None,
    ):
        if not isinstance(manifold, Manifold):
            raise ValueError(f"manifold must be a manifold such as Hyperbolic(2), not {manifold!r}")
        self.manifold = manifold
        self.n_components = check_integer("n_components", n_components, at_least=1)
        self.algorithm = check_choice("algorithm", algorithm, ("streaming", "windowed"))
        self.memory = check_choice("memory", memory, ("growing", "fixed"))
        self.transition_update = check_choice(
            "transition_update", transition_update, ("convex", "paper")
        )
        self.lag = check_integer("lag", lag, at_least=1)
        self.init = check_choice("init", init, ("kmeans", "cold"))
        self.auto = isinstance(window, str) and check_choice("window", window, ("auto",)) == "auto"
        self.window = _AUTO_WINDOW if self.auto else check_integer("window", window, at_least=2)
        if self.window < n_components:
            raise ValueError(f"window must be at least n_components={n_components}, not {window}")
        if algorithm == "windowed" and (self.auto or init == "cold"):
            raise ValueError("algorithm='windowed' needs a window in numbers and init='kmeans'")
        self.min_sigma = check_number("min_sigma", min_sigma, at_least=SMALLEST_SIGMA)
        if callback is not None and not callable(callback):
            raise ValueError(f"callback must be a function or None, not {callback!r}")
        self.random_state = random_state
        self.trace_every = (
            0 if trace_every is None else check_integer("trace_every", trace_every, at_least=1)
        )
        self.callback = callback
        self._rng = as_generator("random_state", random_state)
        self._first_luck = self._rng.bit_generator.state
        self._geometry = manifold.geometry
        self._table = radial_table(manifold.gaussian)
        self._least_delta = float(manifold.delta(self.min_sigma))
        self._buffer = np.empty((0, *manifold.point_shape))
        self._skipped = 0
        self._last = np.full(int(np.prod(manifold.point_shape)), np.nan)
        self._repeats = np.zeros(1, np.int64)
        self._field: list[Runner] = []
        self._leader = 0
        self._racing_is_over = False
        self._scores = np.zeros(0)
        self._raced = 0
        self._traces: list[Trace] = []
        self._latest: tuple[Runner, np.ndarray, bool] | None = None

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

        Uniform where the learner was still collecting its first observations.
        """
        return self._consume(X, want_filtered=True)

    def learn_one(self, y) -> "OnlineRiemannianHMM":
        """Learn from one observation."""
        return self.partial_fit(self._one(y))

    def _one(self, y) -> np.ndarray:
        """y, checked, as a stream of one."""
        y = self.manifold._as_array("y", y)
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
            if not self._field:
                size = min(self._start_size - len(self._buffer), len(X) - done)
            else:  # the last observation goes alone: the state before it is kept for `explain`
                size = max(min(_CHUNK, self._until_decision(), len(X) - 1 - done), 1)
            part = slice(done, done + size)
            done += size
            _drop_stuck(X[part].reshape(size, -1), observed[part], self._last, self._repeats)
            if not self._field:
                self._collect(X[part], observed[part])
                continue
            before = [runner.copy() for runner in self._field] if done == len(X) else None
            self._latest = None
            run = self._run(X[part], observed[part], want_filtered)
            self._raced += int(observed[part].sum())
            if want_filtered:
                filtered[part] = run
            if before is not None:
                self._latest = before[self._leader], X[-1].copy(), bool(observed[-1])
            self._decide()
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
        if len(self._buffer) == self._start_size:
            self._begin()

    @property
    def _start_size(self) -> int:
        n = self.n_components
        if self.init == "cold":
            return max(30, 10 * n)
        if self.algorithm == "windowed":
            return self.window
        return min(self.window, max(200, _ENOUGH * n))

    def _run(self, X, observed, want_filtered: bool) -> np.ndarray:
        n, many = self.n_components, len(self._field) > 1
        learn = streaming.learn if self.algorithm == "streaming" else windowed.learn
        first, every = self.n_samples_seen_, self.trace_every
        rows = (first + len(X)) // every - first // every if every else 0
        traces, filtered, predictive = [], [], []
        for runner in self._field:
            traces.append(empty_trace(rows, runner.state.means))
            filtered.append(np.empty((len(X) if want_filtered else 0, n)))
            predictive.append(np.empty(len(X) if many else 0))
            learn(
                self._geometry,
                self._table,
                runner.settings,
                X,
                observed,
                runner.state,
                filtered[-1],
                predictive[-1],
                traces[-1],
            )
        leaders = np.zeros(len(X), np.int64)
        if many:
            forget = 1.0 / _AUTO_HORIZON if self._racing_is_over else 0.0
            _follow(np.stack(predictive), forget, self._scores, leaders)
            self._leader = int(leaders[-1])
        if rows:
            picked = leaders[traces[0].step - first - 1]
            self._traces.append(
                Trace(*(np.stack(f)[picked, np.arange(rows)] for f in zip(*traces, strict=True)))
            )
        return np.stack(filtered)[leaders, np.arange(len(X))] if want_filtered else filtered[0]

    # The start: candidates, a race between them, and then one memory or a bank of them

    def _begin(self) -> None:
        points = self._buffer
        self._buffer = points[:0]
        self._first_luck = self._rng.bit_generator.state
        if self.algorithm == "windowed":
            self._field = [self._paper_start(points)]
            self._racing_is_over = True
            return
        n, cold = self.n_components, self.init == "cold"
        race = n > 1 and (cold or self._start_size < _ENOUGH * n)
        uniforms = self._rng.random((16 if race else 10, n))
        candidates = start.candidates(
            self._geometry,
            self._table,
            points,
            uniforms if n > 1 else uniforms[:1],
            self._least_delta,
            cold=cold,
            finalists=8 if race else 1,
        )
        candidates = [self._in_order_of(candidates[0], c) for c in candidates]
        racing = self._settings(1.0, self._start_size / n)
        self._field = [Runner(racing, self._streaming_state(c)) for c in candidates]
        self._scores = np.array([0.0 if cold else c.log_likelihood for c in candidates])
        self._leader = int(np.argmax(self._scores))
        self._raced = self._start_size
        self._decide()

    def _in_order_of(self, first: start.Candidate, other: start.Candidate) -> start.Candidate:
        """Name the states of `other` as `first` does: a change of leader keeps the labels."""
        order = linear_sum_assignment(self.manifold.squared_distances(other.means, first.means))[1]
        return start.Candidate(
            np.ascontiguousarray(other.transmat[np.ix_(order, order)]),
            other.means[order],
            other.delta[order],
            other.visits[order],
            other.alpha[:, order],
            other.log_likelihood,
        )

    def _settings(self, gain: float, cap: float) -> Settings:
        return Settings(
            self.window,
            self.transition_update == "convex",
            self.manifold.dim,
            gain,
            cap,
            self._least_delta,
            self.trace_every,
        )

    def _dispersion(self, delta) -> tuple[np.ndarray, np.ndarray]:
        pairs = [half_precision_and_log_z(self._table, d) for d in delta]
        return tuple(np.array(column) for column in zip(*pairs, strict=True))

    def _streaming_state(self, candidate: start.Candidate) -> streaming.StreamingState:
        n, slots = self.n_components, self.lag + 1
        alpha = np.zeros((slots, n))
        alpha[0] = candidate.alpha[-1]
        return streaming.StreamingState(
            candidate.transmat,
            candidate.means,
            candidate.delta,
            *self._dispersion(candidate.delta),
            np.maximum(candidate.visits, 1.0),
            np.zeros((slots, *self.manifold.point_shape)),
            np.zeros(slots, bool),
            alpha,
            np.ones((slots, n)),
            np.array([self._start_size + self._skipped, 0, 1]),
            np.zeros(1),
        )

    def _paper_start(self, points: np.ndarray) -> Runner:
        clusters = RiemannianKMeans(self.manifold, self.n_components, random_state=self._rng)
        parameters = clusters.fit(points).to_parameters(points, [len(points)], self.min_sigma)
        model = RiemannianHMM.from_parameters(self.manifold, *parameters)
        delta = self.manifold.delta(parameters.sigmas)
        room = (2 * self.window, *self.manifold.point_shape)
        state = windowed.WindowedState(
            parameters.transmat,
            parameters.means,
            delta,
            *self._dispersion(delta),
            np.resize(points, room),
            np.zeros(2 * self.window, bool),
            np.resize(model.filter_proba(points), (2 * self.window, self.n_components)),
            np.array([self.window + self._skipped, self.window]),
            np.zeros(1),
        )
        return Runner(self._settings(1.0, 1.0), state)

    @property
    def _race_ends(self) -> tuple[int, int]:
        return _RACE * self.n_components // 2, _RACE * self.n_components

    def _until_decision(self) -> int:
        """Observations until the number of candidates is to be cut."""
        if self._racing_is_over:
            return _CHUNK
        half, whole = self._race_ends
        return (half if self._raced < half else whole) - self._raced

    def _decide(self) -> None:
        """Cut the field of candidates when its time has come, and set up what follows the race."""
        if self._racing_is_over:
            return
        half, whole = self._race_ends
        ranking = np.argsort(-self._scores, kind="stable")
        if self._raced >= whole or len(self._field) == 1:
            self._racing_is_over = True
            self._leader = 0
            state = self._field[ranking[0]].state
            n = self.n_components
            if self.auto:
                windows = [w / n for w in BANK]
                self._field = [Runner(self._settings(1.0, w), state).copy() for w in windows]
                self._scores = np.zeros(len(BANK))
            elif self.memory == "fixed":
                self._field = [Runner(self._settings(1.0, self.window / n), state)]
            else:
                self._field = [Runner(self._settings(_GAIN, _UNBOUNDED), state)]
        elif self._raced >= half and len(self._field) > _FINALISTS:
            kept = np.sort(ranking[:_FINALISTS])
            self._field = [self._field[c] for c in kept]
            self._scores = self._scores[kept]
            self._leader = int(np.argmax(self._scores))

    # What has been learned

    @property
    def n_samples_seen_(self) -> int:
        if not self._field:
            return len(self._buffer) + self._skipped
        return int(self._field[0].state.counters[0])

    @property
    def _state(self):
        if not self._field:
            raise AttributeError(
                f"nothing is learned before {self._start_size} observations; "
                f"{len(self._buffer)} have been seen"
            )
        return self._field[self._leader].state

    @property
    def transmat_(self) -> np.ndarray:
        return self._state.transmat.copy()

    @property
    def means_(self) -> np.ndarray:
        return self._state.means.copy()

    @property
    def sigmas_(self) -> np.ndarray:
        return self.manifold.sigma(self._state.delta)

    @property
    def window_(self) -> int:
        """The memory in use; with ``window="auto"`` the one that has predicted best lately."""
        if self.auto and self._field and self._racing_is_over:
            return BANK[self._leader]
        return self.window

    @property
    def bank_(self) -> dict[int, float]:
        """With ``window="auto"``: each memory's recent predictive log density per observation.

        Recent means weighted by e^{−age/200}; `window_` is the memory with the largest.
        """
        if not (self.auto and self._field and self._racing_is_over):
            raise AttributeError('bank_ exists with window="auto", after the start')
        return {w: float(s) / _AUTO_HORIZON for w, s in zip(BANK, self._scores, strict=True)}

    @property
    def state_nbytes_(self) -> int:
        """Bytes that the learner holds, whatever it has seen (without its trace)."""
        return sum(array.nbytes for runner in self._field for array in runner.state)

    @property
    def trace_(self) -> Trace:
        """The parameters at every `trace_every`-th observation."""
        if not self.trace_every:
            raise AttributeError("there is no trace: give trace_every to the constructor")
        if not self._traces:
            return empty_trace(0, np.empty((self.n_components, *self.manifold.point_shape)))
        self._traces = [Trace(*map(np.concatenate, zip(*self._traces, strict=True)))]
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
        if not self._field:
            return np.full(self.n_components, 1.0 / self.n_components)
        state = self._state
        last = state.counters[1] if self.algorithm == "streaming" else state.counters[1] - 1
        predicted = state.alpha[last] @ state.transmat
        if np.isnan(y).any():
            return predicted
        log_density = self.to_hmm().log_density(y)[0]
        joint = predicted * np.exp(log_density - log_density.max())
        return joint / joint.sum()

    def predict_one(self, y) -> int | None:
        """The most probable state of y as the next observation; None before the start."""
        probabilities = self.predict_proba_one(y)
        return int(probabilities.argmax()) if self._field else None

    def explain(self, k: int | None = None, X=None) -> Explanation:
        """Every quantity of the update at observation k, as named arrays.

        Without arguments: the latest one. For an earlier k give the stream X from its beginning:
        a copy of the learner replays it up to there.
        """
        if X is not None:
            X, _ = self.manifold.observations("X", X)
            k = check_integer("k", len(X) if k is None else k, at_least=self._start_size + 1)
            if k > len(X):
                raise ValueError(f"k must be at most the {len(X)} observations of X, not {k}")
            return self._fresh().partial_fit(X[:k]).explain()
        if self._latest is None or k not in (None, self.n_samples_seen_):
            raise ValueError(
                f"k must be the latest observation, {self.n_samples_seen_}, and after the first "
                f"{self._start_size}, unless X holds the stream from its beginning"
            )
        runner, y, observed = self._latest
        explain = explain_streaming if self.algorithm == "streaming" else explain_windowed
        return explain(self.manifold, runner.settings, runner.state, y, observed)

    # Copies and files

    def _options(self) -> dict:
        """What the constructor was given, apart from seeds and functions."""
        return {
            "n_components": self.n_components,
            "window": "auto" if self.auto else self.window,
            "algorithm": self.algorithm,
            "memory": self.memory,
            "transition_update": self.transition_update,
            "lag": self.lag,
            "init": self.init,
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


@kernel
def _drop_stuck(X, observed, last, repeats):
    """After `_MOST_REPEATS` repetitions of the same observation, more of it counts as missing.

    A stuck sensor would otherwise shrink a state to a point. `last` and `repeats` remember.
    """
    for t in range(len(X)):
        if not observed[t]:
            continue
        same = True
        for q in range(X.shape[1]):
            same &= X[t, q] == last[q]
            last[q] = X[t, q]
        repeats[0] = repeats[0] + 1 if same else 0
        observed[t] = repeats[0] < _MOST_REPEATS


@kernel
def _follow(predictive, forget, scores, leaders):
    """Add each log density to the scores, which fade; the leader is the one with the best score."""
    for t in range(len(leaders)):
        for c in range(len(scores)):
            scores[c] += predictive[c, t] - forget * scores[c]
        leaders[t] = np.argmax(scores)
