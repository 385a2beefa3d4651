"""Lets Plotly check figures, which the dashboard itself does not."""

import plotly.graph_objects as go

from dashboard.figures.drawing import Drawing


def checked(drawing: Drawing) -> go.Figure:
    """The figure as an object of Plotly's, which raises at a property or value it does not know."""
    return go.Figure(data=drawing.data, layout=drawing.layout)
