"""Hidden Markov models on curved spaces: sample, score, filter, smooth, decode, learn."""

from rhmm.chunks import ArrayChunks, DaskChunks, ParquetChunks
from rhmm.exceptions import (
    ConvergenceWarning,
    DegenerateWarning,
    NotRecordedWarning,
    RunFailedError,
)
from rhmm.learners.advance import Advanced, advance, pack, unpack
from rhmm.learners.auto import AutoMemoryRiemannianHMM
from rhmm.learners.baum_welch import Monitor
from rhmm.learners.chunk_decoding import predict_chunks, score_chunks
from rhmm.learners.em import RiemannianHMM
from rhmm.learners.kmeans import RiemannianKMeans
from rhmm.learners.registry import register_learner
from rhmm.learners.streaming import StreamingRiemannianHMM
from rhmm.learners.windowed import WindowedRiemannianHMM
from rhmm.manifolds import (
    SPD,
    Euclidean,
    Hyperbolic,
    LogEuclideanSPD,
    Manifold,
    register_manifold,
)
from rhmm.parameters import Parameters
from rhmm.recentring import Recentring, recentred
from rhmm.scoring import Evaluation, evaluate, evaluate_without_truth
from rhmm.selection import Selection, select_n_components
from rhmm.streams.recentring import StreamingRecentring
from rhmm.streams.trace import Trace
from rhmm.sweeping import Configuration, Run, open_executor, sweep
from rhmm.version import __version__

__all__ = [
    "SPD",
    "Advanced",
    "ArrayChunks",
    "AutoMemoryRiemannianHMM",
    "Configuration",
    "ConvergenceWarning",
    "DaskChunks",
    "DegenerateWarning",
    "Euclidean",
    "Evaluation",
    "Hyperbolic",
    "LogEuclideanSPD",
    "Manifold",
    "Monitor",
    "NotRecordedWarning",
    "Parameters",
    "ParquetChunks",
    "Recentring",
    "RiemannianHMM",
    "RiemannianKMeans",
    "Run",
    "RunFailedError",
    "Selection",
    "StreamingRecentring",
    "StreamingRiemannianHMM",
    "Trace",
    "WindowedRiemannianHMM",
    "__version__",
    "advance",
    "evaluate",
    "evaluate_without_truth",
    "open_executor",
    "pack",
    "predict_chunks",
    "recentred",
    "register_learner",
    "register_manifold",
    "score_chunks",
    "select_n_components",
    "sweep",
    "unpack",
]
