"""How good is a learned model? Everything is measured after matching labels, beside the ceiling."""

from dataclasses import dataclass, fields
from typing import Generic, TypeVar

import numpy as np
from scipy.optimize import linear_sum_assignment

from rhmm.model import HiddenMarkovModel, check_model
from rhmm.validation import check_integer, check_number, check_unmasked

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, eq=False)
class Measures(Generic[T]):
    """The measures of a method on data whose truth is known: numbers, or bands over many runs."""

    accuracy: T
    """Share of hidden states found: by the smoother under the learned parameters, by K-means with
    its own labels."""
    ceiling: T
    """The same under the true parameters: no method can do better on average."""
    transition_error: T
    """‖A − Â‖_F."""
    mean_error: T
    """d(c_i, ĉ_i), averaged over the states."""
    sigma_error: T
    """|σ̂_i − σ_i|/σ_i, averaged over the states."""
    log_likelihood: T
    """log p(X) under the learned parameters, per observation that is not missing."""
    seconds: T | None = None
    """Of learning, without sampling, compiling and scoring; None if nothing was timed."""
    nbytes: T | None = None
    """The most that the method held at once: all data, or what an online learner needs to go on; 0
    for the ceiling, None if unknown."""


MEASURES = tuple(field.name for field in fields(Measures))
"""The names of all measures."""

_OF_TRUTH = ("ceiling", "transition_error", "mean_error", "sigma_error")
"""Those that compare with a true model."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation(Measures[float]):
    """A learned model against the truth, its states matched to the true ones."""

    mean_errors: np.ndarray
    """d(c_i, ĉ_i) of each state, shape (N,)."""
    sigma_errors: np.ndarray
    """(σ̂_i − σ_i)/σ_i of each state, shape (N,)."""
    model: HiddenMarkovModel
    """The learned model with its states in the true order."""
    order: np.ndarray
    """``order[i]`` is the learned state that is matched to the true state i; shape (N,)."""
    labels: np.ndarray
    """What each observation was taken for, in the names of the true states; −1 if missing; (T,)."""
    names: np.ndarray
    """What each state of `model` is called there: i for state i, unless there are more labels than
    states; shape (N,)."""


def match_states(true_states, predicted, n_states: int) -> np.ndarray:
    """The relabelling that agrees most: ``order[i]`` is the predicted label of true state i."""
    n_states = check_integer("n_states", n_states, at_least=1)
    agreement = np.zeros((n_states, n_states), dtype=np.int64)
    true_states = _check_labels("true_states", true_states, 0, n_states)
    predicted = _check_labels("predicted", predicted, -1, n_states, true_states.shape)
    labelled = predicted >= 0  # K-means labels a missing observation −1
    np.add.at(agreement, (true_states[labelled], predicted[labelled]), 1)
    return linear_sum_assignment(agreement, maximize=True)[1]


def accuracy(true_states, predicted, n_states: int) -> float:
    """Share of agreement after `match_states`."""
    order = match_states(true_states, predicted, n_states)
    return float(np.mean(order[np.asarray(true_states)] == np.asarray(predicted)))


def evaluate(
    model: HiddenMarkovModel,
    truth: HiddenMarkovModel,
    X,
    states,
    *,
    lengths=None,
    labels=None,
    ceiling: float | None = None,
    seconds: float | None = None,
    nbytes: int | None = None,
) -> Evaluation:
    """Compare a learned model with the truth that made the observations and hidden states.

    `X` has shape (T, *point_shape), `states` (T,). `labels` (T,) are those of a method that does
    not decode by the smoother under its parameters, as K-means: accuracy and the matching of the
    states are then theirs. `ceiling` is that of an earlier evaluation on the same data, which need
    not be computed again. `seconds` and `nbytes` are what learning took, if that is known.
    """
    if not isinstance(truth, HiddenMarkovModel):
        raise ValueError(f"truth must be a RiemannianHMM, not {truth!r}")
    n = len(truth.startprob_)
    check_model("model", model, truth.manifold, n)
    X, observed = truth.manifold.observations("X", X)
    states = _check_labels("states", states, 0, n, (len(X),))
    if labels is None:
        predicted = model.predict(X, lengths=lengths)
    else:
        predicted = _check_labels("labels", labels, -1, n, (len(X),))
    if ceiling is None:
        ceiling = accuracy(states, truth.predict(X, lengths=lengths), n)
    ceiling = check_number("ceiling", ceiling, at_least=0.0)
    order = match_states(states, predicted, n)
    matched = model.permuted(order)
    named = np.where(predicted < 0, -1, np.argsort(order)[predicted])
    mean_errors = truth.manifold.dist(truth.means_, matched.means_).reshape(n)
    sigma_errors = matched.sigmas_ / truth.sigmas_ - 1.0
    return Evaluation(
        accuracy=float(np.mean(named == states)),
        ceiling=ceiling,
        transition_error=float(np.linalg.norm(matched.transmat_ - truth.transmat_)),
        mean_error=float(mean_errors.mean()),
        sigma_error=float(np.abs(sigma_errors).mean()),
        log_likelihood=float(model.score(X, lengths=lengths) / observed.sum()),
        seconds=seconds,
        nbytes=nbytes,
        mean_errors=mean_errors,
        sigma_errors=sigma_errors,
        model=matched,
        order=order,
        labels=named,
        names=np.arange(n),
    )


def evaluate_without_truth(
    model: HiddenMarkovModel,
    X,
    states=None,
    *,
    lengths=None,
    labels=None,
    seconds: float | None = None,
    nbytes: int | None = None,
) -> Evaluation:
    """Measure a model whose truth is not known: all that would need it is NaN, or empty.

    `states` (T,) are labels of the observations from 0, or −1 where none is known; there may be
    more or fewer of them than states of the model. Each label is matched with one state, and the
    accuracy is that of the labelled observations; without `states` it is NaN, too, and the states
    keep their names. The other arguments are those of `evaluate`.
    """
    if not isinstance(model, HiddenMarkovModel):
        raise ValueError(f"model must be a RiemannianHMM, not {model!r}")
    n = len(model.startprob_)
    X, observed = model.manifold.observations("X", X)
    if labels is None:
        predicted = model.predict(X, lengths=lengths)
    else:
        predicted = _check_labels("labels", labels, -1, n, (len(X),))
    order, share = np.arange(n), np.nan
    if states is not None:
        states = _check_labels("states", states, -1, max(n, len(X)), (len(X),))
        known = states >= 0
        most = max(n, int(states.max(initial=0)) + 1)
        order = match_states(states[known], predicted[known], most)
    named = np.where(predicted < 0, -1, np.argsort(order)[predicted])
    if states is not None and known.any():
        share = float(np.mean(named[known] == states[known]))
    names = np.flatnonzero(order < n)  # a label more than there are states goes to none
    unknown = dict.fromkeys(_OF_TRUTH, np.nan)
    return Evaluation(
        accuracy=share,
        **unknown,
        log_likelihood=float(model.score(X, lengths=lengths) / observed.sum()),
        seconds=seconds,
        nbytes=nbytes,
        mean_errors=np.empty(0),
        sigma_errors=np.empty(0),
        model=model.permuted(order[names]),
        order=order[names],
        labels=named,
        names=names,
    )


def _check_labels(name: str, labels, least: int, n_states: int, shape=None) -> np.ndarray:
    check_unmasked(name, labels)
    try:
        labels = np.asarray(labels)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of whole numbers, not {labels!r}") from None
    if shape is not None and labels.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, not {labels.shape}")
    good = labels.dtype.kind in "iu" and ((labels >= least) & (labels < n_states)).all()
    if not good:
        missing = " (-1 is missing)" if least < 0 else ""
        raise ValueError(f"{name} must be whole numbers from {least} to {n_states - 1}{missing}")
    return labels


def path_errors(transmats, means, truth: HiddenMarkovModel) -> tuple[np.ndarray, np.ndarray]:
    """‖A − Â‖_F and the average d(c_i, ĉ_i) of each of R estimates, states in the true order.

    `transmats` has shape (R, N, N), `means` (R, N, *point_shape): a learner's trace, for example.
    """
    transmats, means = np.asarray(transmats), np.asarray(means)
    transition = np.linalg.norm(transmats - truth.transmat_, axis=(1, 2))
    targets = np.broadcast_to(truth.means_, means.shape)
    shape = (-1, *truth.manifold.point_shape)
    distances = truth.manifold.dist(targets.reshape(shape), means.reshape(shape))
    return transition, distances.reshape(len(means), -1).mean(axis=1)
