"""What the lesson shows of the engine: tables of the Gaussian, and the paper's chain learned in a
few ways. Each is computed once for all visitors.
"""

from typing import Any, NamedTuple

import numpy as np

from dashboard.compute.shared_cache import SharedCache
from dashboard.compute.steps import Step, replay
from dashboard.model.experiment import Experiment
from rhmm import Hyperbolic
from rhmm.learners import kmeans, streaming, windowed
from rhmm.learners.learner import Learner
from rhmm.trial import run_trial

PAPERS = Experiment()
"""The paper's chain, with its first seed."""

SHORT, LONG = 40, 200
"""The two Δ that the lesson compares."""

_SAMPLES = 300
_WALK = 600
_CLOUD = 1_500
_STRIDE = 20

_results = SharedCache(8)


class GaussianTables(NamedTuple):
    """The Gaussian on the disk, a row for each of S values of σ."""

    sigmas: np.ndarray
    """Shape (S,)."""
    z: np.ndarray
    """Z(σ), shape (S,)."""
    delta: np.ndarray
    """δ(σ), shape (S,)."""
    radii: np.ndarray
    """Distances from the mean, shape (R,)."""
    density: np.ndarray
    """p along a ray, divided by its largest value, shape (S, R)."""
    law: np.ndarray
    """The density of the distance from the mean, shape (S, R)."""
    flat: np.ndarray
    """The same in the plane, shape (S, R)."""
    samples: np.ndarray
    """Shape (S, M, 2)."""


class Walk(NamedTuple):
    """The beginning of the paper's chain."""

    points: np.ndarray
    """Shape (T, 2)."""
    states: np.ndarray
    """Shape (T,)."""


class Learned(NamedTuple):
    """One learner on the paper's chain."""

    key: str
    window: int
    accuracy: float
    steps: np.ndarray
    """Shape (R,)."""
    diagonal: np.ndarray
    """A_ii along the way, shape (R, N)."""


class Exit(NamedTuple):
    """The first step that asks for an entry of A outside [0, 1]."""

    step: Step
    row: int
    column: int

    @property
    def k(self) -> int:
        """The observation at which it happens."""
        return self.step.explanation.step

    @property
    def raw(self) -> float:
        """What the step asks for."""
        return self._entry(self.step.raw)

    @property
    def before(self) -> float:
        """The entry before the step."""
        return self._entry(self.step.explanation.before.transmat)

    @property
    def mu(self) -> float:
        """μ of the entry."""
        return self._entry(self.step.explanation.mu)

    @property
    def g(self) -> float:
        """g of the entry."""
        return self._entry(self.step.explanation.g)

    def _entry(self, table: np.ndarray | None) -> float:
        if table is None:
            raise ValueError("only the paper's update of A has μ and g")
        return float(table[self.row, self.column])


class Windows(NamedTuple):
    """The paper's chain learned with a short and a long window, and with other updates of A."""

    runs: tuple[Learned, ...]
    """The paper's algorithm with the short Δ first."""
    exit: Exit
    states: np.ndarray
    """The hidden states, shape (T,)."""


class Mistake(NamedTuple):
    """An observation that K-means labels wrongly and the chain labels right."""

    t: int
    """From 1."""
    point: np.ndarray
    """Shape (2,)."""
    state: int
    label: int
    """Of K-means."""
    centres: np.ndarray
    """Of K-means, in the order of the true means, shape (N, 2)."""
    distances: np.ndarray
    """From the point to them, shape (N,)."""
    density: np.ndarray
    """p_i(y_t) as shares, shape (N,)."""
    past: np.ndarray
    """P(s_t = i | the observations before), shape (N,)."""
    future: np.ndarray
    """β_t as shares, shape (N,)."""
    both: np.ndarray
    """γ_t, shape (N,)."""
    cloud: np.ndarray
    """Some of the observations, shape (M, 2)."""
    labels: np.ndarray
    """Theirs by K-means, shape (M,)."""


def gaussian_tables() -> GaussianTables:
    """The Gaussian around the middle of the disk, for σ from 0.1 to 2."""
    return _results.get("gaussian", _gaussian_tables)


def walk() -> Walk:
    """The first observations of the paper's chain, with their states."""
    points, states, _ = _results.get("paper", PAPERS.simulated.observe)
    return Walk(points[:_WALK], states[:_WALK])


def windows() -> Windows:
    """What Δ and the update of A make of the paper's chain."""
    return _results.get("windows", _windows)


def mistake() -> Mistake:
    """The observation that the chain is most certain of among those that K-means gets wrong."""
    return _results.get("mistake", _mistake)


def _gaussian_tables() -> GaussianTables:
    disk, sigmas, radii = Hyperbolic(2), np.arange(0.1, 2.01, 0.05), np.linspace(0.0, 6.0, 121)
    z = np.exp(disk.log_z(sigmas))
    density = np.exp(-(radii**2) / (2.0 * sigmas[:, None] ** 2))
    law = 2.0 * np.pi * np.sinh(radii) * density / z[:, None]
    flat = radii * density / sigmas[:, None] ** 2
    origin = np.zeros(2)
    samples = [disk.sample(origin, sigma, _SAMPLES, np.random.default_rng(0)) for sigma in sigmas]
    return GaussianTables(
        sigmas, z, disk.delta(sigmas), radii, density, law, flat, np.stack(samples)
    )


def _windows() -> Windows:
    ways: dict[str, tuple[Learner, dict[str, Any]]] = {
        "short": (windowed.LEARNER, {"transition_update": "paper", "window": SHORT}),
        "long": (windowed.LEARNER, {"transition_update": "paper", "window": LONG}),
        "convex": (windowed.LEARNER, {"transition_update": "convex", "window": SHORT}),
        "streaming": (streaming.LEARNER, {"window": SHORT}),
    }
    runs = tuple(_learned(key, *way) for key, way in ways.items())
    return Windows(runs, _first_exit(*ways["short"]), PAPERS.simulated.observe().states)


def _learned(key: str, learner: Learner, options: dict[str, Any]) -> Learned:
    points, states, _ = PAPERS.simulated.observe()
    truth = PAPERS.simulated.true_model()
    trial = run_trial(
        learner, truth, points, states, seed=PAPERS.seed, options=options, trace_every=_STRIDE
    )
    path = trial.estimator.trace_.permuted(trial.evaluation.order)
    diagonal = np.diagonal(path.transmat, axis1=1, axis2=2)
    return Learned(key, options["window"], trial.evaluation.accuracy, path.step, diagonal)


def _first_exit(learner: Learner, options: dict[str, Any]) -> Exit:
    steps = replay(PAPERS.source, learner, options, PAPERS.seed, PAPERS.n_states)
    for k in range(steps.first, steps.last + 1):
        step = steps.step(k)
        outside = np.maximum(-step.raw, step.raw - 1.0)
        if outside.max() > 0.0:
            return Exit(step, *(int(i) for i in np.unravel_index(outside.argmax(), outside.shape)))
    raise RuntimeError("no entry of A leaves [0, 1]: the lesson about Δ needs another chain")


def _mistake() -> Mistake:
    points, states, _ = PAPERS.simulated.observe()
    truth = PAPERS.simulated.true_model()
    trial = run_trial(kmeans.LEARNER, truth, points, states, seed=PAPERS.seed, options={})
    labels, centres = trial.evaluation.labels, trial.evaluation.model.means_
    alpha, gamma = truth.filter_proba(points), truth.predict_proba(points)
    density = _shares(np.exp(truth.log_density(points)))
    # the point alone says what K-means says, and only its neighbours in time put that right
    found = (labels != states) & (gamma.argmax(axis=1) == states)
    found &= density.argmax(axis=1) == labels
    found[[0, -1]] = False
    t = int(np.where(found, gamma.max(axis=1), 0.0).argmax())
    stride = -(-len(points) // _CLOUD)
    return Mistake(
        t + 1,
        points[t],
        int(states[t]),
        int(labels[t]),
        centres,
        truth.manifold.dist(np.broadcast_to(points[t], centres.shape), centres),
        density[t],
        alpha[t - 1] @ truth.transmat_,
        _shares(gamma[t] / np.maximum(alpha[t], 1e-300)),
        gamma[t],
        points[::stride],
        labels[::stride],
    )


def _shares(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum(axis=-1, keepdims=True)
