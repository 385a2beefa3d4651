"""Plotly pieces that several figures use."""

from collections.abc import Sequence
from itertools import cycle
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dashboard.figures.drawing import Drawing
from dashboard.figures.states import state_label
from dashboard.model.marks import STATE_COLOURS, STATE_PATTERNS
from dashboard.text.formatting import number

# Grey of this lightness stands out from the light and the dark background alike.
NEUTRAL = "#808080"
WRONG = "#E5484D"

# None of these is a state's colour. Small values let the page shine through, whether it is light or
# dark, and even the strongest colour leaves letters in the page's own colour easy to read.
SHARES = [[0.0, "rgba(86, 123, 166, 0.08)"], [1.0, "rgba(86, 123, 166, 0.85)"]]
DIFFERENCES = [
    [0.0, "rgba(134, 96, 196, 0.85)"],
    [0.5, "rgba(128, 128, 128, 0.08)"],
    [1.0, "rgba(150, 110, 25, 0.85)"],
]

_DASHES = ("dash", "dot", "dashdot", "longdash")
"""Of levels, which are all grey."""

CONFIG = {
    "displaylogo": False,
    "toImageButtonOptions": {"format": "svg"},
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
}
"""What every figure's own bar offers: an SVG file, zoom, pan, and the way back."""


def matrix(
    title: str,
    values: NDArray[np.floating],
    texts: Sequence[Sequence[str]],
    hovers: Sequence[Sequence[str]],
    *,
    colours: list[list],
    limits: tuple[float, float],
    down: str,
    across: str,
) -> Drawing:
    """A matrix over states, its values in coloured cells; a cell without a value stays empty.

    The page's style sheet gives the letters the page's own colour.
    """
    n = len(values)
    ticks = {
        "tickvals": list(range(n)),
        "ticktext": [state_label(i) for i in range(n)],
        "tickfont": {"size": 15 if n <= 5 else 13},
        "showgrid": False, "zeroline": False, "ticks": "", "fixedrange": True,
    }  # fmt: skip
    figure = Drawing()
    figure.add(
        "heatmap",
        z=values, text=texts, texttemplate="%{text}",
        hovertext=hovers, hoverinfo="text",
        textfont={"size": {1: 22, 2: 22, 3: 20, 4: 15, 5: 17}.get(n, 14)},
        colorscale=colours, zmin=limits[0], zmax=limits[1], showscale=False,
        xgap=2, ygap=2, hoverongaps=False,
    )  # fmt: skip
    figure.layout = {
        **titled(title),
        "margin": {"l": 0, "r": 0, "t": 36, "b": 0},
        "xaxis": {**ticks, "title": {"text": across, "font": {"size": 15}, "standoff": 14}},
        "yaxis": {
            **ticks, "autorange": "reversed",
            "title": {"text": down, "font": {"size": 15}, "standoff": 14},
        },
        "dragmode": False,
    }  # fmt: skip
    return figure


def climb(
    values: Sequence[float],
    start: str,
    name: str,
    levels: Sequence[tuple[str, float]],
    limits: tuple[float, float],
) -> Drawing:
    """A quantity over iterations from a named start, beside horizontal levels to compare with."""
    steps = list(range(len(values)))
    figure = Drawing()
    if values:
        figure.add(
            "scatter", x=steps, y=values, name=f"{name} {number(values[-1])}", mode="lines+markers",
            line={"color": "#8A63D2", "width": 4}, marker={"size": 10},
            text=[start, *(f"iteration {step}" for step in steps[1:])],
            hovertemplate=f"{name}, %{{text}}: %{{y:.4f}}<extra></extra>",
        )  # fmt: skip
    end = max(len(values) - 1, 1)
    for (level_name, value), dash in zip(levels, cycle(_DASHES), strict=False):
        figure.add(
            "scatter", x=[0, end], y=[value, value], mode="lines",
            name=f"{level_name} {number(value)}",
            line={"color": NEUTRAL, "width": 4, "dash": dash},
            hovertemplate=f"{level_name}: %{{y:.4f}}<extra></extra>",
        )  # fmt: skip
    figure.layout = {
        "margin": {"l": 0, "r": 10, "t": 10, "b": 0},
        "height": 360,
        "xaxis": {
            "title": {"text": "iteration", "font": {"size": 16}},
            "tickfont": {"size": 15},
            "dtick": next(step for step in (1, 2, 5, 10, 20, 50, end) if end <= 10 * step),
            "range": [-0.03 * end, 1.03 * end],
            "zeroline": False,
        },
        "yaxis": {"tickfont": {"size": 15}, "range": limits, "zeroline": False, "nticks": 6},
        "legend": _legend(),
        "dragmode": False,
    }
    return figure


class Strip(NamedTuple):
    """One row of a timeline: a law over the states at each time, and where it is wrong."""

    title: str
    weights: NDArray[np.floating]
    hovers: Sequence[str]
    wrong: NDArray[np.bool_] | None = None


def timeline(first: int, strips: Sequence[Strip]) -> Drawing:
    """Rows of stacked probabilities from observation `first` on, with ticks below what is wrong."""
    count = len(strips[0].weights)
    figure = Drawing()
    for row, strip in enumerate(strips, start=1):
        _add_strip(figure, first, strip, row)
    figure.layout = {
        **_rows(strips, [first - 0.5, first + count - 0.5]),
        "height": 40 + 92 * len(strips),
        "margin": {"l": 0, "r": 0, "t": 30, "b": 0},
        "showlegend": False,
        "hovermode": "closest",
        "hoverdistance": 60,
        "hoverlabel": {"font": {"size": 15}},
        "dragmode": False,
    }
    return figure


def _add_strip(figure: Drawing, first: int, strip: Strip, row: int) -> None:
    count, n = strip.weights.shape
    times = np.arange(first, first + count)
    axes = {"xaxis": _axis("x", row), "yaxis": _axis("y", row)}
    for state in range(n):
        weights = strip.weights[:, state].astype(np.float32)
        figure.add(
            "scatter", **axes,
            x0=first - 0.5, dx=1, y=np.append(weights, weights[-1]), stackgroup=str(row),
            mode="lines", line={"width": 0, "shape": "hv"}, hoverinfo="skip",
            fillcolor=STATE_COLOURS[state],
            fillpattern={
                "shape": STATE_PATTERNS[state], "fillmode": "overlay", "size": 7,
                "solidity": 0.2, "fgcolor": "white", "bgcolor": STATE_COLOURS[state],
            },
        )  # fmt: skip
    if strip.wrong is not None:
        at = times[strip.wrong]
        figure.add(
            "scatter", **axes,
            x=at, y=np.full(len(at), -0.16), mode="markers", hoverinfo="skip",
            marker={"symbol": "triangle-up", "size": 9, "color": WRONG},
        )  # fmt: skip
    figure.add(  # carries the words alone
        "scatter", **axes,
        x=times, y=np.full(count, 0.5), mode="markers", marker={"opacity": 0},
        text=strip.hovers, hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip


def _rows(strips: Sequence[Strip], shown: list[float]) -> dict:
    """The axes and titles of the strips, as part of a layout; only the last one has ticks."""
    count = len(strips)
    gap = 0.32 / count
    height = (1.0 - gap * (count - 1)) / count
    layout: dict = {"annotations": []}
    for row, strip in enumerate(strips, start=1):
        bottom = (count - row) * (height + gap)
        x, y = _axis("x", row), _axis("y", row)
        is_last = row == count
        layout[x.replace("x", "xaxis")] = {
            "anchor": y, "domain": [0.0, 1.0], "range": shown,
            "matches": None if is_last else _axis("x", count),
            "showticklabels": None if is_last else False,
            "title": {"text": "observation t", "font": {"size": 16}} if is_last else None,
            "showgrid": False, "zeroline": False, "tickfont": {"size": 15},
        }  # fmt: skip
        layout[y.replace("y", "yaxis")] = {
            "anchor": x, "domain": [bottom, bottom + height], "range": [-0.3, 1.0],
            "visible": False, "fixedrange": True,
        }  # fmt: skip
        title = {
            "text": strip.title, "font": {"size": 16}, "showarrow": False,
            "x": 0, "xanchor": "left", "xref": "paper",
            "y": bottom + height, "yanchor": "bottom", "yref": "paper",
        }  # fmt: skip
        layout["annotations"].append(title)
    return layout


def _axis(letter: str, row: int) -> str:
    """What Plotly calls an axis of this row, counted from 1."""
    return letter if row == 1 else f"{letter}{row}"


def titled(title: str) -> dict:
    """The title of a figure above its left edge, as part of a layout."""
    # without the pad the figure's edge would cut the hat off Â
    place = {"x": 0, "y": 1, "yanchor": "top", "pad": {"t": 8}}
    return {"title": {"text": title, "font": {"size": 18}, **place}}


def _legend() -> dict:
    return {
        "orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom",
        "font": {"size": 16},
    }  # fmt: skip
