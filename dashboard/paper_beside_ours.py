"""The paper's Table 2 and its figure, beside a sweep of ours."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from dashboard import figures, present
from dashboard.experiment import Experiment
from dashboard.runs import DISK
from dashboard.tradeoff import learner_of
from rhmm import Run
from rhmm.sweeping import Summary
from rhmm.table import PaperRow, Row, rows

_METHODS = ("windowed", "streaming", "kmeans", "em", "ceiling")


class Cloud(NamedTuple):
    """The estimates of one method over the seeds."""

    title: str
    means: np.ndarray
    """Shape (R, N, 2)."""
    distances: np.ndarray
    """d(c_i, ĉ_i), shape (R, N)."""


def clouds(experiment: Experiment, runs: Iterable[Run]) -> list[Cloud]:
    """Of the paper's algorithm at Δ = 100 and 200, and of EM: what the paper's figure shows."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        c = run.configuration
        if c.method == "em" or (learner_of(c) == "paper" and c.window in (100, 200)):
            title = "EM" if c.method == "em" else f"Windowed, Δ = {c.window}"
            groups.setdefault(title, []).append(run)
    truth = np.array(experiment.means)
    out = []
    for title in sorted(groups, key=lambda t: (t == "EM", t)):
        means = np.array([run.means for run in groups[title]])
        targets = np.broadcast_to(truth, means.shape)
        distances = DISK.dist(targets.reshape(-1, 2), means.reshape(-1, 2))
        out.append(Cloud(title, means, distances.reshape(means.shape[:2])))
    return out


def cloud_disk(experiment: Experiment, cloud: Cloud) -> go.Figure:
    none = np.empty((0, 2))
    title = f"{cloud.title}: {len(cloud.means)} runs"
    truth = np.array(experiment.means)
    figure = figures.disk(title, none, np.empty(0), none, np.empty(0), truth)
    for state in range(experiment.n_states):
        x, y = cloud.means[:, state].T
        figure.add_scatter(
            x=x, y=y, mode="markers",
            marker={
                "color": figures.STATE_COLOURS[state], "symbol": figures.STATE_SYMBOLS[state],
                "size": 9, "opacity": 0.75, "line": {"color": "white", "width": 0.5},
            },
            hovertemplate=f"state {state + 1}: (%{{x:.3f}}, %{{y:.3f}})<extra></extra>",
        )  # fmt: skip
    return figure


def cloud_distances(experiment: Experiment, shown: list[Cloud]) -> go.Figure:
    """How far each estimate is from its true mean: the eye cannot tell near the edge."""
    figure = go.Figure()
    for state in range(experiment.n_states):
        x = [cloud.title for cloud in shown for _ in cloud.distances]
        y = np.concatenate([cloud.distances[:, state] for cloud in shown])
        figure.add_box(
            x=x, y=y, name=f"state {state + 1}", boxpoints="all", pointpos=0, jitter=0.4,
            line={"color": figures.STATE_COLOURS[state]}, fillcolor="rgba(0,0,0,0)",
            marker={"symbol": figures.STATE_SYMBOLS[state], "size": 7},
            hovertemplate=f"state {state + 1}: %{{y:.3f}}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(
        boxmode="group",
        height=380,
        margin={"l": 0, "r": 0, "t": 10, "b": 0},
        yaxis={"title": {"text": "hyperbolic distance to the true mean"}, "type": "log",
               "tickfont": {"size": 14}, "exponentformat": "none", "dtick": 1},
        xaxis={"tickfont": {"size": 15}},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "font": {"size": 15}},
        dragmode=False,
    )  # fmt: skip
    return figure


def paper_rows(runs: Iterable[Run]) -> list[Row]:
    """Rows of Table 2 and what else was run, in the order of the table."""
    return sorted(rows(runs), key=lambda row: (row.paper is None, _place(row.summary)))


def _place(summary: Summary) -> tuple:
    c = summary.configuration
    return _METHODS.index(c.method), c.window or 0


def paper_table(table: Iterable[Row]) -> dict[str, list[str]]:
    columns: dict[str, list[str]] = {
        "": [], "Accuracy": [], "Paper’s accuracy": [], "Time": [], "Paper’s time": [],
        "Diagonal of Â": [], "Paper’s diagonal": [], "‖A − Â‖": [], "Paper’s RMSE": [],
    }  # fmt: skip
    for summary, paper, _ in table:
        cells = (
            summary.configuration.name,
            f"{summary.accuracy.mean:.4f} ± {summary.accuracy.spread:.4f}",
            _printed(paper, lambda p: f"{p.accuracy:.2f}"),
            present.seconds(summary.seconds.mean) if summary.nbytes else "–",
            _printed(paper, lambda p: f"{p.seconds:,.2f} s"),
            " ".join(f"{a:.2f}" for a in summary.diagonal),
            _printed(paper, lambda p: " ".join(f"{a:.2f}" for a in p.diagonal)),
            f"{summary.transition_error.mean:.3f} ± {summary.transition_error.spread:.3f}",
            _printed(paper, lambda p: f"{p.rmse:.2f}"),
        )
        for column, cell in zip(columns.values(), cells, strict=True):
            column.append(cell)
    return columns


def seeds_in_words(table: Iterable[Row]) -> str:
    """Over how many seeds the rows are: not all have as many while a sweep goes on."""
    counts = {row.summary.runs for row in table}
    least, most = min(counts), max(counts)
    if least < most:
        return f"{least} to {most} seeds"
    return "one seed" if most == 1 else f"{most} seeds"


def _printed(paper: PaperRow | None, text) -> str:
    return "" if paper is None else text(paper)
