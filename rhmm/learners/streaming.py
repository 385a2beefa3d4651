"""Our online algorithm as a learner: see `rhmm.streams.streaming_kernel` for its recursion."""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import ClassVar

import numpy as np

from rhmm.emissions import RIEMANNIAN, Law, check_emission
from rhmm.estimator import AUTO, check_components
from rhmm.learners.learner import OnlineLearner, Option
from rhmm.learners.online import OnlineHMM
from rhmm.learners.shaped import EMISSION, ShapedFit, Shapes, check_shapes
from rhmm.learners.tangent_start import Emission
from rhmm.learners.windowed import check_window
from rhmm.manifolds import Manifold
from rhmm.search import Fit, Sample
from rhmm.streams import start
from rhmm.streams.chunk import Present, ends_of
from rhmm.streams.counting import Counting
from rhmm.streams.ensemble import Ensemble, Runner
from rhmm.streams.explanation import Explanation
from rhmm.streams.recount import Recount, first_count, recount
from rhmm.streams.review import Challenger, Recorder, Reviewed, review
from rhmm.streams.shaped_kernel import AnySettings, AnyState, ShapedState
from rhmm.streams.streaming_kernel import (
    StreamingSettings,
    StreamingState,
    learn,
)
from rhmm.streams.streaming_step import explained, moved_riemannian
from rhmm.validation import check_choice, check_integer

GROWING, FIXED = "growing", "fixed"
_INITS = ("kmeans", "cold")
_COLD = 30
"""Observations of a cold start, at least."""
_GAIN = 1.5


class StreamingHMM(OnlineHMM):
    """What learners by the streaming recursion share: the start, the reviews, and the step.

    A learner of this kind says what follows the start (`_settled`).
    """

    lag: int
    init: str
    emission: str
    degrees: float | None
    shrinkage: float | None

    kernel = staticmethod(learn)
    own_settings: ClassVar[tuple[str, ...]] = ("gain", "cap")

    def check_options(self) -> None:
        """Raise a ValueError that names the first wrong argument of the constructor."""
        super().check_options()
        check_integer("lag", self.lag, at_least=1)
        check_choice("init", self.init, _INITS)
        check_emission(self.emission)
        if self.emission != RIEMANNIAN:
            check_shapes(self)
        elif self.degrees is not None or self.shrinkage is not None:
            name = "shrinkage" if self.degrees is None else "degrees"
            raise ValueError(f"{name} must be None for emission={RIEMANNIAN!r}")

    @property
    def _shapes(self) -> Shapes | None:
        """How it goes about an emission with shapes; the paper's has none."""
        if self.emission == RIEMANNIAN:
            return None
        emission = Emission(self.emission, self.shrinkage, degrees=self.degrees)
        return Shapes(self.manifold, emission, self._known_stream.min_sigma)

    @property
    def state_class(self) -> type:
        return StreamingState if self.emission == RIEMANNIAN else ShapedState

    def _law(self, state) -> Law:
        shapes = self._shapes
        return super()._law(state) if shapes is None else shapes.law(state)

    def _densities(self, state, points: np.ndarray) -> np.ndarray:
        if self._shapes is None:
            return super()._densities(state, points)
        law = self._law(state)
        return law.scaled_densities(law.view(points))[0].T

    @property
    def n_held(self) -> int:
        """The latest observations that it learns from at a time: two lags.

        Besides it keeps a record for its reviews, see `rhmm.streams.history`.
        """
        return 2 * self.lag

    @property
    def _converges(self) -> bool:
        """Whether it learns what is true of all observations alike."""
        return True

    @property
    def _cold_start_size(self) -> int:
        return max(_COLD, 10 * self.n_components)

    def _begin(self, first: Present, seen: int) -> Ensemble:
        """The best start from the first observations."""
        found = self._best_start(first, cold=self.init == "cold")
        return self._settled(self._state_from(found, seen), first)

    def _best_start(self, first: Present, cold: bool) -> Fit | ShapedFit:
        sample, rng = self._sample(first), self._known_stream.rng
        if self._shapes is not None:
            return self._shapes.started(sample, self.n_components, rng)
        return start.best_start(sample, self.n_components, rng, cold=cold)

    def _state_from(self, found: Fit | ShapedFit, seen: int) -> AnyState:
        """Where the recursion goes on from a fit, after `seen` observations."""
        if self._shapes is not None and isinstance(found, ShapedFit):
            settings = self._shapes.settings(self._common_settings(_GAIN, np.inf))
            return self._shapes.state(found, self.lag, seen, settings)
        return start.streaming_state(self.manifold, found, self.lag, seen)

    def _sample(self, present: Present) -> Sample:
        """Observations to search on."""
        ends = ends_of(present.sequence)
        return Sample(self.manifold, present.points, ends, self._least_delta)

    def ensemble_from(self, state) -> Ensemble:
        """What goes on from a state that an earlier version of this recursion has learned."""
        return self._settled(state, Present.none(self.manifold.point_shape))

    @abstractmethod
    def _settled(self, state, first: Present) -> Ensemble:
        """What goes on from the state that was started from these observations."""

    def _challenger(self, ensemble: Recorder) -> Challenger | None:
        """What explains the ensemble's record better, if anything does."""
        few = self.init == "cold" or self.start_size < start.ENOUGH * self.n_components
        afresh = few and ensemble.recorded == ensemble.first_review
        rng, seen = self._known_stream.rng, self.n_samples_seen_
        if self._shapes is not None:
            shaped = self._shapes.review(
                ensemble.history, ensemble.state, self._least_delta, rng, to_rest=self._converges
            )
            if shaped is None:
                return None
            named = start.in_order_of(self.manifold, ensemble.state.means, shaped.fit)
            return Challenger(self._state_from(named, seen), shaped.gain, is_fresh=False)
        found = review(
            ensemble.history, self.manifold, self._least_delta, ensemble.state, rng,
            afresh=afresh, to_rest=self._converges,
        )  # fmt: skip
        if found is None:
            return None
        fit = start.in_order_of(self.manifold, ensemble.state.means, found.fit)
        return Challenger(self._state_from(fit, seen), found.gain, is_fresh=afresh)

    def _settings(self, gain: float, cap: float) -> AnySettings:
        common = self._common_settings(gain, cap)
        return common if self._shapes is None else self._shapes.settings(common)

    def _common_settings(self, gain: float, cap: float) -> StreamingSettings:
        dim, every = self.manifold.dim, self.trace_every or 0
        return StreamingSettings(dim, gain, cap, self._least_delta, every)

    @property
    def _room(self) -> tuple[int, int, int]:
        return 0, 2 * self.lag - 1, 2 * self.lag

    def _memory(self, memory: int | str) -> AnySettings:
        """The settings of a memory that grows, or of so many observations."""
        if isinstance(memory, str):
            return self._settings(_GAIN, np.inf)
        return self._settings(1.0, memory / self.n_components)

    def _explain(self, runner: Runner, y: np.ndarray, observed: bool, begins: bool) -> Explanation:
        plain = partial(moved_riemannian, self.manifold)
        moved = plain if self._shapes is None else self._shapes.moved
        return explained(self.manifold, runner, y, observed, begins, self._densities, moved)


class StreamingRiemannianHMM(StreamingHMM):
    """Our algorithm: a short lag to look back, and a memory of its own; its cost does not depend
    on Δ.

    Parameters
    ----------
    manifold
        As for `RiemannianHMM`.
    n_components
        Number of hidden states N, or ``"auto"``: states are born and die as the stream asks for it,
        see `rhmm.streams.counting`. `n_components_` says how many there are, `names_` which.
    max_components
        The most states that ``"auto"`` can lead to.
    window
        The paper's Δ: how many observations it starts from, and how long a fixed memory is. With
        another emission than the paper's it starts from 60 for each state, if that is more.
    memory
        ``"growing"`` converges, ``"fixed"`` tracks a drifting chain. `AutoMemoryRiemannianHMM`
        chooses among several by itself.
    lag
        Observations are learned in groups of so many, each with at least so many later ones known.
    init
        ``"kmeans"``: seeds as of k-means++ among the first Δ observations, and EM from the best of
        them. ``"cold"``: random points among the first 30 (10 for each state if that is more).
        Where these were few, it begins afresh after about 100 observations for each state (416 at
        least).
    emission, degrees, shrinkage
        The law of the observations in a state, as for `RiemannianHMM`: its second moments fade as
        the rest does, see `rhmm.streams.shaped_kernel`. Starts and reviews are EM with that
        emission. It needs a given number of states and ``init="kmeans"``.
    min_sigma
        Floor of every σ_i. None: 10⁻³, or 10⁻³ times the scale of the observations that it starts
        from if that is smaller.
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
        n_components: int | str,
        *,
        max_components: int = 12,
        window: int = 200,
        memory: str = GROWING,
        lag: int = 8,
        init: str = "kmeans",
        emission: str = RIEMANNIAN,
        degrees: float | None = None,
        shrinkage: float | None = None,
        min_sigma: float | None = None,
        random_state=None,
        trace_every: int | None = None,
        callback: Callable[["StreamingRiemannianHMM"], None] | None = None,
    ):
        self.manifold = manifold
        self.n_components = n_components
        self.max_components = max_components
        self.window = window
        self.memory = memory
        self.lag = lag
        self.init = init
        self.emission = emission
        self.degrees = degrees
        self.shrinkage = shrinkage
        self.min_sigma = min_sigma
        self.random_state = random_state
        self.trace_every = trace_every
        self.callback = callback

    def check_options(self) -> None:
        """Raise a ValueError that names the first wrong argument of the constructor."""
        check_components("max_components", self.max_components)
        super().check_options()
        check_window(self.window, 1 if self._is_auto else self.n_components)
        if self.memory == "auto":
            raise ValueError("memory='auto' is a learner of its own: AutoMemoryRiemannianHMM")
        check_choice("memory", self.memory, (GROWING, FIXED))
        if self._is_auto and self.memory == FIXED:
            raise ValueError(
                "memory must be 'growing' where n_components is 'auto': states are counted on a "
                "record of the whole stream"
            )

    @property
    def _is_auto(self) -> bool:
        return self.n_components == AUTO

    @property
    def _sizes(self) -> tuple[int, int]:
        return (1, self.max_components) if self._is_auto else super()._sizes

    @property
    def _converges(self) -> bool:
        return self.memory == GROWING

    @property
    def start_size(self) -> int:
        """Observations that it starts from: Δ, or a few if it starts cold; with shapes 60 for each
        state, if that is more."""
        if self.init == "cold":
            return _COLD if self._is_auto else self._cold_start_size
        if self.emission != RIEMANNIAN and not self._is_auto:
            return max(self.window, start.ENOUGH * self.n_components)
        return self.window

    @property
    def names_(self) -> np.ndarray:
        """The name of each state, shape (N,): its column in the trace and in
        `partial_fit_predict_proba`.

        A state keeps its name as long as it lives. If `n_components` is a number, state i is i.
        """
        n = self.n_components_
        ensemble = self._known_stream.ensemble
        return ensemble.present_names.copy() if isinstance(ensemble, Counting) else np.arange(n)

    @property
    def ensembles(self) -> tuple[type[Ensemble], ...]:
        """The kinds of ensembles that it runs."""
        return (Counting,) if self._is_auto else (Reviewed,)

    def _best_start(self, first: Present, cold: bool) -> Fit | ShapedFit:
        if not self._is_auto:
            return super()._best_start(first, cold)
        return first_count(self._sample(first), self.max_components, self._known_stream.rng)

    def _settled(self, state, first: Present) -> Ensemble:
        kind = self.ensembles[0]
        runner = Runner(self._settings_of(kind, 0), state)
        if self._is_auto:
            return Counting(learn, runner, self.manifold, first, self.max_components)
        return Reviewed(learn, runner, self.manifold, first)

    def _settings_of(self, kind: type[Ensemble], runner: int) -> AnySettings:
        return self._memory(GROWING if self.memory == GROWING else self.window)

    def _decide(self, ensemble: Ensemble) -> Ensemble:
        if isinstance(ensemble, Reviewed):
            ensemble.decide(self._challenger)
        elif isinstance(ensemble, Counting):
            ensemble.decide(self._recount)
        return ensemble

    def _recount(self, ensemble: Counting, after_alarm: bool) -> Recount | None:
        """Another number of states that explains the ensemble's record better, if any does."""
        look = ensemble.look_back(self.manifold, self._least_delta, after_alarm=after_alarm)
        return recount(
            look.sample,
            ensemble.state,
            ensemble.present_names,
            self._known_stream.rng,
            most=self.max_components,
            price=look.price,
            is_whole=look.is_whole,
        )


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
    about="Our online algorithm: it starts from Δ observations, learns from a few at a time, and "
    "reviews itself on a thinned record of all that it has seen.",
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
        EMISSION,
    ),
    variants={"streaming": {}, "fixed": {"memory": FIXED}},
    table=({"window": 60}, {"window": 200}, {"init": "cold"}),
)
