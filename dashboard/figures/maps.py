"""A map of a space as a Plotly figure: labelled observations, estimated and true means."""

import numpy as np
from numpy.typing import NDArray

from dashboard.figures.common import NEUTRAL, titled
from dashboard.figures.drawing import Drawing
from dashboard.model.marks import STATE_COLOURS, STATE_SYMBOLS
from dashboard.model.spaces.chart import Chart, Points
from dashboard.model.spaces.registry import SPACES
from dashboard.text.formatting import number

MOST_ELLIPSES = 400
"""Observations that are drawn as ellipses: more of them would be a blot."""

_ON_ELLIPSE = 21
_DOT = 0.01
"""The size of an observation as a share of the map's width."""
_MEAN = 5.0
"""How many times as large as that of an observation the ellipse of a mean is."""


def map_figure(
    chart: Chart,
    title: str,
    points: Points,
    states: NDArray[np.integer],
    means: Points,
    sigmas: NDArray[np.floating],
    true_means: Points | None = None,
    outlines: NDArray[np.floating] | None = None,
) -> Drawing:
    """Labelled points (T, …), estimated means with their σ-balls or these outlines (N, K, 2), and
    crosses at the true means if these are known."""
    figure = Drawing()
    for state in range(int(states.max(initial=-1)) + 1):
        _add_points(figure, chart, state, points[states == state])
    for state, outline in enumerate(
        chart.outlines(means, sigmas) if outlines is None else outlines
    ):
        add_line(figure, state, outline)
    _add_means(figure, chart, means, sigmas)
    if true_means is not None:
        _add_true_means(figure, chart, true_means)
    lay_out(figure, chart.extent, title, is_round=chart.is_round)
    return figure


def _add_points(figure: Drawing, chart: Chart, state: int, points: Points) -> None:
    glyphs = chart.glyphs(points)
    if glyphs is not None:
        x, y = _ellipses(chart, points, glyphs, 1.0)
        figure.add(
            "scatter", x=x, y=y, mode="lines", hoverinfo="skip", opacity=0.6,
            line={"color": STATE_COLOURS[state], "width": 1},
        )  # fmt: skip
        return
    add_dots(figure, state, chart.places(points))


def add_dots(figure: Drawing, state: int, places: NDArray[np.floating]) -> None:
    """Add observations at places (M, 2) in the colour and mark of a state."""
    x, y = places.T.astype(np.float32)  # half the bytes to send
    figure.add(
        "scatter", x=x, y=y, mode="markers", hoverinfo="skip",
        marker={
            "color": STATE_COLOURS[state], "symbol": STATE_SYMBOLS[state],
            "size": 4.5, "opacity": 0.85,
        },
    )  # fmt: skip


def add_line(figure: Drawing, state: int, line: NDArray[np.floating]) -> None:
    """Add a closed line (K, 2) in the colour of a state."""
    x, y = line.T.astype(np.float32)
    # a light line on a dark one is seen on any cloud and on any background
    for colour, width in (("white", 5), (STATE_COLOURS[state], 3)):
        figure.add(
            "scatter", x=x, y=y, mode="lines", hoverinfo="skip",
            line={"color": colour, "width": width},
        )  # fmt: skip


def _add_means(figure: Drawing, chart: Chart, means: Points, sigmas: NDArray[np.floating]) -> None:
    glyphs = chart.glyphs(means)
    if glyphs is not None:
        for state in range(len(means)):
            x, y = _ellipses(chart, means[[state]], glyphs[[state]], _MEAN)
            figure.add(
                "scatter", x=x, y=y, mode="lines", line={"color": "white", "width": 2},
                fill="toself", fillcolor=STATE_COLOURS[state], opacity=0.85, hoverinfo="skip",
            )  # fmt: skip
    x, y = chart.places(means).T
    figure.add(
        "scatter", x=x, y=y, mode="markers", cliponaxis=False,  # a mark at the rim is drawn whole
        marker={
            "color": STATE_COLOURS[: len(means)], "symbol": STATE_SYMBOLS[: len(means)],
            "size": 19 if glyphs is None else 10, "line": {"color": "white", "width": 2},
        },
        text=[
            f"mean of state {i + 1}, σ = {sigma:.3f}<br>{place}"
            for i, (sigma, place) in enumerate(zip(sigmas, _written(chart, means), strict=True))
        ],
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip


def _add_true_means(figure: Drawing, chart: Chart, means: Points) -> None:
    x, y = chart.places(means).T
    figure.add(
        "scatter", x=x, y=y, mode="markers", cliponaxis=False,  # a mark at the rim is drawn whole
        marker={
            "color": "black", "symbol": "x", "size": 8, "line": {"color": "white", "width": 1},
        },
        text=[
            f"true mean of state {i + 1}<br>{place}"
            for i, place in enumerate(_written(chart, means))
        ],
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip


def _written(chart: Chart, points: Points) -> list[str]:
    """The coordinates of each point as people read them; of a recording its place on the map."""
    space = SPACES.get(chart.space)
    rows = chart.places(points) if space is None else space.coords(points)
    return [f"({', '.join(number(value, 3) for value in row)})" for row in rows]


def _ellipses(
    chart: Chart, points: Points, glyphs: NDArray[np.floating], size: float
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """x and y of the ellipses (T, 3) that stand for points, one line with gaps between them."""
    left, _, right, _ = chart.extent
    angles = np.linspace(0.0, 2.0 * np.pi, _ON_ELLIPSE)
    axes = glyphs[:, :2] * (_DOT * size * (right - left))
    along, across = axes[:, [0]] * np.cos(angles), axes[:, [1]] * np.sin(angles)
    cosine, sine = np.cos(glyphs[:, [2]]), np.sin(glyphs[:, [2]])
    places = chart.places(points)
    x = places[:, [0]] + cosine * along - sine * across
    y = places[:, [1]] + sine * along + cosine * across
    gap = ((0, 0), (0, 1))
    x, y = (np.pad(v, gap, constant_values=np.nan).ravel().astype(np.float32) for v in (x, y))
    return x, y


def lay_out(
    figure: Drawing, extent: tuple[float, float, float, float], title: str, *, is_round: bool
) -> None:
    """The frame of a map and its axes, which have the same scale."""
    left, bottom, right, top = extent
    frame = {
        "type": "circle" if is_round else "rect", "layer": "below",
        "x0": left, "y0": bottom, "x1": right, "y1": top,
        "line": {"color": NEUTRAL, "width": 2}, "fillcolor": "rgba(128, 128, 128, 0.07)",
    }  # fmt: skip
    room_x, room_y = 0.01 * (right - left), 0.01 * (top - bottom)
    across = {"visible": False, "range": [left - room_x, right + room_x], "constrain": "domain"}
    up = {"visible": False, "range": [bottom - room_y, top + room_y], "constrain": "domain"}
    figure.layout = {
        **titled(title),
        "shapes": [frame],
        "margin": {"l": 0, "r": 0, "t": 36, "b": 0},
        "xaxis": across,
        "yaxis": {**up, "scaleanchor": "x", "constraintoward": "top"},
        "showlegend": False,
        "dragmode": False,  # a finger on the figure scrolls the page
    }
