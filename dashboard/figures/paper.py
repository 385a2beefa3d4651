"""The paper's figure of estimated means over many runs, from a sweep of ours."""

import numpy as np

from dashboard.compute.measures import Cloud
from dashboard.compute.shared_cache import shared
from dashboard.figures.drawing import Drawing
from dashboard.figures.maps import map_figure
from dashboard.model.experiment import Experiment
from dashboard.model.marks import STATE_COLOURS, STATE_SYMBOLS
from dashboard.model.spaces.registry import SPACES


@shared(48)
def cloud_map(experiment: Experiment, cloud: Cloud) -> Drawing:
    """The estimated means of all runs on the map, and crosses at the true ones."""
    chart, truth = experiment.chart, SPACES[experiment.space].points(experiment.means)
    count = len(cloud.means)
    title = f"{cloud.title}: {count} run{'' if count == 1 else 's'}"
    none = truth[:0]
    figure = map_figure(chart, title, none, np.empty(0, int), none, np.empty(0), truth)
    for state in range(experiment.n_states):
        x, y = chart.places(cloud.means[:, state]).T
        figure.add(
            "scatter", x=x, y=y, mode="markers",
            marker={
                "color": STATE_COLOURS[state], "symbol": STATE_SYMBOLS[state],
                "size": 9, "opacity": 0.75, "line": {"color": "white", "width": 0.5},
            },
            hovertemplate=f"state {state + 1}: (%{{x:.3f}}, %{{y:.3f}})<extra></extra>",
        )  # fmt: skip
    return figure


@shared(16)
def cloud_distances(experiment: Experiment, shown: list[Cloud]) -> Drawing:
    """How far each estimate is from its true mean: the eye cannot tell near the edge."""
    figure = Drawing()
    for state in range(experiment.n_states):
        x = [cloud.title for cloud in shown for _ in cloud.distances]
        y = np.concatenate([cloud.distances[:, state] for cloud in shown])
        figure.add(
            "box", x=x, y=y, name=f"state {state + 1}", boxpoints="all", pointpos=0, jitter=0.4,
            line={"color": STATE_COLOURS[state]}, fillcolor="rgba(0,0,0,0)",
            marker={"symbol": STATE_SYMBOLS[state], "size": 7},
            hovertemplate=f"state {state + 1}: %{{y:.3f}}<extra></extra>",
        )  # fmt: skip
    distance = SPACES[experiment.space].words.distance
    figure.layout = {
        "boxmode": "group",
        "height": 380,
        "margin": {"l": 0, "r": 0, "t": 10, "b": 0},
        "yaxis": {"title": {"text": f"{distance} to the true mean"}, "type": "log",
                  "tickfont": {"size": 14}, "exponentformat": "none", "dtick": 1},
        "xaxis": {"tickfont": {"size": 15}},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "font": {"size": 15}},
        "dragmode": False,
    }  # fmt: skip
    return figure
