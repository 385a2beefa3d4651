"""Our online algorithm as a learner: see `rhmm.streams.streaming_kernel` for its recursion."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from rhmm.learners.learner import OnlineLearner, Option
from rhmm.learners.online import OnlineHMM
from rhmm.learners.windowed import check_window
from rhmm.manifolds import Manifold
from rhmm.parameters import MIN_SIGMA
from rhmm.streams import start
from rhmm.streams.ensemble import Ensemble, Runner
from rhmm.streams.explanation import (
    Explanation,
    backward,
    next_estimate,
    normalised,
    present_estimate,
    scaled_densities,
)
from rhmm.streams.race import ENOUGH, Race
from rhmm.streams.streaming_kernel import (
    FLOOR,
    NEGLIGIBLE,
    StreamingSettings,
    StreamingState,
    learn,
)
from rhmm.validation import check_choice, check_integer

GROWING, FIXED = "growing", "fixed"
_INITS = ("kmeans", "cold")
_GAIN = 1.25


class StreamingHMM(OnlineHMM):
    """What learners by the streaming recursion share: the start, the race, and the step.

    A learner of this kind says what follows the race (`_settled`).
    """

    lag: int
    init: str

    kernel = staticmethod(learn)
    state_class = StreamingState
    ensembles: ClassVar[tuple[type[Ensemble], ...]] = (Ensemble, Race)
    own_settings: ClassVar[tuple[str, ...]] = ("gain", "cap")

    def check_options(self) -> None:
        """Raise a ValueError that names the first wrong argument of the constructor."""
        super().check_options()
        check_integer("lag", self.lag, at_least=1)
        check_choice("init", self.init, _INITS)

    @property
    def n_held(self) -> int:
        """Observations that it holds at a time: two lags."""
        return 2 * self.lag

    @property
    def _cold_start_size(self) -> int:
        return max(30, 10 * self.n_components)

    def _begin(self, points: np.ndarray, seen: int) -> Ensemble:
        """Candidates from the first points, which race if the points are few."""
        n, cold = self.n_components, self.init == "cold"
        found = self._candidates(points, cold, race=n > 1 and (cold or len(points) < ENOUGH * n))
        found = [start.in_order_of(self.manifold, found[0].means, each) for each in found]
        settings = self._settings_of(Race, 0)
        states = [start.streaming_state(self.manifold, each, self.lag, seen) for each in found]
        scores = np.array([0.0 if cold else each.log_likelihood for each in found])
        race = Race(learn, [Runner(settings, state) for state in states], scores, len(points))
        return self._decide(race)

    def _candidates(self, points: np.ndarray, cold: bool, race: bool) -> list[start.Candidate]:
        n, least, rng = self.n_components, self._least_delta, self._known_stream.rng
        return start.candidates(self.manifold, points, rng, n, least, cold=cold, race=race)

    def _decide(self, ensemble: Ensemble) -> Ensemble:
        if not isinstance(ensemble, Race):
            return ensemble
        ensemble.decide()
        if not ensemble.is_over:
            return ensemble
        state = ensemble.state
        state.log_likelihood[:] = ensemble.log_likelihood
        return self._settled(state)

    def _settled(self, state: StreamingState) -> Ensemble:
        """What goes on from the state that has won the race."""
        raise NotImplementedError

    def _settings(self, gain: float, cap: float) -> StreamingSettings:
        dim, every = self.manifold.dim, self.trace_every or 0
        return StreamingSettings(dim, gain, cap, self._least_delta, every)

    def _settings_of(self, kind: type[Ensemble], runner: int) -> StreamingSettings:
        if kind is Race:
            return self._settings(1.0, self.start_size / self.n_components)
        raise NotImplementedError

    @property
    def _room(self) -> tuple[int, int, int]:
        return 0, 2 * self.lag - 1, 2 * self.lag

    def _memory(self, memory: int | str) -> StreamingSettings:
        """The settings of a memory that grows, or of so many observations."""
        if isinstance(memory, str):
            return self._settings(_GAIN, np.inf)
        return self._settings(1.0, memory / self.n_components)

    def _explain(self, runner: Runner, y: np.ndarray, observed: bool) -> Explanation:
        settings, state = runner
        k, held = (int(c) for c in state.counters)
        lag, dim, manifold = len(state.points) // 2, self.manifold.dim, self.manifold
        y_or_any = y if observed else state.means[0]
        points = np.concatenate([state.points[:held], y_or_any[None]])
        missing = np.append(state.missing[:held], not observed)
        newest_d2 = manifold.squared_distances(y_or_any[None], state.means)
        newest = scaled_densities(state, newest_d2) if observed else np.ones((1, len(state.delta)))
        density = np.concatenate([state.density[:held], newest])
        filtered = normalised(state.filtered @ state.transmat * density[-1])
        alpha = np.concatenate([state.alpha[:held], filtered[None]])
        beta, gamma, zeta = backward(state.transmat, alpha, density)
        is_full = held + 1 == 2 * lag
        older = np.arange(lag if is_full else 0)
        older = older[~missing[older]]
        learned, weight, pair = points[older], gamma[older], zeta[older].sum(axis=0)
        visited = weight.sum(axis=0)
        moving = visited > NEGLIGIBLE
        visits = state.visits.copy()
        if is_full:
            visits = np.minimum(state.visits + visited, settings.cap)
        tau = np.where(moving, 1.0 - np.exp(-settings.gain * visited / visits), 0.0)
        kappa = np.maximum(2.0 * state.half_precision * state.delta / dim, 1.0)
        transmat, means, delta = state.transmat.copy(), state.means.copy(), state.delta.copy()
        for i in np.flatnonzero(moving):
            share = weight[:, i] / visited[i]
            transmat[i] = (1.0 - tau[i]) * transmat[i] + tau[i] * pair[i] / visited[i]
            transmat[i] = normalised(np.maximum(transmat[i], FLOOR))
            towards = np.tensordot(share, manifold.log(means[i], learned), axes=1)
            d2 = manifold.dist(means[i], learned) ** 2
            delta[i] = (1.0 - tau[i]) * delta[i] + tau[i] * (share @ d2)
            means[i] = manifold.exp(means[i], tau[i] / kappa[i] * towards)
        before = after = present_estimate(state)
        if moving.any():
            after = next_estimate(manifold, settings.least_delta, transmat, means, delta)
        return Explanation(
            k + 1, y, learned, density, alpha, beta, gamma, zeta, pair, weight, visits, tau, kappa,
            None, None, before, after,
        )  # fmt: skip


class StreamingRiemannianHMM(StreamingHMM):
    """Our algorithm: a short lag to look back, and a memory of its own; its cost does not depend
    on Δ.

    Parameters
    ----------
    manifold, n_components
        As for `RiemannianHMM`.
    window
        The paper's Δ: how many observations it starts from, and how long a fixed memory is.
    memory
        ``"growing"`` converges, ``"fixed"`` tracks a drifting chain. `AutoMemoryRiemannianHMM`
        chooses among several by itself.
    lag
        Observations are learned in groups of so many, each with at least so many later ones known.
    init
        ``"kmeans"``: seeds as of k-means++ among the first Δ observations, and EM from the best of
        them. ``"cold"``: random points among the first 30 (10 for each state if that is more).
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
        window: int = 200,
        memory: str = GROWING,
        lag: int = 8,
        init: str = "kmeans",
        min_sigma: float = MIN_SIGMA,
        random_state=None,
        trace_every: int | None = None,
        callback: Callable[["StreamingRiemannianHMM"], None] | None = None,
    ):
        self.manifold = manifold
        self.n_components = n_components
        self.window = window
        self.memory = memory
        self.lag = lag
        self.init = init
        self.min_sigma = min_sigma
        self.random_state = random_state
        self.trace_every = trace_every
        self.callback = callback

    def check_options(self) -> None:
        """Raise a ValueError that names the first wrong argument of the constructor."""
        super().check_options()
        check_window(self.window, self.n_components)
        if self.memory == "auto":
            raise ValueError("memory='auto' is a learner of its own: AutoMemoryRiemannianHMM")
        check_choice("memory", self.memory, (GROWING, FIXED))

    @property
    def start_size(self) -> int:
        """Observations that it starts from: Δ, or a few if it starts cold."""
        return self._cold_start_size if self.init == "cold" else self.window

    def _settled(self, state: StreamingState) -> Ensemble:
        return Ensemble(learn, [Runner(self._settings_of(Ensemble, 0), state)])

    def _settings_of(self, kind: type[Ensemble], runner: int) -> StreamingSettings:
        if kind is Ensemble:
            return self._memory(GROWING if self.memory == GROWING else self.window)
        return super()._settings_of(kind, runner)


INIT = Option(
    "init",
    "init",
    "kmeans",
    "Start",
    "From seeds as of K-means among the first observations, or cold from a few random ones.",
    choices={"kmeans": "K-means", "cold": "Cold"},
    phrases={"cold": "cold start"},
)

LEARNER = OnlineLearner(
    key="streaming",
    label="streaming",
    about="Our online algorithm: it starts from Δ observations, then holds only a few, and has a "
    "memory that does not depend on Δ.",
    estimator=StreamingRiemannianHMM,
    options=(
        INIT,
        Option(
            "memory",
            "memory",
            GROWING,
            "Memory",
            "A growing memory converges; a fixed one of Δ observations tracks a chain that drifts.",
            choices={GROWING: "Growing", FIXED: "Fixed"},
            phrases={FIXED: "fixed memory"},
        ),
        Option(
            "window",
            "delta",
            200,
            "Δ: observations to start from",
            "How many observations the learner starts from, and how long a fixed memory is.",
            phrases={"": "Δ"},
            at_least=2,
        ),
    ),
    variants={"streaming": {}, "fixed": {"memory": FIXED}},
    table=({"window": 60}, {"window": 200}, {"init": "cold"}),
)
