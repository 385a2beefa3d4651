"""The paper's figure of estimated means over many runs, from a sweep of ours."""

import numpy as np
import plotly.graph_objects as go

from dashboard.compute.measures import Cloud
from dashboard.figures import common
from dashboard.figures.states import STATE_COLOURS, STATE_SYMBOLS
from dashboard.model.experiment import Experiment


def cloud_disk(experiment: Experiment, cloud: Cloud) -> go.Figure:
    """The estimated means of all runs on the disk, and crosses at the true ones."""
    none = np.empty((0, 2))
    title = f"{cloud.title}: {len(cloud.means)} runs"
    truth = np.array(experiment.means)
    figure = common.disk(title, none, np.empty(0), none, np.empty(0), truth)
    for state in range(experiment.n_states):
        x, y = cloud.means[:, state].T
        figure.add_scatter(
            x=x, y=y, mode="markers",
            marker={
                "color": STATE_COLOURS[state], "symbol": STATE_SYMBOLS[state],
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
            line={"color": STATE_COLOURS[state]}, fillcolor="rgba(0,0,0,0)",
            marker={"symbol": STATE_SYMBOLS[state], "size": 7},
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
