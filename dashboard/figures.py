"""Plotly figures. A state keeps its colour and its marker in every one of them."""

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

# Okabe–Ito, those with the most contrast on white and on black first; grey stands for their black.
STATE_COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#F0E442",
    "#999999",
)
STATE_SYMBOLS = (
    "circle",
    "triangle-up",
    "square",
    "diamond",
    "triangle-down",
    "pentagon",
    "star",
    "hexagon",
)

# Grey of this lightness stands out from the light and the dark background alike.
NEUTRAL = "#808080"


def poincare_disk(
    points: NDArray[np.floating],
    states: NDArray[np.integer],
    means: NDArray[np.floating],
) -> go.Figure:
    """Draw `points` (T, 2) in the unit disk by hidden state, with the `means` (N, 2) as crosses."""
    figure = go.Figure()
    for state in range(len(means)):
        x, y = points[states == state].T
        figure.add_scatter(
            x=x,
            y=y,
            mode="markers",
            name=f"state {state + 1}",
            marker={
                "color": STATE_COLOURS[state],
                "symbol": STATE_SYMBOLS[state],
                "size": 7,
                "opacity": 0.85,
                # a thin light rim keeps neighbours apart where the cloud is dense
                "line": {"color": "rgba(255, 255, 255, 0.6)", "width": 0.6},
            },
            hovertemplate="(%{x:.3f}, %{y:.3f})",
        )
    figure.add_scatter(
        x=means[:, 0],
        y=means[:, 1],
        mode="markers",
        name="true means",
        marker={
            "color": "black",
            "symbol": "x",
            "size": 15,
            "line": {"color": "white", "width": 2},
        },
        text=[f"mean of state {state + 1}" for state in range(len(means))],
        hovertemplate="%{text}<br>(%{x:.3f}, %{y:.3f})<extra></extra>",
    )
    figure.add_shape(
        type="circle",
        x0=-1,
        y0=-1,
        x1=1,
        y1=1,
        line={"color": NEUTRAL, "width": 2},
        fillcolor="rgba(128, 128, 128, 0.07)",
        layer="below",
    )
    axis = {"visible": False, "range": [-1.02, 1.02], "constrain": "domain"}
    figure.update_layout(
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        xaxis=axis,
        # The disk hangs from the legend, so a narrow screen has no hole between the two.
        yaxis={**axis, "scaleanchor": "x", "constraintoward": "top"},
        legend={
            "orientation": "h",
            "x": 0.5,
            "xanchor": "center",
            "y": 1.0,
            "yanchor": "bottom",
            "font": {"size": 16},
            "itemsizing": "constant",
        },
        dragmode=False,  # a finger on the plot scrolls the page
    )
    return figure
