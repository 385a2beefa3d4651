"""The paper's Table 2 beside ours: every method on the same chains, over many seeds."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rhmm.learners import em, kmeans, windowed
from rhmm.learners.registry import LEARNERS
from rhmm.learners.windowed import PAPERS_WINDOWS
from rhmm.paper import LENGTH, paper_model
from rhmm.sweeping import Configuration, Run, Summary, summarise
from rhmm.validation import check_integer

EM, KMEANS, WINDOWED = em.LEARNER.key, kmeans.LEARNER.key, windowed.LEARNER.key


class PaperRow(NamedTuple):
    """A row of Table 2 as printed."""

    accuracy: float
    seconds: float
    diagonal: tuple[float, float, float]
    rmse: float


PAPER: dict[int | str, PaperRow] = {
    40: PaperRow(0.48, 1.37, (0.40, 0.30, 0.40), 1.49),
    60: PaperRow(0.50, 1.93, (0.31, 0.34, 0.28), 1.39),
    80: PaperRow(0.76, 2.54, (0.36, 0.49, 0.45), 1.26),
    100: PaperRow(0.86, 3.21, (0.48, 0.63, 0.59), 1.13),
    200: PaperRow(0.98, 5.81, (0.46, 0.60, 0.77), 1.12),
    300: PaperRow(0.94, 8.39, (0.57, 0.63, 0.75), 0.95),
    1000: PaperRow(0.95, 28.58, (0.51, 0.64, 0.76), 0.94),
    5000: PaperRow(0.95, 70.69, (0.41, 0.58, 0.70), 0.91),
    KMEANS: PaperRow(0.90, 4.99, (0.53, 0.65, 0.56), 0.93),
    EM: PaperRow(0.90, 2623.69, (0.31, 0.88, 0.96), 1.29),
}


class Row(NamedTuple):
    """A row of our table, the paper's beside it if it has one, and what is to be said about it."""

    summary: Summary
    paper: PaperRow | None
    remarks: list[str]


def configurations(length: int = LENGTH) -> list[Configuration]:
    """What the rows of the table are, in order; `rhmm.sweep` over `paper_model()` runs them."""
    check_integer("length", length, at_least=PAPERS_WINDOWS[-1])  # the longest window is a row
    return [
        Configuration(key, length, **options)
        for key, learner in LEARNERS.items()
        for options in learner.table
    ]


def paper_row(configuration: Configuration) -> PaperRow | None:
    """What the paper printed for this configuration, if it did: its chains have one length."""
    if configuration.length != LENGTH:
        return None
    if configuration.learner == WINDOWED:
        is_printed = configuration.settings["transition_update"] == "paper"
        return PAPER.get(configuration.settings["window"]) if is_printed else None
    return PAPER.get(configuration.learner)


def rows(runs: Iterable[Run]) -> list[Row]:
    """The table of a sweep over `paper_model()`."""
    return [
        Row(summary, paper, _remarks(summary, paper))
        for summary in summarise(runs)
        for paper in [paper_row(summary.configuration)]
    ]


def furthest_from_truth(diagonal: tuple[float, ...]) -> float:
    """The largest ‖A − A′‖_F of a stochastic A′ with this diagonal: all the rest in one entry."""
    return float(np.sqrt(sum(_furthest_row(i, stay) for i, stay in enumerate(diagonal))))


def furthest_on_average(diagonal: tuple[float, ...]) -> float:
    """The largest mean of ‖A − A′‖_F, also in quadrature, over stochastic A′ whose diagonals have
    this mean: entries of 0 and 1 only, since the square of the distance is convex in them.
    """
    ends = (
        (1.0 - stay) * _furthest_row(i, 0.0) + stay * _furthest_row(i, 1.0)
        for i, stay in enumerate(diagonal)
    )
    return float(np.sqrt(sum(ends)))


def _furthest_row(i: int, stay: float) -> float:
    """The largest squared distance from row i of A to a law that has `stay` on the diagonal."""
    row = paper_model().transmat_[i]
    others = np.delete(row, i)
    return (stay - row[i]) ** 2 + (others**2).sum() + (1.0 - stay) * (1.0 - stay - 2 * others.min())


def _remarks(ours: Summary, paper: PaperRow | None) -> list[str]:
    """If the paper has the row, a sentence on the accuracy, the error of A, and the time."""
    if paper is None:
        way = ours.configuration
        if way.learner == WINDOWED and way.window == way.length:
            return ["Δ is the whole chain: this is the K-means start, without any online step."]
        return []
    return [_on_accuracy(ours, paper), _on_error(ours, paper), _on_time(ours, paper)]


def _on_accuracy(ours: Summary, paper: PaperRow) -> str:
    gap = ours.accuracy.mean - paper.accuracy
    learner = ours.configuration.learner
    if learner == EM:
        return (
            f"{paper.accuracy:.2f} is not what EM does: from its K-means start it reaches "
            f"{ours.accuracy.mean:.3f}; the true parameters give {ours.ceiling.mean:.3f}."
        )
    if abs(gap) <= 0.015:
        return f"The paper's accuracy, {paper.accuracy:.2f}, is reached."
    if learner == KMEANS:
        return f"{_apart(gap)}: the best of ten starts, labelled by the nearest centre."
    return (
        f"{_apart(gap)}: the start is the best of ten K-means, and where the printed update makes "
        "an entry of A negative, it is clipped and its row normalised."
    )


def _on_error(ours: Summary, paper: PaperRow) -> str:
    """The paper does not say whether its rows are of one run or means over several."""
    one = furthest_from_truth(paper.diagonal)
    several = furthest_on_average(paper.diagonal)
    if several < paper.rmse:
        mean = f"nor can it be the mean over runs with that mean diagonal: {several:.2f} at most"
    else:
        mean = "as a mean over runs it would need estimates that are far apart from run to run"
    return (
        f"{paper.rmse:.2f} cannot be ‖A − A′‖_F of one estimate with matched labels: of all "
        f"stochastic A′ with the diagonal that the paper prints, none is further than {one:.2f} "
        f"from A; {mean} (ours is {ours.transition_error.mean:.3f} on average)."
    )


def _apart(gap: float) -> str:
    return f"{abs(gap):.2f} {'more' if gap > 0 else 'less'} accurate than the paper's"


def _on_time(ours: Summary, paper: PaperRow) -> str:
    ratio = f"{paper.seconds / ours.seconds.mean:.0f} times less time than the paper's"
    if ours.configuration.learner == EM:
        return f"{ratio}: compiled recursions, and from a good start few steps are enough."
    if ours.configuration.learner == KMEANS:
        return f"{ratio}: compiled, and a centre of mass takes two or three Newton steps."
    return (
        f"{ratio}: compiled, but the same work, a backward pass over Δ at each of the T − Δ "
        "observations that K-means has not used."
    )
