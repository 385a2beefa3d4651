"""What a sweep tells: means and bands over the seeds, and what a window costs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rhmm.model import HiddenMarkovModel
from rhmm.parameters import stationary_law
from rhmm.scoring import MEASURES, Measures
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
    most: float
    """The largest."""


@dataclass(frozen=True, kw_only=True)
class Summary(Measures[Band]):
    """All runs of one configuration: a band for each measure."""

    configuration: Configuration
    runs: int
    seconds: Band
    nbytes: Band
    diagonal: tuple[float, ...]
    """Means of Â_11, Â_22, …"""


def summarise(runs: Iterable[Run]) -> list[Summary]:
    """One summary for each configuration, in the order in which they first come."""
    groups: dict[Configuration, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.configuration, []).append(run)
    return [
        Summary(
            configuration=configuration,
            runs=len(group),
            diagonal=tuple(np.mean([run.diagonal for run in group], axis=0).tolist()),
            **{name: band([getattr(run, name) for run in group]) for name in MEASURES},
        )
        for configuration, group in groups.items()
    ]


def band(values: list[float]) -> Band:
    """Mean, standard deviation, and the band that holds eight values in ten."""
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    low, high = np.quantile(values, _QUANTILES)
    mean, median = float(np.mean(values)), float(np.median(values))
    return Band(mean, spread, float(low), median, float(high), max(values))


def noise_floor(truth: HiddenMarkovModel, window: int) -> float:
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
        s.configuration.settings["window"]
        for s in summaries
        if s.accuracy.mean >= (1.0 - within) * s.ceiling.mean
    ]
    return min(enough, default=None)
