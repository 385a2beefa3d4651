"""The figures of the Δ trade-off: each measure against Δ, with its alternative text."""

import math
import textwrap
from collections.abc import Iterable
from typing import NamedTuple

from dashboard.compute.shared_cache import Same, SharedCache
from dashboard.figures.common import NEUTRAL
from dashboard.figures.drawing import Drawing
from dashboard.model.methods import BASELINES, CEILING, VARIANTS, Variant, method_name, variant_of
from dashboard.model.plan import Sweep
from dashboard.model.presets import is_the_papers
from dashboard.text import columns
from dashboard.text.columns import defined
from rhmm import Run
from rhmm.learners import windowed
from rhmm.paper import LENGTH as PAPER_LENGTH
from rhmm.sweeping import Summary, noise_floor, summarise
from rhmm.table import PAPER

_panels = SharedCache(16)


class Look(NamedTuple):
    """How an online learner looks in every figure: not like a state, nor by its colour alone."""

    colour: str
    symbol: str
    glyph: str
    dash: str


_LOOKS = (
    Look("#B8860B", "square", "■", "dash"),
    Look("#2A9D8F", "diamond", "◆", "dot"),
    Look("#8E63CE", "circle", "●", "solid"),
    Look("#D1495B", "triangle-up", "▲", "dashdot"),
    Look("#3A6EA5", "triangle-down", "▼", "longdash"),
    Look("#6B705C", "star", "★", "longdashdot"),
)
LOOKS = {key: _LOOKS[i % len(_LOOKS)] for i, key in enumerate(VARIANTS)}
"""By the keys of the variants, in their order."""

_PAPERS_COLOUR = LOOKS[next(iter(windowed.LEARNER.variants))].colour
_DASHES = dict(zip(reversed(BASELINES), ("solid", "dash", "dot", "dashdot"), strict=False))
"""Of the baselines, which are grey lines."""


_NOISE_FLOOR = (
    "How large ‖A − Â‖ stays by chance alone if only about Δ observations are remembered, even if "
    "their hidden states are seen. It falls as 1/√Δ."
)


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


OF_RECORDINGS = (
    Measure("accuracy", "Agreement with the labels", False, ".2%"),
    Measure("log_likelihood", columns.PREDICTIVE.name, False, ".4f"),
    *MEASURES[3:],
)
"""What is drawn where there is no truth."""


def measures_of(sweep: Sweep) -> tuple[Measure, ...]:
    """What can be drawn for this sweep."""
    experiment = sweep.experiment
    if not experiment.is_recorded:
        return MEASURES
    return OF_RECORDINGS if experiment.label_names else OF_RECORDINGS[1:]


def values(summary: Summary, measure: Measure) -> tuple[float, float, float]:
    """Low, mean and high of a measure over the seeds, in the units that are shown."""
    if measure.field == "nbytes":
        return (summary.nbytes.most,) * 3
    band = getattr(summary, measure.field)
    scale = 1e6 / summary.configuration.length if measure.field == "seconds" else 1.0
    return band.low * scale, band.mean * scale, band.high * scale


class Panel(NamedTuple):
    """One figure of the page, and what it says for those who cannot see it."""

    measure: Measure
    figure: Drawing
    in_words: str


def panels(sweep: Sweep, runs: tuple[Run, ...]) -> list[Panel]:
    """All panels of a sweep, drawn once for the same runs: a page looks again and again."""
    return _panels.get(
        (sweep.digest, Same(runs)), lambda: _draw(sweep, runs), beside=sweep.experiment.own
    )


def _draw(sweep: Sweep, runs: tuple[Run, ...]) -> list[Panel]:
    summaries = summarise(runs)
    return [
        Panel(
            measure,
            panel(sweep, summaries, measure),
            panel_in_words(sweep, summaries, measure),
        )
        for measure in measures_of(sweep)
    ]


def panel(sweep: Sweep, summaries: Iterable[Summary], measure: Measure) -> Drawing:
    """One measure against Δ: a line and a band for each learner, levels for the others."""
    summaries = list(summaries)
    figure = Drawing()
    windows = sweep.windows()
    ends = [float(windows[0]), float(windows[-1])]
    if len(windows) == 1:
        ends = [0.8 * windows[0], 1.25 * windows[0]]
    for variant in sweep.variants:
        mine = [s for s in summaries if variant_of(s.configuration) == variant]
        if not variant.has_window:  # a level, whatever Δ is
            _add_learner(figure, variant, mine * 2, ends, measure)
            continue
        mine = sorted(mine, key=lambda s: s.configuration.settings["window"])
        at = [s.configuration.settings["window"] for s in mine]
        _add_learner(figure, variant, mine, at, measure)
    _add_baselines(figure, summaries, ends, measure)
    if measure.field == "transition_error":
        _add_floor(figure, sweep, ends)
    if is_the_papers(sweep.experiment):
        _add_paper(figure, windows, measure)
    _lay_out(figure, measure, ends)
    return figure


def _add_learner(
    figure: Drawing, variant: Variant, mine: list[Summary], at: list[float], measure: Measure
) -> None:
    """The line and the band of a learner; summary i stands at the Δ ``at[i]``."""
    if not mine:
        return
    look = LOOKS[variant.key]
    low, mean, high = zip(*(values(s, measure) for s in mine), strict=True)
    if mine[0].runs > 1 and measure.field != "nbytes":
        figure.add(
            "scatter", x=[*at, *reversed(at)], y=[*high, *reversed(low)], fill="toself",
            fillcolor=_faint(look.colour), line={"width": 0}, hoverinfo="skip", mode="lines",
        )  # fmt: skip
    figure.add(
        "scatter", x=at, y=mean, mode="lines+markers", name=variant.name,
        line={"color": look.colour, "width": 3, "dash": look.dash},
        marker={"symbol": look.symbol, "size": 11, "line": {"color": "white", "width": 1}},
        customdata=[[variant.key, s.configuration.window] for s in mine],
        hovertemplate=(
            f"{variant.name}, Δ = %{{x:,}}: %{{y:{measure.format}}}<extra></extra>"
            if variant.has_window
            else f"{variant.name}: %{{y:{measure.format}}}<extra></extra>"
        ),
    )  # fmt: skip


_ROOM = 12
"""Letters that fit beside a panel."""


def _add_baselines(figure: Drawing, summaries: list[Summary], ends, measure: Measure) -> None:
    """A level for each; those too near each other to be read share one name."""
    levels = []
    for summary in summaries:
        key, value = summary.configuration.learner, values(summary, measure)[1]
        exact = key == CEILING and measure.field != "accuracy"
        if key not in BASELINES or exact or (measure.logarithmic and not value > 0):
            continue  # the truth has no error, and learns nothing
        name, dash = "ceiling" if key == CEILING else method_name(key), _DASHES.get(key, "dash")
        figure.add(
            "scatter", x=ends, y=[value, value], mode="lines",
            line={"color": NEUTRAL, "width": 2, "dash": dash},
            hovertemplate=f"{name}: %{{y:{measure.format}}}<extra></extra>",
        )  # fmt: skip
        levels.append((math.log10(value) if measure.logarithmic else value, name))
    heights = [y for trace in figure.data for y in trace["y"]]
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
    figure.layout["annotations"] = [
        {
            "x": 1, "xref": "paper", "y": height, "text": "<br>".join(textwrap.wrap(names, _ROOM)),
            "showarrow": False, "xanchor": "left", "xshift": 4, "align": "left",
            "font": {"size": 14},
        }
        for height, names in named
    ]  # fmt: skip


def _add_floor(figure: Drawing, sweep: Sweep, ends) -> None:
    truth = sweep.experiment.simulated.true_model()
    heights = [noise_floor(truth, round(end)) for end in ends]
    if min(heights) > 0:  # one state alone has nothing to learn in A
        figure.add(
            "scatter", x=ends, y=heights, mode="lines",
            line={"color": NEUTRAL, "width": 6, "dash": "solid"}, opacity=0.35,
            hovertemplate="noise floor of a memory of Δ = %{x:,}: %{y:.4f}<extra></extra>",
        )  # fmt: skip


def _add_paper(figure: Drawing, windows: list[int], measure: Measure) -> None:
    """The points of the paper's Table 2; its RMSE is no error of one estimate and not drawn."""
    printed = {w: row for w in windows if (row := PAPER.get(w)) is not None}
    read = {
        "accuracy": lambda row: row.accuracy,
        "seconds": lambda row: 1e6 * row.seconds / PAPER_LENGTH,
    }.get(measure.field)
    if read is None or not printed:
        return
    figure.add(
        "scatter", x=list(printed), y=[read(row) for row in printed.values()], mode="markers",
        marker={"symbol": "x", "size": 11, "color": _PAPERS_COLOUR,
                "line": {"color": "white", "width": 1}},
        hovertemplate=f"the paper’s Table 2, Δ = %{{x:,}}: %{{y:{measure.format}}}<extra></extra>",
    )  # fmt: skip


def _lay_out(figure: Drawing, measure: Measure, ends) -> None:
    figure.layout |= {
        "title": {"text": measure.title, "font": {"size": 17}, "x": 0, "y": 0.98},
        "margin": {"l": 0, "r": 96, "t": 44, "b": 0},
        "height": 340,
        "showlegend": False,
        "dragmode": False,
        "xaxis": {
            "type": "log", "title": {"text": "Δ", "font": {"size": 16}}, "tickfont": {"size": 14},
            "tickvals": [20, 50, 100, 200, 500, 1000, 2000, 5000], "tickformat": "~s",
            "tickangle": 0, "range": [math.log10(ends[0] * 0.85), math.log10(ends[1] * 1.18)],
        },
        "yaxis": {
            "type": "log" if measure.logarithmic else "linear", "tickfont": {"size": 14},
            "tickformat": ".0%" if measure.field == "accuracy" else None,
            "exponentformat": "SI" if measure.field == "nbytes" else "none",
            "dtick": 1 if measure.logarithmic else None,
        },
    }  # fmt: skip


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.18)"


def legend(sweep: Sweep) -> str:
    """One legend for all panels, in HTML."""
    marks = [
        f'<span><span style="color:{look.colour}">{look.glyph}</span> {variant.name}</span>'
        for variant in sweep.variants
        for look in [LOOKS[variant.key]]
    ]
    ceiling = defined("the ceiling", columns.CEILING.definition)
    shown = [key for key in sweep.experiment.methods if key in BASELINES]
    names = [ceiling if key == CEILING else method_name(key) for key in shown]
    marks.append(f"<span>grey lines: {', '.join(names)}</span>")
    if not sweep.experiment.is_recorded:
        floor = defined("noise floor of a memory of Δ", _NOISE_FLOOR)
        marks.append(f"<span>broad grey line: {floor}</span>")
    if is_the_papers(sweep.experiment):
        marks.append(
            f'<span><span style="color:{_PAPERS_COLOUR}">✕</span> the paper’s Table 2</span>'
        )
    return f'<div class="legend">{" ".join(marks)}</div>'


def panel_in_words(sweep: Sweep, summaries: Iterable[Summary], measure: Measure) -> str:
    """The figure for those who cannot see it."""
    parts = [
        f"{variant.name}: "
        + ", ".join(
            f"{values(s, measure)[1]:{measure.format}}"
            + (f" at {s.configuration.window}" if variant.has_window else "")
            for s in summaries
            if variant_of(s.configuration) == variant
        )
        for variant in sweep.variants
    ]
    return f"{measure.title} against Δ. " + "; ".join(parts) + "."
