"""The paper's online algorithm as a learner: see `rhmm.streams.windowed_kernel` for its steps."""

from collections.abc import Callable

import numpy as np

from rhmm.learners.em import RiemannianHMM
from rhmm.learners.kmeans import RiemannianKMeans
from rhmm.learners.learner import OnlineLearner, Option, Options
from rhmm.learners.online import OnlineHMM
from rhmm.manifolds import Manifold
from rhmm.streams.chunk import Present, begins_of, ends_of
from rhmm.streams.ensemble import Ensemble, Runner
from rhmm.streams.explanation import (
    Explanation,
    backward,
    next_estimate,
    normalised,
    predicted,
    present_estimate,
    scaled_densities,
)
from rhmm.streams.start import dispersion
from rhmm.streams.windowed_kernel import FLOOR, LEAST, WindowedSettings, WindowedState, learn
from rhmm.validation import check_choice, check_integer

PAPERS_WINDOWS = (40, 60, 80, 100, 200, 300, 1000, 5000)
"""The Δ of the paper's Table 2."""
_UPDATES = ("convex", "paper")
_WORK = 400_000
"""Densities between two calls of a callback: few enough that a visitor never waits to cancel."""


class WindowedRiemannianHMM(OnlineHMM):
    """The paper's algorithm: a backward pass over the last Δ observations at each new one.

    Parameters
    ----------
    manifold, n_components
        As for `RiemannianHMM`.
    window
        The paper's Δ: how many observations it starts from (by K-means) and looks back over.
    transition_update
        ``"paper"`` moves A as printed; ``"convex"`` keeps A stochastic.
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

    kernel = staticmethod(learn)
    state_class = WindowedState

    def __init__(
        self,
        manifold: Manifold,
        n_components: int,
        *,
        window: int = 200,
        transition_update: str = "convex",
        min_sigma: float | None = None,
        random_state=None,
        trace_every: int | None = None,
        callback: Callable[["WindowedRiemannianHMM"], None] | None = None,
    ):
        self.manifold = manifold
        self.n_components = n_components
        self.window = window
        self.transition_update = transition_update
        self.min_sigma = min_sigma
        self.random_state = random_state
        self.trace_every = trace_every
        self.callback = callback

    def check_options(self) -> None:
        """Raise a ValueError that names the first wrong argument of the constructor."""
        super().check_options()
        check_window(self.window, self.n_components)
        check_choice("transition_update", self.transition_update, _UPDATES)

    @property
    def start_size(self) -> int:
        """Observations that it starts from: Δ."""
        return self.window

    @property
    def n_held(self) -> int:
        """Observations that it holds at a time: Δ."""
        return self.window

    def _begin(self, first: Present, seen: int) -> Ensemble:
        """K-means on the first window, and α over it."""
        points, sequence = first
        window, n, shape = len(points), self.n_components, self.manifold.point_shape
        lengths = np.diff(ends_of(sequence), prepend=0)
        clusters = RiemannianKMeans(self.manifold, n, random_state=self._known_stream.rng)
        clusters.fit(points)
        parameters = clusters.to_parameters(lengths, self._known_stream.min_sigma)
        model = RiemannianHMM.from_parameters(self.manifold, *parameters)
        delta = self.manifold.delta(parameters.sigmas)
        state = WindowedState(
            parameters.transmat,
            parameters.means,
            delta,
            *dispersion(self.manifold, delta),
            np.resize(points, (2 * window, *shape)),
            np.zeros(2 * window, bool),
            np.resize(begins_of(sequence), 2 * window),
            np.resize(model.filter_proba(points, lengths=lengths), (2 * window, n)),
            np.array([seen, window]),
            np.zeros(1),
        )
        return Ensemble(learn, [Runner(self._settings_of(Ensemble, 0), state)])

    def _settings_of(self, kind: type[Ensemble], runner: int) -> WindowedSettings:
        convex, every = self.transition_update == "convex", self.trace_every or 0
        return WindowedSettings(self.window, convex, self._least_delta, every)

    @property
    def _room(self) -> tuple[int, int, int]:
        return self.window, 2 * self.window, 2 * self.window

    @property
    def _chunk(self) -> int:
        return min(max(_WORK // (self.window * self.n_components), 1), super()._chunk)

    def _explain(self, runner: Runner, y: np.ndarray, observed: bool, begins: bool) -> Explanation:
        settings, state = runner
        window = settings.window
        k, end = int(state.counters[0]) + 1, int(state.counters[1])
        y_or_any = y if observed else state.means[0]
        points = np.concatenate([state.points[end - window + 1 : end], y_or_any[None]])
        missing = np.append(state.missing[end - window + 1 : end], not observed)
        d2 = self.manifold.squared_distances(points, state.means)
        density = scaled_densities(state, d2)
        density[missing] = 1.0
        newest = normalised(predicted(state, begins) * density[-1])
        alpha = np.concatenate([state.alpha[end - window + 1 : end], newest[None]])
        starts = np.append(state.begins[end - window + 1 : end], begins)
        beta, gamma, zeta = backward(state.transmat, alpha, density, starts)
        visits, pair = np.maximum(gamma.sum(axis=0), 1e-300), zeta[-1]
        mu = g = None
        if settings.convex:
            transmat = _convex_step(state.transmat, pair, visits)
        else:
            transmat, mu, g = _paper_step(state.transmat, pair, zeta.sum(axis=0))
        tau, before = newest / visits, present_estimate(state)
        delta = state.delta + newest * (d2[:, -1] - state.delta) / np.sqrt(k)
        means = self.manifold.geodesic(state.means, y_or_any, tau)
        after = next_estimate(self.manifold, settings.least_delta, transmat, means, delta)
        learned, weight = y[None][: int(observed)], newest[None][: int(observed)]
        if not observed:  # nothing moves
            tau, after = np.zeros(len(tau)), before
        return Explanation(
            k, y, learned, density, alpha, beta, gamma, zeta, pair, weight, visits, tau,
            np.ones(len(tau)), mu, g, before, after,
        )  # fmt: skip


def check_window(window, n_components: int) -> None:
    check_integer("window", window, at_least=2)
    if window < n_components:
        raise ValueError(f"window must be at least n_components={n_components}, not {window}")


def _convex_step(old, pair, visits) -> np.ndarray:
    """A_ij + (ζ_ij − A_ij Σ_h ζ_ih)/Σγ(i), shape (N, N)."""
    new = old + (pair - old * pair.sum(axis=1, keepdims=True)) / visits[:, None]
    new = np.maximum(new, LEAST)
    return new / new.sum(axis=1, keepdims=True)


def _paper_step(old, pair, zeta_sum) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A after the paper's update, clipped and scaled; μ and g. Each of shape (N, N)."""
    mu = np.maximum(zeta_sum, 1e-300) / old**2
    g = pair / old
    pull = (g / mu).sum(axis=1, keepdims=True) / (1.0 / mu).sum(axis=1, keepdims=True)
    new = np.maximum(old + (g - pull) / mu, FLOOR)
    return new / new.sum(axis=1, keepdims=True), mu, g


class _Windowed(OnlineLearner):
    def effort(self, length: int, options: Options) -> float:
        """About how long it takes: a backward pass over the window at each observation."""
        return (length - options["window"]) * (3.0 + 0.1 * options["window"])


LEARNER = _Windowed(
    key="windowed",
    label="windowed",
    about="The paper’s online algorithm: at each new observation it looks back over the last Δ.",
    estimator=WindowedRiemannianHMM,
    options=(
        Option(
            "transition_update",
            "update",
            "convex",
            "Update of A",
            "As printed in the paper, entries of A can leave [0, 1] and are clipped; the convex "
            "update moves each row towards what the window shows.",
            choices={"paper": "As printed", "convex": "Convex"},
            phrases={"paper": "paper's update", "convex": "convex update"},
        ),
        Option(
            "window",
            "delta",
            200,
            "Δ: observations in the window",
            "How many observations the learner starts from and looks back over at each step.",
            phrases={"": "Δ"},
            at_least=2,
        ),
    ),
    variants={
        "paper": {"transition_update": "paper"},
        "convex": {"transition_update": "convex"},
    },
    table=(
        *({"transition_update": "paper", "window": window} for window in PAPERS_WINDOWS),
        {"window": 60},
        {"window": 200},
    ),
)
