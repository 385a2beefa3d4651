"""Small recordings, and what is learned from them without waiting for a search."""

from functools import cache

import numpy as np

from dashboard.compute import labels
from dashboard.compute.counting import Curve
from dashboard.compute.fits import FitRequest, Fitted
from dashboard.compute.recording_map import drawn
from dashboard.model.analysis import EM, HeldRecording
from rhmm import SPD, Hyperbolic, RiemannianHMM
from rhmm.paper import paper_model
from rhmm.recording import Recording


def of_the_disk(length: int = 300, labelled: bool = True) -> HeldRecording:
    """The paper's chain in two sequences, with one missing observation and one unknown label."""
    points, states = paper_model().sample(length, random_state=0)
    points[7] = np.nan
    states[3] = -1
    recording = Recording(
        Hyperbolic(2), points, np.array([100, length - 100]), ("a", "b"),
        labels=states if labelled else None,
        label_names=("rest", "walk", "run") if labelled else (),
        times=np.arange(length) / 10,
    )  # fmt: skip
    return HeldRecording(("disk", length, labelled), recording)


def matrix_model(size: int = 3) -> RiemannianHMM:
    """Two states of matrices, one loud and one quiet."""
    means = np.stack([np.eye(size), 4.0 * np.eye(size) + 1.0])
    return RiemannianHMM.from_parameters(
        SPD(size), [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], means, [0.3, 0.4]
    )


def of_matrices(length: int = 200, size: int = 3) -> HeldRecording:
    """Matrices without labels, in one sequence."""
    points, _ = matrix_model(size).sample(length, random_state=0)
    recording = Recording(SPD(size), points, np.array([length]), ("1",))
    return HeldRecording(("matrices", length, size), recording)


def fitted(held: HeldRecording, model: RiemannianHMM, curve: Curve | None = None) -> Fitted:
    """What the page has when this model was learned."""
    recording = held.recording
    gamma = model.predict_proba(recording.points, lengths=recording.lengths)
    return Fitted(
        FitRequest(held, model.n_components, EM),
        model,
        gamma,
        model.score(recording.points, lengths=recording.lengths) / len(gamma),
        "",
        drawn(recording, model),
        labels.agreement(recording, gamma.argmax(axis=1), model.n_components),
        None if recording.labels is None else 0.75,
        curve,
    )


@cache
def disk_fit() -> Fitted:
    return fitted(of_the_disk(), paper_model())


@cache
def matrix_fit() -> Fitted:
    return fitted(of_matrices(), matrix_model())
