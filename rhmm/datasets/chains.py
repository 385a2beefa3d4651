"""Simulated recordings, one for each kind of space: chains of three states whose truth is known."""

from collections.abc import Callable

import numpy as np

from rhmm.learners.em import RiemannianHMM
from rhmm.manifolds import SPD, Euclidean, Hyperbolic, Manifold
from rhmm.paper import paper_model
from rhmm.recording import Recording
from rhmm.validation import as_generator, check_choice, check_integer

_TRANSMAT = np.full((3, 3), 0.05) + 0.85 * np.eye(3)


def make_chain(space: str = "disk", length: int = 2_000, random_state=0) -> Recording:
    """A simulated chain of three states as a recording, its true states as labels.

    `space` is one of "disk" (the paper's chain), "ball" (hyperbolic 3-space), "spd2", "spd3",
    "spd8" (positive definite matrices with so many rows) and "plane".
    """
    check_choice("space", space, tuple(_MODELS))
    check_integer("length", length, at_least=1)
    model = _MODELS[space]()
    points, states = model.sample(length, random_state=as_generator("random_state", random_state))
    return Recording(
        model.manifold, points, np.array([length]), ("1",),
        labels=states, label_names=tuple(f"true {i + 1}" for i in range(model.n_components)),
    )  # fmt: skip


def _model(manifold: Manifold, means, sigmas) -> RiemannianHMM:
    return RiemannianHMM.from_parameters(manifold, np.full(3, 1 / 3), _TRANSMAT, means, sigmas)


def _ball() -> RiemannianHMM:
    means = [[0.0, 0.0, 0.1], [0.5, 0.3, -0.2], [-0.3, 0.5, 0.3]]
    return _model(Hyperbolic(3), means, [0.3, 0.4, 0.5])


def _plane() -> RiemannianHMM:
    return _model(Euclidean(2), [[0.0, 0.0], [2.0, 1.0], [-1.0, 2.5]], [0.6, 0.5, 0.8])


def _matrices(m: int, sigma: float) -> RiemannianHMM:
    """A quiet state, a loud one, and one whose channels go together."""
    together = 0.6 * np.eye(m) + 0.4
    return _model(SPD(m), [np.eye(m), 2.5 * np.eye(m), together], [sigma, 1.2 * sigma, sigma])


_MODELS: dict[str, Callable[[], RiemannianHMM]] = {
    "disk": paper_model,
    "ball": _ball,
    "spd2": lambda: _matrices(2, 0.3),
    "spd3": lambda: _matrices(3, 0.3),
    "spd8": lambda: _matrices(8, 0.2),
    "plane": _plane,
}
