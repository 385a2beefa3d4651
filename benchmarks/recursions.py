"""Smoother and Viterbi at T = 10⁶, beside hmmlearn: as users call them, and kernel by kernel."""

import numpy as np
from hmmlearn import _hmmc
from hmmlearn.utils import normalize

from benchmarks.peers import gaussian_hmm
from benchmarks.timing import Comparison, Race, seconds
from rhmm import Euclidean, RiemannianHMM, inference
from rhmm.paper import STARTPROB, TRANSMAT

_T = 1_000_000


def _chain() -> tuple[RiemannianHMM, np.ndarray]:
    """The paper's hidden chain, seen through three overlapping Gaussians of the plane."""
    means = [[0.0, 0.0], [2.0, 0.5], [0.5, 2.0]]
    model = RiemannianHMM.from_parameters(
        Euclidean(2), STARTPROB, TRANSMAT, means, sigmas=[0.5, 1.0, 1.0]
    )
    return model, model.sample(_T, random_state=0)[0]


def _smoother() -> Race:
    model, X = _chain()
    peer = gaussian_hmm(model.parameters_)
    _check_close(model.predict_proba(X), peer.predict_proba(X))
    _check_close(model.score(X), peer.score(X))
    return Race(
        ours=seconds(lambda: model.predict_proba(X)),
        peers={"hmmlearn": seconds(lambda: peer.predict_proba(X))},
    )


def _smoother_kernel() -> Race:
    """From log densities to posteriors; ours also adds up the expected transitions."""
    model, X = _chain()
    start, transition, log_density = model.startprob_, model.transmat_, model.log_density(X)

    def peer() -> np.ndarray:
        density = np.exp(log_density)
        _, alpha, scale = _hmmc.forward_scaling(start, transition, density)
        gamma = alpha * _hmmc.backward_scaling(start, transition, density, scale)
        normalize(gamma, axis=1)
        return gamma

    _check_close(inference.smoothing(start, transition, log_density).gamma, peer())
    return Race(
        ours=seconds(lambda: inference.smoothing(start, transition, log_density)),
        peers={"hmmlearn": seconds(peer)},
    )


def _viterbi() -> Race:
    model, X = _chain()
    peer = gaussian_hmm(model.parameters_)
    _check_same_path(model.decode(X), peer.decode(X, algorithm="viterbi"))
    return Race(
        ours=seconds(lambda: model.decode(X)),
        peers={"hmmlearn": seconds(lambda: peer.decode(X, algorithm="viterbi"))},
    )


def _viterbi_kernel() -> Race:
    model, X = _chain()
    start, transition, log_density = model.startprob_, model.transmat_, model.log_density(X)

    def ours():
        return inference.viterbi(start, transition, log_density)

    def peer():
        return _hmmc.viterbi(start, transition, log_density)

    _check_same_path(ours(), peer())
    return Race(ours=seconds(ours), peers={"hmmlearn": seconds(peer)})


def _check_close(ours, theirs) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def _check_same_path(ours, theirs) -> None:
    _check_close(ours[0], theirs[0])
    np.testing.assert_array_equal(ours[1], theirs[1])


COMPARISONS = [
    Comparison(
        "smoother",
        "smoother, 10⁶ points of the plane, 3 states",
        1.0,
        _smoother,
    ),
    Comparison(
        "smoother-kernel",
        "smoother, recursions alone, from 10⁶ log densities",
        1.0,
        _smoother_kernel,
    ),
    Comparison(
        "viterbi",
        "Viterbi, 10⁶ points of the plane, 3 states",
        1.0,
        _viterbi,
    ),
    Comparison(
        "viterbi-kernel",
        "Viterbi, recursion alone, from 10⁶ log densities",
        1.0,
        _viterbi_kernel,
    ),
]
