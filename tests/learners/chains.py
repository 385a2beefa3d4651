"""Learners and chains that tests of online learners share."""

import numpy as np

from rhmm import (
    SPD,
    AutoMemoryRiemannianHMM,
    Euclidean,
    Hyperbolic,
    RiemannianHMM,
    StreamingRiemannianHMM,
    WindowedRiemannianHMM,
)
from rhmm.learners.online import OnlineHMM
from rhmm.paper import TRANSMAT, paper_model
from tests.brute_force import in_a_row

MANIFOLDS = [Euclidean(2), Hyperbolic(2), Hyperbolic(3), SPD(2), SPD(3)]

LEARNERS = {
    "growing": (StreamingRiemannianHMM, {}),
    "growing, short start": (StreamingRiemannianHMM, {"window": 60}),
    "fixed": (StreamingRiemannianHMM, {"memory": "fixed"}),
    "fixed, short start": (StreamingRiemannianHMM, {"memory": "fixed", "window": 50, "lag": 3}),
    "cold": (StreamingRiemannianHMM, {"init": "cold"}),
    "auto": (AutoMemoryRiemannianHMM, {}),
    "windowed convex": (WindowedRiemannianHMM, {"window": 40}),
    "windowed paper": (WindowedRiemannianHMM, {"window": 40, "transition_update": "paper"}),
}
"""The class of each learner, and its options."""

SHAPED = {
    "tied": (StreamingRiemannianHMM, {"emission": "tied"}),
    "auto, student-full": (AutoMemoryRiemannianHMM, {"emission": "student-full"}),
}
"""Those whose emission has a shape; the disk is enough to hold them to what all promise."""
ON_THE_DISK = {**LEARNERS, **SHAPED}

STREAMING = [name for name in LEARNERS if not name.startswith("windowed")]

ALONE = ["growing", "fixed", "windowed convex", "windowed paper"]
"""Learners without a bank that start from many observations."""


def learner(manifold, name: str, n_components: int = 3, **options) -> OnlineHMM:
    """The learner of that name, with a seed and a trace unless `options` say otherwise."""
    kind, own = ON_THE_DISK[name]
    return kind(manifold, n_components, **{"random_state": 7, "trace_every": 5, **own, **options})


def chain_on(manifold, distances=(-2.0, 0.0, 2.0), sigmas=(0.4, 0.3, 0.5)) -> RiemannianHMM:
    """Three states on one geodesic that overlap a little, with the paper's transitions."""
    means = in_a_row(manifold, distances)
    return RiemannianHMM.from_parameters(manifold, np.full(3, 1 / 3), TRANSMAT, means, sigmas)


def sensors(manifold) -> RiemannianHMM:
    """Three states of three sensors, which look different in every other order of the sensors."""
    means = np.array([np.diag([5.0, 1.0, 0.3]), np.eye(3), np.diag([1.0, 4.0, 2.0])])
    means[1, 0, 1] = means[1, 1, 0] = 0.7
    return RiemannianHMM.from_parameters(
        manifold, np.full(3, 1 / 3), TRANSMAT, means, [0.3, 0.4, 0.3]
    )


def sticky_chain(stay: float) -> RiemannianHMM:
    """The paper's means and σ in a chain that stays where it is for long."""
    truth = paper_model()
    transmat = np.full((3, 3), 0.5 * (1.0 - stay))
    np.fill_diagonal(transmat, stay)
    return RiemannianHMM.from_parameters(
        truth.manifold, truth.startprob_, transmat, truth.means_, truth.sigmas_
    )


def stream(manifold, size: int = 700, seed: int = 0) -> np.ndarray:
    return chain_on(manifold).sample(size, random_state=seed)[0]


def with_holes(X, seed: int = 0) -> np.ndarray:
    """A fifth of X missing, the first three and a long run among them."""
    X = X.copy()
    X[np.random.default_rng(seed).random(len(X)) < 0.2] = np.nan
    X[:3] = np.nan
    X[300:380] = np.nan
    return X


def content(learner: OnlineHMM, folder) -> dict[str, bytes]:
    """Every bit that the learner holds."""
    learner.save(folder / "content.npz")
    with np.load(folder / "content.npz") as file:
        return {name: file[name].tobytes() for name in file.files}


def is_sound(learner: OnlineHMM) -> bool:
    """Finite parameters, positive rows of A that sum to one, means that are points."""
    A, means, sigmas = learner.transmat_, learner.means_, learner.sigmas_
    return bool(
        (A > 0).all()
        and np.allclose(A.sum(axis=1), 1.0, rtol=0, atol=1e-12)
        and np.isfinite(means).all()
        and learner.manifold.belongs(means).all()
        and np.isfinite(sigmas).all()
        and (sigmas > 0).all()
    )
