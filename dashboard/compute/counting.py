"""How many states a recording has: what BIC, prediction and one pass over it say."""

from typing import NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError

from dashboard.compute.data_workers import Watch
from dashboard.model.analysis import MOST_STATES, PREDICTION, ROUND, SEED, streaming_window
from rhmm import RiemannianHMM, StreamingRiemannianHMM
from rhmm.recording import Recording
from rhmm.selection import Selection, select_n_components

CRITERIA = {PREDICTION: "predictive"}
"""The engine's names of what a visitor can let choose; BIC otherwise."""


class Curve(NamedTuple):
    """What is known of every number of states that was tried."""

    n_states: np.ndarray
    """Shape (K,)."""
    values: dict[str, np.ndarray]
    """BIC ("bic") and −2 log p of held-out observations ("predictive") if that was asked for, each
    of shape (K,): less is better."""
    explanations: tuple[str, ...]
    """Why each of them prefers its number."""
    online: int | None
    """The number that a streaming learner has found in one pass; None if it could not."""


class Counted(NamedTuple):
    """Models of every size, and what is said of them."""

    curve: Curve
    best: RiemannianHMM
    """The one that the visitor's criterion prefers."""


def most_states(n_observed: int, chooser: str) -> int:
    """How many states are tried: a third of the observations may be held out."""
    least = n_observed // 2 if chooser == PREDICTION else n_observed
    return max(min(MOST_STATES, least), 1)


def counted(recording: Recording, chooser: str, emission: str, watch: Watch) -> Counted:
    """Try every number of states; `chooser` is `BIC` or `PREDICTION`."""
    most = most_states(int(recording.observed.sum()), chooser)
    name = "Prediction" if chooser == PREDICTION else "BIC"
    told = 0

    def show(done: int, total: int) -> None:
        """Each of several rounds tells of every size twice: a start was found, a model is done."""
        nonlocal told
        rounds = total // most
        before, step = divmod(told, 2 * most)
        told, step = told + 1, step + 1
        if step < most:
            doing = f"{name}, searching a model of {step + 1} states"
        else:
            doing = f"{name}, {done} of {total} models"
        # larger models take longer: the share of the work grows as the square of their size
        share = 0.8 * (min(step, most) / most) ** 2 + 0.2 * max(step - most, 0) / most
        watch(doing, 0.95 * (before + share) / rounds)

    watch(f"{name}, searching a model of 1 state", 0.0)
    found = select_n_components(
        recording.manifold,
        recording.points,
        range(1, most + 1),
        criterion=CRITERIA.get(chooser, "bic"),
        emission=emission,
        lengths=recording.lengths,
        random_state=SEED,
        callback=show,
    )
    watch("Counting states in one pass", 0.95)
    online = _online(recording) if emission == ROUND else None
    return Counted(_curve(found, online), found.best)


def _curve(found: Selection, online: int | None) -> Curve:
    known = [name for name in ("bic", "predictive") if name in found.curves]
    values = {name: found.curves[name] for name in known}
    return Curve(
        found.n_components, values, tuple(found.by(name).explanation() for name in known), online
    )


def _online(recording: Recording) -> int | None:
    learner = StreamingRiemannianHMM(
        recording.manifold, "auto", max_components=MOST_STATES,
        window=streaming_window(int(recording.observed.sum()), 1), random_state=SEED,
    )  # fmt: skip
    try:
        return learner.fit(recording.points, lengths=recording.lengths).n_components_
    except NotFittedError:  # too few observations that differ
        return None
