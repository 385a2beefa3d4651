"""How many states? Models of every size from a range, and the one that a criterion prefers.

The likelihood always grows with the number of states N, and EM may be lost at any of them. So each
model begins with the best of three: a search of its own, a split of the model with one state less,
and a merge of the model with one more. A criterion then weighs the likelihood against N.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from rhmm.emissions import RIEMANNIAN, check_emission
from rhmm.learners.baum_welch import nbytes_held
from rhmm.learners.em import RiemannianHMM
from rhmm.learners.em_sizes import CRITERIA, criterion_values, fit_sizes
from rhmm.learners.tangent_start import Emission
from rhmm.manifolds import Manifold, check_manifold
from rhmm.parameters import floor_of_sigma
from rhmm.validation import (
    as_generator,
    check_callback,
    check_choice,
    check_integer,
    check_lengths,
)

_STARTS = 16
"""Starts that compete for each number of states where the emission is not the paper's."""


@dataclass(frozen=True, eq=False)
class Selection:
    """A model of each number of states, and what the criterion says of them."""

    criterion: str
    models: tuple[RiemannianHMM, ...]
    """By their number of states, fewest first."""
    log_likelihood: np.ndarray
    """log p(X) of each, shape (K,)."""
    values: np.ndarray
    """The criterion of each, shape (K,): less is better."""

    @property
    def n_components(self) -> np.ndarray:
        """The numbers of states that were tried, shape (K,)."""
        return np.array([model.n_components for model in self.models])

    @property
    def best(self) -> RiemannianHMM:
        """The model that the criterion prefers."""
        return self.models[int(np.argmin(self.values))]

    def explanation(self) -> str:
        """Why this number of states, in a sentence or two."""
        chosen = int(np.argmin(self.values))
        n = self.n_components
        name = self.criterion.upper()
        text = f"{name} is least with {_states(n[chosen])}"
        others = np.delete(np.arange(len(n)), chosen)
        if not len(others):
            return text + ", the only number that was tried."
        second = others[np.argmin(self.values[others])]
        text += f", and larger by {self.values[second] - self.values[chosen]:.1f} with {n[second]}."
        if chosen in (0, len(n) - 1):
            end = "fewest" if chosen == 0 else "most"
            text += f" That is the {end} that were tried: the best may lie beyond."
        return text


def select_n_components(
    manifold: Manifold,
    X,
    n_components: Iterable[int] = range(1, 9),
    *,
    criterion: str = "bic",
    emission: str = RIEMANNIAN,
    lengths=None,
    min_sigma: float | None = None,
    random_state=None,
    callback: Callable[[int, int], None] | None = None,
) -> Selection:
    """Fit a model of each number of states to X (T, *point_shape), and choose by the criterion.

    ``"bic"`` finds the number of states behind data that have one; ``"aic"`` prefers what predicts
    best, which is often more. `emission` is that of `RiemannianHMM`. `callback` is called with how
    many models are done, and of how many; before that with 0 after each number of states, up to the
    most, for which a start was searched.
    """
    check_manifold(manifold)
    check_choice("criterion", criterion, CRITERIA)
    check_emission(emission)
    check_callback(callback)
    sizes = _sizes(n_components)
    X, observed = manifold.observations("X", X)
    lengths = check_lengths(lengths, len(X))
    if observed.sum() < sizes[-1]:
        raise ValueError(
            f"X must hold at least {sizes[-1]} observations, as many as states are tried"
        )
    rng = as_generator("random_state", random_state)
    manifold.check_min_sigma(min_sigma)
    floor = floor_of_sigma(manifold, X[observed], min_sigma)
    found = fit_sizes(
        manifold, X, observed, lengths, sizes, rng,
        emission=Emission(emission), tried=_STARTS, min_sigma=floor, callback=callback,
    )  # fmt: skip
    models = []
    for n, (monitor, reached) in found.items():
        model = RiemannianHMM(manifold, n, emission=emission, min_sigma=floor)
        model._learn(reached.parameters, reached.law)
        model.monitor_, model.peak_nbytes_ = monitor, nbytes_held(X.shape, n)
        models.append(model)
    log_likelihood = np.array([monitor.log_likelihood[-1] for monitor, _ in found.values()])
    free = np.array([model.n_parameters for model in models])
    values = criterion_values(criterion, log_likelihood, free, int(observed.sum()))
    return Selection(criterion, tuple(models), log_likelihood, values)


def _sizes(n_components: Iterable[int]) -> list[int]:
    try:
        sizes = sorted({check_integer("n_components", n, at_least=1) for n in n_components})
    except (TypeError, ValueError):
        sizes = []
    if not sizes:
        raise ValueError(
            f"n_components must be whole numbers from 1 on, as range(1, 9), not {n_components!r}"
        )
    return sizes


def _states(n: int) -> str:
    return "1 state" if n == 1 else f"{n} states"
