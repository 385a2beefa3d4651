"""What Δ costs: figures, tables and words for a sweep."""

import math
import tempfile
import textwrap
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import plotly.graph_objects as go

from dashboard import figures, present
from dashboard.experiment import Experiment
from dashboard.presets import PRESETS
from dashboard.runs import true_model
from dashboard.sweeps import LEARNERS, Sweep
from rhmm import Configuration, Run
from rhmm.sweeping import Summary, noise_floor, save_runs
from rhmm.table import LENGTH as PAPER_LENGTH
from rhmm.table import paper_row


class Look(NamedTuple):
    """How a learner looks in every figure: not like a state, and never by its colour alone."""

    name: str
    colour: str
    symbol: str
    glyph: str
    dash: str


LOOKS = {
    "streaming": Look("streaming", "#8E63CE", "circle", "●", "solid"),
    "paper": Look("windowed, the paper’s update", "#B8860B", "square", "■", "dash"),
    "convex": Look("windowed, convex update", "#2A9D8F", "diamond", "◆", "dot"),
    "fixed": Look("streaming with a fixed memory", "#D1495B", "triangle-up", "▲", "dashdot"),
}
RIVALS = {"ceiling": ("ceiling", "solid"), "em": ("EM", "dash"), "kmeans": ("K-means", "dot")}


class Measure(NamedTuple):
    """A quantity that is drawn against Δ."""

    field: str
    title: str
    logarithmic: bool
    format: str


MEASURES = (
    Measure("accuracy", "Accuracy", False, ".2%"),
    Measure("transition_error", "‖A − Â‖", True, ".4f"),
    Measure("mean_error", "Distance of means", True, ".4f"),
    Measure("seconds", "Time for each observation, µs", True, ".3f"),
    Measure("nbytes", "Memory, bytes", True, ",.0f"),
)


def learner_of(configuration: Configuration) -> str | None:
    """The name in `LEARNERS` that a configuration belongs to."""
    for name, options in LEARNERS.items():
        plain = Configuration(
            length=configuration.length, window=configuration.window or 200, **options
        )
        if configuration.window is not None and plain == configuration:
            return name
    return None


def is_the_papers(experiment: Experiment) -> bool:
    return experiment.truth == PRESETS["Paper"] and experiment.length == PAPER_LENGTH


def values(summary: Summary, measure: Measure) -> tuple[float, float, float]:
    """Low, mean and high of a measure over the seeds, in the units that are shown."""
    if measure.field == "nbytes":
        return (summary.nbytes,) * 3
    band = getattr(summary, measure.field)
    scale = 1e6 / summary.configuration.length if measure.field == "seconds" else 1.0
    return band.low * scale, band.mean * scale, band.high * scale


# Figures


def panel(sweep: Sweep, summaries: Iterable[Summary], measure: Measure) -> go.Figure:
    """One measure against Δ: a line and a band for each learner, levels for the others."""
    summaries = list(summaries)
    figure = go.Figure()
    windows = sweep.windows()
    for name in sweep.learners:
        mine = [s for s in summaries if learner_of(s.configuration) == name]
        _add_learner(figure, name, sorted(mine, key=lambda s: s.configuration.window), measure)
    ends = [windows[0], windows[-1]] if len(windows) > 1 else [windows[0] * 0.8, windows[0] * 1.25]
    _add_rivals(figure, summaries, ends, measure)
    if measure.field == "transition_error":
        _add_floor(figure, sweep, ends)
    if is_the_papers(sweep.experiment):
        _add_paper(figure, windows, measure)
    _lay_out(figure, measure, ends)
    return figure


def _add_learner(figure: go.Figure, name: str, mine: list[Summary], measure: Measure) -> None:
    if not mine:
        return
    look = LOOKS[name]
    windows = [s.configuration.window for s in mine]
    low, mean, high = zip(*(values(s, measure) for s in mine), strict=True)
    if mine[0].runs > 1 and measure.field != "nbytes":
        figure.add_scatter(
            x=[*windows, *reversed(windows)], y=[*high, *reversed(low)], fill="toself",
            fillcolor=_faint(look.colour), line={"width": 0}, hoverinfo="skip", mode="lines",
        )  # fmt: skip
    figure.add_scatter(
        x=windows, y=mean, mode="lines+markers", name=look.name,
        line={"color": look.colour, "width": 3, "dash": look.dash},
        marker={"symbol": look.symbol, "size": 11, "line": {"color": "white", "width": 1}},
        customdata=[[name, window] for window in windows],
        hovertemplate=(
            f"{look.name}, Δ = %{{x:,}}: %{{y:{measure.format}}}<extra></extra>"
        ),
    )  # fmt: skip


_ROOM = 12
"""Letters that fit beside a panel."""


def _add_rivals(figure: go.Figure, summaries: list[Summary], ends, measure: Measure) -> None:
    """A level for each; those too near each other to be read share one name."""
    levels = []
    for summary in summaries:
        method, value = summary.configuration.method, values(summary, measure)[1]
        exact = method == "ceiling" and measure.field != "accuracy"
        if method not in RIVALS or exact or not value > 0:
            continue  # the truth has no error, and learns nothing
        name, dash = RIVALS[method]
        figure.add_scatter(
            x=ends, y=[value, value], mode="lines",
            line={"color": figures.NEUTRAL, "width": 2, "dash": dash},
            hovertemplate=f"{name}: %{{y:{measure.format}}}<extra></extra>",
        )  # fmt: skip
        levels.append((math.log10(value) if measure.logarithmic else value, name))
    heights = [y for trace in figure.data for y in trace.y]
    if measure.logarithmic:
        heights = [y for y in heights if y > 0]  # with one state nothing is wrong in A
    low, high = min(heights, default=1.0), max(heights, default=1.0)
    span = math.log10(high / low) if measure.logarithmic else high - low
    named: list[list] = []
    for height, name in sorted(levels):
        if named and height - named[-1][0] < 0.07 * span:
            named[-1][1] += f", {name}"
        else:
            named.append([height, name])
    for height, names in named:
        figure.add_annotation(
            x=1, xref="paper", y=height, text="<br>".join(textwrap.wrap(names, _ROOM)),
            showarrow=False, xanchor="left", xshift=4, align="left", font={"size": 14},
        )  # fmt: skip


def _add_floor(figure: go.Figure, sweep: Sweep, ends) -> None:
    truth = true_model(sweep.experiment)
    heights = [noise_floor(truth, round(end)) for end in ends]
    if min(heights) > 0:  # one state alone has nothing to learn in A
        figure.add_scatter(
            x=ends, y=heights, mode="lines",
            line={"color": figures.NEUTRAL, "width": 6, "dash": "solid"}, opacity=0.35,
            hovertemplate="noise floor of a memory of Δ = %{x:,}: %{y:.4f}<extra></extra>",
        )  # fmt: skip


def _add_paper(figure: go.Figure, windows: list[int], measure: Measure) -> None:
    """The points of the paper's Table 2; its RMSE is no error of one estimate and not drawn."""
    printed = {w: paper_row(Configuration("windowed", window=w, transition_update="paper"))
               for w in windows}  # fmt: skip
    printed = {w: row for w, row in printed.items() if row is not None}
    read = {
        "accuracy": lambda row: row.accuracy,
        "seconds": lambda row: 1e6 * row.seconds / PAPER_LENGTH,
    }.get(measure.field)
    if read is None or not printed:
        return
    figure.add_scatter(
        x=list(printed), y=[read(row) for row in printed.values()], mode="markers",
        marker={"symbol": "x", "size": 11, "color": LOOKS["paper"].colour,
                "line": {"color": "white", "width": 1}},
        hovertemplate=f"the paper’s Table 2, Δ = %{{x:,}}: %{{y:{measure.format}}}<extra></extra>",
    )  # fmt: skip


def _lay_out(figure: go.Figure, measure: Measure, ends) -> None:
    figure.update_layout(
        title={"text": measure.title, "font": {"size": 17}, "x": 0, "y": 0.98},
        margin={"l": 0, "r": 96, "t": 44, "b": 0},
        height=340,
        showlegend=False,
        dragmode=False,
        xaxis={
            "type": "log", "title": {"text": "Δ", "font": {"size": 16}}, "tickfont": {"size": 14},
            "tickvals": [20, 50, 100, 200, 500, 1000, 2000, 5000], "tickformat": "~s",
            "tickangle": 0, "range": [math.log10(ends[0] * 0.85), math.log10(ends[1] * 1.18)],
        },
        yaxis={
            "type": "log" if measure.logarithmic else "linear", "tickfont": {"size": 14},
            "tickformat": ".0%" if measure.field == "accuracy" else None,
            "exponentformat": "SI" if measure.field == "nbytes" else "none",
            "dtick": 1 if measure.logarithmic else None,
        },
    )  # fmt: skip


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.18)"


def legend(sweep: Sweep) -> str:
    """One legend for all panels, in HTML."""
    marks = [
        f'<span><span style="color:{look.colour}">{look.glyph}</span> {look.name}</span>'
        for name, look in LOOKS.items()
        if name in sweep.learners
    ]
    marks.append("<span>grey lines: EM, K-means, the ceiling</span>")
    marks.append("<span>broad grey line: noise floor of a memory of Δ</span>")
    if is_the_papers(sweep.experiment):
        marks.append(
            f'<span><span style="color:{LOOKS["paper"].colour}">✕</span> the paper’s Table 2</span>'
        )
    return f'<div class="legend">{" ".join(marks)}</div>'


def panel_in_words(sweep: Sweep, summaries: Iterable[Summary], measure: Measure) -> str:
    """The figure for those who cannot see it."""
    parts = [
        f"{LOOKS[name].name}: "
        + ", ".join(
            f"{values(s, measure)[1]:{measure.format}} at {s.configuration.window}"
            for s in summaries
            if learner_of(s.configuration) == name
        )
        for name in sweep.learners
    ]
    return f"{measure.title} against Δ. " + "; ".join(parts) + "."


# Tables


def runs_of(runs: Iterable[Run], learner: str, window: int) -> list[Run]:
    """Those of one learner with one Δ."""
    return [
        run
        for run in runs
        if run.configuration.window == window and learner_of(run.configuration) == learner
    ]


def runs_table(runs: Iterable[Run]) -> dict[str, list[str]]:
    """The runs behind one point."""
    table: dict[str, list[str]] = {
        "Seed": [], "Accuracy": [], "Ceiling": [], "‖A − Â‖": [], "Distance of means": [],
        "Error of σ": [], "Log-likelihood": [], "Time": [],
    }  # fmt: skip
    for run in runs:
        cells = (
            str(run.seed),
            present.percent(run.accuracy),
            present.percent(run.ceiling),
            f"{run.transition_error:.4f}",
            f"{run.mean_error:.4f}",
            present.percent(run.sigma_error),
            f"{run.log_likelihood:.4f}",
            present.seconds(run.seconds),
        )
        for column, cell in zip(table.values(), cells, strict=True):
            column.append(cell)
    return table


def experiment_of(experiment: Experiment, run: Run) -> Experiment:
    """The experiment whose Live lab shows this very run."""
    c = run.configuration
    return replace(
        experiment,
        length=c.length,
        seed=run.seed,
        window=c.window,
        algorithm=c.method,
        transition_update=c.transition_update or experiment.transition_update,
    )


def opens_in_the_lab(configuration: Configuration) -> bool:
    """The lab knows the two algorithms as they are by default."""
    return learner_of(configuration) in ("streaming", "paper", "convex")


# Files


def file_of(experiment: Experiment, suffix: str, runs: Iterable[Run]) -> bytes:
    """All runs as the engine writes them: ``.csv`` or ``.parquet``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"runs{suffix}"
        save_runs(path, true_model(experiment), runs)
        return path.read_bytes()


def script(sweep: Sweep) -> str:
    """A program that runs the sweep again, with rhmm alone."""
    experiment = sweep.experiment
    grid = "\n".join(f"    {configuration!r}," for configuration in sweep.configurations())
    return f'''"""Runs again the sweep that the dashboard showed."""

from rhmm import Configuration, Hyperbolic, RiemannianHMM, sweep
from rhmm.sweeping import summarise

truth = RiemannianHMM.from_parameters(
    Hyperbolic(2),
    {experiment.startprob!r},
    {experiment.transmat!r},
    {experiment.means!r},
    {experiment.sigmas!r},
)
grid = [
{grid}
]
runs = sweep(truth, grid, {sweep.runs}, file="runs.csv")
for s in summarise(runs):
    print(
        f"{{s.configuration.name:36}} accuracy {{s.accuracy.mean:.4f}}, "
        f"|A - A^| {{s.transition_error.mean:.4f}}, means {{s.mean_error.mean:.4f}}, "
        f"{{1000 * s.seconds.mean:.1f}} ms, {{s.nbytes}} bytes"
    )
'''
