"""How many states? Models of every size from a range, and the one that a criterion prefers.

The likelihood always grows with the number of states N, and EM may be lost at any of them. So each
model begins with the best of three: a search of its own, a split of the model with one state less,
and a merge of the model with one more. A criterion then weighs the likelihood against N, or asks
how well the model predicts what it has not seen.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rhmm.emissions import RIEMANNIAN, check_emission
from rhmm.learners.baum_welch import nbytes_held
from rhmm.learners.em import RiemannianHMM
from rhmm.learners.em_sizes import PENALISED, criterion_values, fit_sizes
from rhmm.learners.held_out import PARTS, held_out_density
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

PREDICTIVE = "predictive"
CRITERIA = (*PENALISED, PREDICTIVE)
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
    curves: Mapping[str, np.ndarray]
    """All criteria that are known, each of shape (K,): less is better."""

    @property
    def values(self) -> np.ndarray:
        """The criterion of each model, shape (K,): less is better."""
        return self.curves[self.criterion]

    def by(self, criterion: str) -> "Selection":
        """The same models, chosen by another criterion."""
        check_choice("criterion", criterion, tuple(self.curves))
        return replace(self, criterion=criterion)

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
        is_predictive = self.criterion == PREDICTIVE
        what = (
            "Held-out observations are predicted best"
            if is_predictive
            else f"{self._name} is least"
        )
        text = f"{what} with {_states(n[chosen])}"
        others = np.delete(np.arange(len(n)), chosen)
        if not len(others):
            return text + ", the only number that was tried."
        second = others[np.argmin(self.values[others])]
        worse = f"{self._name} is larger by" if is_predictive else "larger by"
        text += f", and {worse} {self.values[second] - self.values[chosen]:.1f} with {n[second]}."
        if chosen in (0, len(n) - 1):
            end = "fewest" if chosen == 0 else "most"
            text += f" That is the {end} that were tried: the best may lie beyond."
        return text

    @property
    def _name(self) -> str:
        return "−2 log p" if self.criterion == PREDICTIVE else self.criterion.upper()


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
    best, which is often more. Both come at once. ``"predictive"`` holds observations out, predicts
    them from all others and takes −2 times their log density, see `rhmm.learners.held_out`; it is
    four times the work. `emission` is that of `RiemannianHMM`. `callback` is called with how many
    models are done, and of how many; before that, in every search of models, with as many as before
    after each number of states, up to the most, for which a start was found.
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
    rounds, before = (1 + PARTS if criterion == PREDICTIVE else 1), 0

    def told(done: int, _: int) -> None:
        nonlocal before
        if callback is not None:
            callback(before + done, rounds * len(sizes))
        before += len(sizes) * (done == len(sizes))  # the next search begins

    data = (manifold, X, observed, lengths, sizes, rng)
    how: dict[str, Any] = {
        "emission": Emission(emission), "tried": _STARTS, "min_sigma": floor, "callback": told,
    }  # fmt: skip
    found = fit_sizes(*data, **how)
    models = []
    for n, (monitor, reached) in found.items():
        model = RiemannianHMM(manifold, n, emission=emission, min_sigma=floor)
        model._learn(reached.parameters, reached.law)
        model.monitor_, model.peak_nbytes_ = monitor, nbytes_held(X.shape, n)
        models.append(model)
    log_likelihood = np.array([monitor.log_likelihood[-1] for monitor, _ in found.values()])
    free = np.array([model.n_parameters for model in models])
    curves = {
        name: criterion_values(name, log_likelihood, free, int(observed.sum()))
        for name in PENALISED
    }
    if criterion == PREDICTIVE:
        curves[PREDICTIVE] = -2.0 * held_out_density(*data, **how)
    return Selection(criterion, tuple(models), log_likelihood, curves)


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
