"""One run of a sweep: sample a chain, learn it in one way, compare with the truth."""

import time
from dataclasses import replace
from threading import Lock
from typing import NamedTuple

import numpy as np

import rhmm
from rhmm.hmm import RiemannianHMM
from rhmm.kmeans import RiemannianKMeans
from rhmm.online import OnlineRiemannianHMM
from rhmm.scoring import evaluate
from rhmm.sweeping.configuration import Configuration

_warm: set[tuple] = set()
_warming = Lock()


class Task(NamedTuple):
    configuration: Configuration
    seed: int
    """Of the chain and of the learner."""


class Run(NamedTuple):
    """What one configuration made of the chain of one seed.

    The estimates have their states in the true order. They are tuples, so that runs can be
    compared and looked up; ``np.array(run.means)`` is an array again.
    """

    configuration: Configuration
    seed: int
    accuracy: float
    """Share of hidden states found: by the smoother under the learned parameters, by K-means
    with its own labels."""
    ceiling: float
    """The same for the true parameters, on the same data."""
    seconds: float
    """Of learning, without sampling, compiling and scoring."""
    transition_error: float
    """‖A − Â‖_F."""
    mean_error: float
    """d(c_i, ĉ_i), averaged over the states."""
    sigma_error: float
    """|σ̂_i − σ_i|/σ_i, averaged over the states."""
    log_likelihood: float
    """log p(X) for each observation under the learned parameters."""
    nbytes: int
    """The most that the method held at once: all data, or what an online learner needs to go on; 0
    for the ceiling."""
    transmat: tuple
    means: tuple
    sigmas: tuple

    @property
    def task(self) -> Task:
        """What it is the result of."""
        return Task(self.configuration, self.seed)

    @property
    def diagonal(self) -> tuple[float, ...]:
        """Â_11, Â_22, …"""
        return tuple(row[i] for i, row in enumerate(self.transmat))


def run_once(truth: RiemannianHMM, configuration: Configuration, seed: int) -> Run:
    """The run of `configuration` on the chain that `seed` gives; the same wherever it runs."""
    _warm_up(truth, configuration)
    X, states = truth.sample(configuration.length, random_state=seed)
    begin = time.perf_counter()
    learned = _learn(truth, configuration, X, seed)
    seconds = time.perf_counter() - begin
    result = evaluate(learned.model, truth, X, states, labels=learned.labels)
    return Run(
        configuration,
        seed,
        result.accuracy,
        result.ceiling,
        seconds,
        result.transition_error,
        float(result.mean_errors.mean()),
        float(np.abs(result.sigma_errors).mean()),
        float(result.log_likelihood),
        learned.nbytes,
        *(nested(array.tolist()) for array in result.model.parameters_[1:]),
    )


def run_for(version: str, truth: RiemannianHMM, task: Task) -> Run:
    """`run_once` for a sweep of rhmm `version`, which another version must not serve."""
    if version != rhmm.__version__:
        raise RuntimeError(f"the sweep is of rhmm {version}, its worker has {rhmm.__version__}")
    return run_once(truth, *task)


def nested(values):
    """Tuples all the way down, for lists all the way down."""
    return tuple(map(nested, values)) if isinstance(values, list) else values


def em_nbytes(X: np.ndarray, n_states: int) -> int:
    """What EM holds at once: the observations, and γ and d² of each of them in every state."""
    return X.nbytes + 2 * n_states * len(X) * 8


def kmeans_nbytes(X: np.ndarray, n_states: int) -> int:
    """What K-means holds at once: the observations and their d² to every centre."""
    return X.nbytes + n_states * len(X) * 8


class _Learned(NamedTuple):
    model: RiemannianHMM
    nbytes: int
    labels: np.ndarray | None = None
    """Its own labels, if it does not decode by the smoother under its parameters."""


def _learn(truth: RiemannianHMM, configuration: Configuration, X, seed: int) -> _Learned:
    manifold, n = truth.manifold, truth.n_components
    match configuration.method:
        case "ceiling":
            return _Learned(truth, 0)
        case "em":
            model = RiemannianHMM(manifold, n, random_state=seed).fit(X)
            return _Learned(model, em_nbytes(X, n))
        case "kmeans":
            clusters = RiemannianKMeans(manifold, n, random_state=seed).fit(X)
            parameters = clusters.to_parameters()
            model = RiemannianHMM.from_parameters(manifold, *parameters)
            return _Learned(model, kmeans_nbytes(X, n), clusters.labels_)
        case algorithm:
            names = ("window", "transition_update", "memory", "init")
            options = {name: getattr(configuration, name) for name in names}
            learner = OnlineRiemannianHMM(
                manifold,
                n,
                algorithm=algorithm,
                **{name: value for name, value in options.items() if value is not None},
                random_state=seed,
            ).partial_fit(X)
            return _Learned(learner.to_hmm(), learner.peak_nbytes_)


def _warm_up(truth: RiemannianHMM, configuration: Configuration) -> None:
    """Compile or load what `configuration` needs, once in a process: times are of the method.

    One thread at a time: the others wait for the same.
    """
    n = truth.n_components
    window = None if configuration.window is None else min(configuration.window, 100 * n)
    short = replace(configuration, length=500 * n, window=window)
    with _warming:
        if (truth.manifold, n, short) not in _warm:
            X, states = truth.sample(short.length, random_state=0)
            evaluate(_learn(truth, short, X, 0).model, truth, X, states)
            _warm.add((truth.manifold, n, short))
