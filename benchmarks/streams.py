"""Learning online, the paper's chain, T = 10,000: beside hmmlearn's iterations and our own EM.

An iteration of hmmlearn's is one of ten in a row, which find their code and numbers in the caches
of the processor, and so is a stream beside it: both are what one more takes. What a single call
takes after other work is compared with a single call of hmmlearn's.
"""

from collections.abc import Callable
from functools import partial

from benchmarks.learning import FEW, MANY, kmeans_start, points
from benchmarks.peers import gaussian_hmm
from benchmarks.timing import Comparison, Race, marginal, seconds
from rhmm import (
    Euclidean,
    Hyperbolic,
    RiemannianHMM,
    StreamingRiemannianHMM,
    WindowedRiemannianHMM,
)

_GEOMHMM_SECONDS = 47.0
"""geomhmm's learner on such a chain and machine, as published and measured elsewhere; not run."""


def _stream(X, kind: type = StreamingRiemannianHMM, **options) -> Callable[[], object]:
    return lambda: kind(Hyperbolic(2), 3, random_state=0, **options).fit(X)


def _beside_hmmlearn(iterations: int, kind: type, **options) -> Race:
    X = points()
    start = kmeans_start(Euclidean(2), X).parameters_
    one = marginal(lambda n_iter: gaussian_hmm(start, n_iter).fit(X), FEW, MANY)
    stream = _stream(X, kind, **options)

    def streams(count: int) -> None:
        for _ in range(count):
            stream()

    return Race(
        marginal(streams, FEW, MANY), {f"{iterations} × hmmlearn": lambda: iterations * one()}
    )


def _single_calls() -> Race:
    X = points()
    start = kmeans_start(Euclidean(2), X).parameters_
    return Race(
        seconds(_stream(X)), {"hmmlearn, n_iter=1": seconds(lambda: gaussian_hmm(start).fit(X))}
    )


def _beside_our_em() -> Race:
    X = points()
    fit = seconds(lambda: RiemannianHMM(Hyperbolic(2), 3, random_state=0).fit(X))
    return Race(seconds(_stream(X)), {"our EM": fit})


def _longer_start() -> Race:
    X = points()
    return Race(seconds(_stream(X, window=2_000)), {"Δ = 200": seconds(_stream(X))})


def _going_on_with(emission: str) -> Race:
    """Another emission than the paper's, after the start: 10,000 observations more."""
    X = points()
    ours, papers = (
        StreamingRiemannianHMM(Hyperbolic(2), 3, emission=name, random_state=0).fit(X)
        for name in (emission, "riemannian")
    )
    return Race(
        seconds(lambda: ours.partial_fit(X)),
        {"the paper's": seconds(lambda: papers.partial_fit(X))},
    )


COMPARISONS = [
    Comparison(
        "streaming",
        "streaming, start included, against one EM iteration of hmmlearn on the plane",
        1.0,
        lambda: _beside_hmmlearn(1, StreamingRiemannianHMM),
    ),
    Comparison(
        "streaming-once",
        "the same as single calls, each after other work: a stream against a fit of one iteration",
        1.0,
        _single_calls,
    ),
    Comparison(
        "streaming-cold",
        "streaming from a cold start, against the same",
        None,
        lambda: _beside_hmmlearn(1, StreamingRiemannianHMM, init="cold"),
    ),
    *(
        Comparison(
            f"streaming-{emission}",
            f"10,000 more observations of a stream: {emission} beside the paper's emission",
            None,
            partial(_going_on_with, emission),
        )
        for emission in ("isotropic", "diag", "tied", "full", "student")
    ),
    Comparison(
        "streaming-2000",
        "streaming with Δ = 2,000, start included, beside Δ = 200",
        0.5,
        _longer_start,
    ),
    Comparison("streaming-em", "streaming against our own EM to convergence", 10.0, _beside_our_em),
    Comparison(
        "streaming-geomhmm",
        "streaming against geomhmm's learner (47 s, quoted)",
        1000.0,
        lambda: Race(seconds(_stream(points())), {"geomhmm, quoted": lambda: _GEOMHMM_SECONDS}),
    ),
    Comparison(
        "windowed",
        "windowed (the paper's), Δ = 200, against 64 EM iterations of hmmlearn",
        1.0,
        lambda: _beside_hmmlearn(64, WindowedRiemannianHMM),
    ),
]
