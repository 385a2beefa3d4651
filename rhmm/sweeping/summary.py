"""What a sweep tells: means and bands over the seeds, and what a window costs."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rhmm.hmm import RiemannianHMM
from rhmm.parameters import stationary_law
from rhmm.sweeping.configuration import Configuration
from rhmm.sweeping.run import Run
from rhmm.validation import check_integer, check_number

_QUANTILES = (0.1, 0.9)


class Band(NamedTuple):
    """One measure over the seeds."""

    mean: float
    spread: float
    """Standard deviation; 0 for a single seed."""
    low: float
    """One run in ten is below."""
    median: float
    high: float
    """One run in ten is above."""


class Summary(NamedTuple):
    """All runs of one configuration; the fields are those of `Run`."""

    configuration: Configuration
    runs: int
    accuracy: Band
    ceiling: Band
    seconds: Band
    transition_error: Band
    mean_error: Band
    sigma_error: Band
    log_likelihood: Band
    diagonal: tuple[float, ...]
    """Means of Â_11, Â_22, …"""
    nbytes: int
    """The most that a run held."""


_MEASURES = [name for name, kind in Summary.__annotations__.items() if kind is Band]


def summarise(runs: Iterable[Run]) -> list[Summary]:
    """One summary for each configuration, in the order in which they first come."""
    groups: dict[Configuration, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.configuration, []).append(run)
    return [
        Summary(
            configuration,
            len(group),
            *(band([getattr(run, name) for run in group]) for name in _MEASURES),
            tuple(np.mean([run.diagonal for run in group], axis=0).tolist()),
            max(run.nbytes for run in group),
        )
        for configuration, group in groups.items()
    ]


def band(values: list[float]) -> Band:
    """Mean, standard deviation, and the band that holds eight values in ten."""
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    low, high = np.quantile(values, _QUANTILES)
    return Band(float(np.mean(values)), spread, float(low), float(np.median(values)), float(high))


def noise_floor(truth: RiemannianHMM, window: int) -> float:
    """√(Σ_ij A_ij(1−A_ij)/(2Δπ_i)): what ‖A − Â‖_F is when only Δ observations are remembered.

    Of n transitions out of state i the share that goes to j has the variance A_ij(1−A_ij)/n. The
    windowed algorithm averages with steps of 1/N_i, N_i = Δπ_i visits (the paper's update of A with
    its μ, eqs. (7) to (9)): weights that fade like (1−1/N_i)^age, which are worth as much as
    (Σw)²/Σw² = 2N_i − 1 ≈ 2N_i equal ones. This is the root of the mean square, as if the hidden
    states were seen; π is the stationary law. A memory that grows gets below it; a fixed one of the
    streaming algorithm shares Δ out evenly, Δ/N for each state.
    """
    window = check_integer("window", window, at_least=1)
    A = truth.transmat_
    visits = window * stationary_law(A)
    variances = A * (1.0 - A)
    left = visits > 0  # a state that the chain has left for good is not learned about at all
    return float(np.sqrt((variances[left].sum(axis=1) / (2.0 * visits[left])).sum()))


def enough_window(runs: Iterable[Run], within: float = 0.01) -> int | None:
    """The smallest Δ whose accuracy is on average near the ceiling's; None if none is.

    Near is what lacks at most the share `within` of it. The runs must be of one
    `Configuration.family`; those without a window do not count.
    """
    within = check_number("within", within, at_least=0.0)
    summaries = [s for s in summarise(runs) if s.configuration.window is not None]
    if len({s.configuration.family for s in summaries}) > 1:
        raise ValueError("runs must be of one family: differ in nothing but window and seed")
    enough = [
        s.configuration.window
        for s in summaries
        if s.accuracy.mean >= (1.0 - within) * s.ceiling.mean
    ]
    return min(enough, default=None)
