"""Looking for the best of many optima: EM on a sample, from many starts, with splits and merges."""

from rhmm.search.exploring import Fit, appraised, climbed
from rhmm.search.moves import improved
from rhmm.search.sample import Sample, thinned
from rhmm.search.sizes import evidence, n_parameters, path_of_sizes, resized
from rhmm.search.starts import best_start, seeds

__all__ = [
    "Fit",
    "Sample",
    "appraised",
    "best_start",
    "climbed",
    "evidence",
    "improved",
    "n_parameters",
    "path_of_sizes",
    "resized",
    "sample_for",
    "sample_size",
    "search",
    "seeds",
    "thinned",
]

_SAMPLE, _FOR_EACH_STATE = 2000, 800
"""Observations that a search looks at, or so many for each state if that is more."""


def sample_for(manifold, X, observed, lengths, least_delta: float, n: int) -> Sample:
    """What a search for models of up to n states looks at."""
    return thinned(manifold, X, observed, lengths, least_delta, sample_size(n))


def sample_size(n: int) -> int:
    """Observations that a search for models of up to n states looks at."""
    return max(_SAMPLE, _FOR_EACH_STATE * n)


def search(manifold, X, observed, lengths, n: int, rng, *, tried: int, least_delta: float) -> Fit:
    """A start for EM: the best of `tried` on a sample of X (T, *point_shape), then moves."""
    sample = sample_for(manifold, X, observed, lengths, least_delta, n)
    best, appraisal = best_start(sample, n, rng, tried=tried, kept=max(tried // 4, 1), steps=15)
    return improved(sample, best, rng, tried=6, steps=40, appraisal=appraisal)
