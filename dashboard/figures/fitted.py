"""The figures of the Data page: what was learned from a recording, each with alternative text.

A figure is made once for each result, and is gone with the result: a visitor's data are kept no
longer than the visitor's session.
"""

from collections.abc import Sequence
from html import escape

import numpy as np

from dashboard.compute.counting import Curve
from dashboard.compute.fits import Fitted
from dashboard.compute.outlines import ellipse
from dashboard.compute.shared_cache import kept_with_it
from dashboard.figures.common import DIFFERENCES, NEUTRAL, titled
from dashboard.figures.drawing import Drawing
from dashboard.figures.maps import add_dots, add_line, lay_out
from dashboard.figures.states import state_label
from dashboard.model.marks import STATE_COLOURS, STATE_SYMBOLS
from dashboard.text.formatting import number
from rhmm import Hyperbolic

_MOST_WRITTEN = 6
"""Rows of a matrix whose entries are written into its cells."""
_MOST_NAMED = 12
"""Rows of a matrix that are named."""
_LONGEST_NAME = 12
_TICKS = [digit * 10**power for power in range(6) for digit in (1, 2, 5)]
_LEAST_ARROW = 0.005
"""Transitions that are rarer have no arrow: learned chains have many that never happen."""
_SMALL = 0.014
"""Half the length of a small ellipse, as a share of the map's width."""
_RATIO = 1.15
"""Of the width of a map to its height."""


@kept_with_it(1)
def map_figure(fitted: Fitted) -> Drawing:
    """The observations in the colours of their states, and the means."""
    picture, figure = fitted.picture, Drawing()
    extent = (-1.0, -1.0, 1.0, 1.0)
    if not is_exact(fitted):
        extent = _extent(picture.places, picture.means, *picture.outlines)
    states = fitted.states[picture.shown]
    for state in range(fitted.n_states):
        mine = states == state
        if picture.matrices is None:
            add_dots(figure, state, picture.places[mine])
        else:
            size = _SMALL * (extent[2] - extent[0])
            _add_ellipses(figure, state, picture.places[mine], picture.matrices[mine], size)
    for state, outline in enumerate(picture.outlines):
        add_line(figure, state, outline)
    x, y = picture.means.T
    n = fitted.n_states
    figure.add(
        "scatter", x=x, y=y, mode="markers", cliponaxis=False,  # a mark at the rim is drawn whole
        marker={
            "color": STATE_COLOURS[:n], "symbol": STATE_SYMBOLS[:n], "size": 18,
            "line": {"color": "white", "width": 2},
        },
        text=[f"mean of state {i + 1}, σ = {s:.3f}" for i, s in enumerate(fitted.model.sigmas_)],
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip
    lay_out(figure, extent, "", is_round=is_exact(fitted))
    figure.layout |= {"margin": {"l": 0, "r": 0, "t": 4, "b": 0}, "title": None}
    return figure


def _add_ellipses(
    figure: Drawing, state: int, places: np.ndarray, matrices: np.ndarray, size: float
) -> None:
    """Matrices of two rows at their places, each as its ellipse with the longer half axis `size`:
    how large it is says the map, how long and how it is turned the ellipse."""
    if not len(places):
        return
    longest = np.linalg.eigvalsh(matrices)[:, -1, None, None]
    lines = places[:, None] + size * ellipse(matrices / longest)
    gaps = np.full((len(lines), 1, 2), np.nan)
    x, y = np.concatenate([lines, gaps], axis=1).reshape(-1, 2).T.astype(np.float32)
    figure.add(
        "scatter", x=x, y=y, mode="lines", hoverinfo="skip", opacity=0.8,
        line={"color": STATE_COLOURS[state], "width": 1.5},
    )  # fmt: skip


def is_exact(fitted: Fitted) -> bool:
    """Whether the map shows every distance as it is: the disk is its own map."""
    return fitted.recording.manifold == Hyperbolic(2)


def _extent(*places: np.ndarray) -> tuple[float, float, float, float]:
    """The rectangle around all places, with a little room."""
    every = np.concatenate(places)
    low, high = every.min(axis=0), every.max(axis=0)
    width, height = np.maximum(high - low, 1e-9)
    # a flat frame would leave the room beside the chain empty
    size = 1.08 * np.array([max(width, _RATIO * height), max(height, width / _RATIO)])
    (left, bottom), (right, top) = 0.5 * (low + high - size), 0.5 * (low + high + size)
    return float(left), float(bottom), float(right), float(top)


def map_in_words(fitted: Fitted) -> str:
    shown, total = len(fitted.picture.shown), fitted.n_observed
    count = f"{total:,}" if shown == total else f"{shown:,} of {total:,}"
    return f"Map of {count} observations in the colours of {fitted.n_states} states."


def chain(fitted: Fitted) -> list[list[float]]:
    """The transition matrix for a picture of the chain, without what hardly ever happens."""
    transmat = fitted.model.transmat_
    return np.where(transmat < _LEAST_ARROW, 0.0, transmat).tolist()


# Means


@kept_with_it(1)
def mean_figures(fitted: Fitted) -> list[Drawing]:
    """The mean of each state, a matrix: its correlations, and its standard deviations as bars.

    A matrix of two rows is drawn as its ellipse.
    """
    means, names = fitted.model.means_, fitted.request.held.channels
    deviations = np.sqrt(np.diagonal(means, axis1=1, axis2=2))
    most = 1.05 * float(deviations.max())
    if len(means[0]) == 2:
        most *= float(_further(fitted.model.sigmas_).max())
    figures = []
    for state, (mean, deviation) in enumerate(zip(means, deviations, strict=True)):
        if len(mean) == 2:
            further = _further(fitted.model.sigmas_[state])
            figure = _ellipse_figure(state, mean, further, most, names)
        else:
            figure = _mean_figure(state, mean, deviation, most, names)
        figure.layout |= titled(f"State {state_label(state)}{_label_of(fitted, state)}")
        figures.append(figure)
    return figures


def _further(sigma):
    """By how much an ellipse must grow to be at the distance σ: d(P, cP) = √2 |log c|, and the axes
    grow as √c."""
    return np.exp(sigma / np.sqrt(8.0))


def _ellipse_figure(
    state: int, mean: np.ndarray, further: float, most: float, names: Sequence[str]
) -> Drawing:
    """The ellipse of a mean; dashed, those as much larger and smaller that their distance is σ."""
    x, y = ellipse(mean).T
    figure = Drawing()
    for factor in (1.0 / further, further):
        figure.add(
            "scatter", x=factor * x, y=factor * y, mode="lines", hoverinfo="skip",
            line={"color": NEUTRAL, "width": 2, "dash": "dash"},
        )  # fmt: skip
    figure.add(
        "scatter", x=x, y=y, mode="lines", fill="toself", fillcolor=STATE_COLOURS[state],
        opacity=0.8, line={"color": STATE_COLOURS[state], "width": 3}, hoverinfo="skip",
    )  # fmt: skip
    axis = {"range": [-most, most], "zeroline": True, "fixedrange": True, "tickfont": {"size": 12}}
    figure.layout = {
        "margin": {"l": 0, "r": 0, "t": 36, "b": 0},
        "xaxis": {**axis, "title": {"text": _cut(names[0])}},
        "yaxis": {**axis, "title": {"text": _cut(names[1])}, "scaleanchor": "x"},
        "showlegend": False,
        "dragmode": False,
    }
    return figure


def _label_of(fitted: Fitted, state: int) -> str:
    """The label that is matched with a state, as it stands behind the state's number."""
    label = None if fitted.agreement is None else fitted.agreement.label_of(state)
    return "" if label is None else f", {escape(_cut(fitted.recording.label_names[label]))}"


def _mean_figure(
    state: int, mean: np.ndarray, deviation: np.ndarray, most: float, names: Sequence[str]
) -> Drawing:
    figure, m = Drawing(), len(mean)
    correlations = mean / np.outer(deviation, deviation)
    rows = list(range(m))
    written = m <= _MOST_WRITTEN
    figure.add(
        "heatmap", z=correlations, zmin=-1.0, zmax=1.0, colorscale=DIFFERENCES, showscale=False,
        xgap=1, ygap=1,
        text=[[_short(c) for c in row] for row in correlations] if written else None,
        texttemplate="%{text}" if written else None, textfont={"size": 13},
        hovertext=[
            [f"{a}, {b}: correlation {number(correlations[i, j], 2)}" for j, b in enumerate(names)]
            for i, a in enumerate(names)
        ],
        hoverinfo="text",
    )  # fmt: skip
    figure.add(
        "bar", x=deviation, y=rows, orientation="h", xaxis="x2", yaxis="y",
        marker={"color": STATE_COLOURS[state]},
        text=[f"{name}: standard deviation {d:.3g}, variance {d**2:.3g}"
              for name, d in zip(names, deviation, strict=True)],
        textposition="none", hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip
    hidden = {"showgrid": False, "zeroline": False, "fixedrange": True, "showticklabels": False}
    figure.layout = {
        "margin": {"l": 0, "r": 0, "t": 36, "b": 4},
        "xaxis": {**hidden, "domain": [0.0, 0.72]},
        "xaxis2": {**hidden, "domain": [0.76, 1.0], "anchor": "y", "range": [0.0, most]},
        "yaxis": {
            **hidden, "autorange": "reversed", "automargin": True,
            "showticklabels": m <= _MOST_NAMED, "tickvals": rows,
            "ticktext": [_cut(name) for name in names], "tickfont": {"size": 12}, "ticks": "",
        },
        "showlegend": False,
        "dragmode": False,
        "bargap": 0.25,
    }  # fmt: skip
    return figure


def _short(value: float) -> str:
    """A correlation in a small cell: .65 stands for 0.65."""
    text = number(value, 2)
    return {"1.00": "1", "0.00": "0", "−0.00": "0"}.get(text) or text.replace("0.", ".", 1)


def _cut(name: str) -> str:
    """A name without its unit, not longer than there is room for."""
    name = name.partition(" (")[0]
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def mean_in_words(fitted: Fitted, state: int) -> str:
    mean, names = fitted.model.means_[state], fitted.request.held.channels
    variances = ", ".join(f"{n} {v:.3g}" for n, v in zip(names, np.diag(mean), strict=True))
    return f"Mean of state {state + 1}, a matrix of {len(mean)} rows. Variances: {variances}."


# Stays and numbers of states


@kept_with_it(1)
def stays_figure(fitted: Fitted) -> Drawing:
    """How long each visit to a state lasts: the middle half as a box, the rest as whiskers."""
    figure, found = Drawing(), fitted.visits
    for state in range(fitted.n_states):
        stays = found.of(state)
        if not len(stays):
            continue
        low, q1, middle, q3, high = np.quantile(stays, (0.0, 0.25, 0.5, 0.75, 1.0))
        figure.add(
            "box", x=[state], q1=[q1], median=[middle], q3=[q3], lowerfence=[low],
            upperfence=[high], mean=[stays.mean()], fillcolor="rgba(128, 128, 128, 0.15)",
            line={"color": STATE_COLOURS[state], "width": 3}, width=0.5, showlegend=False,
            hoverinfo="skip",
        )  # fmt: skip
        figure.add(
            "scatter", x=[state], y=[middle], mode="markers", showlegend=False,
            marker={"color": STATE_COLOURS[state], "symbol": STATE_SYMBOLS[state], "size": 11},
            hovertemplate=(
                f"state {state + 1}: {len(stays):,} visits<br>median {middle:,.0f}, "
                f"from {low:,.0f} to {high:,.0f} observations<extra></extra>"
            ),
        )  # fmt: skip
    states = list(range(fitted.n_states))
    figure.layout = {
        "margin": {"l": 0, "r": 10, "t": 10, "b": 0},
        "height": 320,
        "xaxis": {
            "tickvals": states, "ticktext": [state_label(i) for i in states],
            "tickfont": {"size": 15}, "range": [-0.6, fitted.n_states - 0.4], "zeroline": False,
            "fixedrange": True, "showgrid": False,
        },
        "yaxis": {
            "title": {"text": "observations in a row", "font": {"size": 15}}, "type": "log",
            "tickfont": {"size": 14}, "fixedrange": True, "tickvals": _TICKS,
        },
        "dragmode": False,
    }  # fmt: skip
    return figure


def stays_in_words(fitted: Fitted) -> str:
    found = fitted.visits
    medians = (
        f"state {i + 1} {np.median(found.of(i)):,.0f}"
        for i in range(fitted.n_states)
        if len(found.of(i))
    )
    return f"How long states stay. Medians in observations: {', '.join(medians)}."


_CURVES = {
    "bic": ("BIC", "#8A63D2", "solid"),
    "predictive": ("−2 log p held out", "#C2571A", "dash"),
}
"""The name, colour and dash of each criterion."""


def curve_figure(curve: Curve, used: int) -> Drawing:
    """Each criterion above its least for every number of states; a ring around the number that is
    used, and a mark at the one that was found in one pass."""
    figure = Drawing()
    at = np.flatnonzero(curve.n_states == used)
    for key, values in curve.values.items():
        name, colour, dash = _CURVES[key]
        above = values - values.min()
        figure.add(
            "scatter", x=curve.n_states, y=above, mode="lines+markers", name=name,
            line={"color": colour, "width": 3, "dash": dash}, marker={"size": 9},
            hovertemplate=f"%{{x}} states: {name} is %{{y:,.1f}} above its least<extra></extra>",
        )  # fmt: skip
        figure.add(
            "scatter", x=curve.n_states[at], y=above[at], mode="markers", showlegend=False,
            marker={"size": 20, "symbol": "circle-open", "color": NEUTRAL, "line": {"width": 3}},
            hoverinfo="skip",
        )  # fmt: skip
    if curve.online is not None:
        figure.add(
            "scatter", x=[curve.online], y=[0.0], mode="markers", name="one pass",
            marker={"size": 13, "symbol": "triangle-up", "color": "#00806A"}, cliponaxis=False,
            hovertemplate="one pass found %{x} states<extra></extra>",
        )  # fmt: skip
    figure.layout = {
        "margin": {"l": 0, "r": 10, "t": 10, "b": 0},
        "height": 320,
        "xaxis": {
            "title": {"text": "number of states", "font": {"size": 15}}, "dtick": 1,
            "tickfont": {"size": 14}, "zeroline": False, "fixedrange": True,
        },
        "yaxis": {
            "title": {"text": "above its least", "font": {"size": 15}}, "nticks": 6,
            "tickfont": {"size": 14}, "zeroline": False, "fixedrange": True, "rangemode": "tozero",
        },
        "legend": {"x": 1.0, "xanchor": "right", "y": 1.0, "font": {"size": 14}},
        "dragmode": False,
    }  # fmt: skip
    return figure
