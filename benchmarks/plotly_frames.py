"""The default run as Plotly frames: what the canvas is compared with. A Streamlit app.

The same picture as the Live lab's: cloud, trails, means, σ-circles, the observations held, the
curves of A with their truth, and the errors.
"""

import plotly.graph_objects as go
import streamlit as st

from dashboard.compute.precomputed_run import default_run
from dashboard.compute.runs import observations_held
from dashboard.model.marks import STATE_COLOURS, STATE_SYMBOLS
from dashboard.model.spaces.disk import DISK_CHART
from rhmm.scoring import path_errors

FRAMES = 200
KEY = "windowed"
"""The learner that is drawn."""


@st.cache_data
def animation() -> go.Figure:
    run = default_run()
    trace, n, truth = run.path(KEY), run.experiment.n_states, run.experiment.source.true_model()
    errors = path_errors(trace.transmat, trace.means, truth)
    held = observations_held(run.experiment, KEY)
    cloud = [
        go.Scatter(
            x=run.points[run.true_states == i, 0],
            y=run.points[run.true_states == i, 1],
            mode="markers",
            marker={"size": 4, "color": STATE_COLOURS[i], "symbol": STATE_SYMBOLS[i]},
            opacity=0.4,
        )
        for i in range(n)
    ]

    def on_disk(k):
        step = trace.step[k]
        circles = DISK_CHART.outlines(trace.means[k], trace.sigmas[k])
        yield run.points[step - held : step].T, "markers", "#555555"
        for i in range(n):
            yield trace.means[: k + 1, i].T, "lines", STATE_COLOURS[i]
            yield circles[i].T, "lines", STATE_COLOURS[i]
            yield trace.means[k : k + 1, i].T, "markers", STATE_COLOURS[i]

    def moving(k):
        disk = [
            go.Scatter(x=x, y=y, mode=mode, line={"color": colour}, marker={"color": colour})
            for (x, y), mode, colour in on_disk(k)
        ]
        curves = [
            go.Scatter(
                x=trace.step[: k + 1],
                y=trace.transmat[: k + 1, i, j],
                mode="lines",
                xaxis=f"x{i + 2}",
                yaxis=f"y{i + 2}",
                line={"color": STATE_COLOURS[j]},
            )
            for i in range(n)
            for j in range(n)
        ]
        wrong = [
            go.Scatter(
                x=trace.step[: k + 1], y=error[: k + 1], mode="lines", xaxis="x5", yaxis="y5"
            )
            for error in errors
        ]
        return disk + curves + wrong

    stride = -(-len(trace.step) // FRAMES)
    first = moving(0)
    figure = go.Figure(
        cloud + first,
        frames=[
            go.Frame(data=moving(k), traces=list(range(n, n + len(first))), name=str(k))
            for k in range(0, len(trace.step), stride)
        ],
    )
    time = {"range": [0, run.experiment.length]}
    places = [([0.55, 0.75], [0.55, 1]), ([0.8, 1], [0.55, 1]), ([0.55, 0.75], [0, 0.45])]
    for i, (across, up) in enumerate(places):
        figure.update_layout(
            {
                f"xaxis{i + 2}": {"domain": across, "anchor": f"y{i + 2}", **time},
                f"yaxis{i + 2}": {"domain": up, "anchor": f"x{i + 2}", "range": [0, 1]},
            }
        )
        for j in range(n):
            figure.add_hline(
                truth.transmat_[i, j], line={"dash": "dash"}, xref=f"x{i + 2}", yref=f"y{i + 2}"
            )
    # the quickest that Plotly offers: no redraw, no transition, no pause
    play = {"frame": {"duration": 0, "redraw": False}, "transition": {"duration": 0}}
    figure.update_layout(
        xaxis={"domain": [0, 0.5], "range": [-1, 1]},
        yaxis={"range": [-1, 1]},
        xaxis5={"domain": [0.8, 1], "anchor": "y5", **time},
        yaxis5={"domain": [0, 0.45], "anchor": "x5", "type": "log", "range": [-3, 0]},
        height=600,
        showlegend=False,
        updatemenus=[
            {
                "type": "buttons",
                "buttons": [{"label": "Play", "method": "animate", "args": [None, play]}],
            }
        ],
    )
    return figure


st.set_page_config(layout="wide")
st.plotly_chart(animation())
