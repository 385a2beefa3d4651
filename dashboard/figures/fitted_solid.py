"""Pictures of the Data page that can be turned: the ball of hyperbolic 3-space, and ellipsoids."""

import numpy as np

from dashboard.compute.fits import Fitted
from dashboard.compute.shared_cache import kept_with_it
from dashboard.figures.common import NEUTRAL
from dashboard.figures.drawing import Drawing
from dashboard.model.marks import STATE_COLOURS, STATE_GLYPHS, STATE_SYMBOLS

_SYMBOLS = ("circle", "square", "diamond", "cross", "x")
"""Those that Plotly draws in space too."""
_AROUND, _UP = 49, 33
"""Points of a sphere, around and from pole to pole."""
_GAP = 2.6
"""Between the centres of ellipsoids whose longest half axis is 1."""
_FACE = {"showbackground": False, "visible": False}


@kept_with_it(1)
def ball_figure(fitted: Fitted) -> Drawing:
    """The observations in the ball, in the colours of their states, and the means."""
    picture, figure = fitted.picture, Drawing()
    states = fitted.states[picture.shown]
    _add_rim(figure)
    for state in range(fitted.n_states):
        _add(figure, picture.places[states == state], mode="markers", hoverinfo="skip",
             marker={"color": STATE_COLOURS[state], "size": 2, "opacity": 0.4})  # fmt: skip
    for state, circles in enumerate(picture.outlines):
        for circle in circles:
            _add(figure, circle, mode="lines", hoverinfo="skip",
                 line={"color": STATE_COLOURS[state], "width": 6})  # fmt: skip
    for state, mean in enumerate(picture.means):
        _add(figure, mean[None], mode="markers",
             marker={
                 "color": STATE_COLOURS[state], "symbol": _symbol(state), "size": 9,
                 "line": {"color": "white", "width": 2},
             },
             text=[f"mean of state {state + 1}, σ = {fitted.model.sigmas_[state]:.3f}"],
             hovertemplate="%{text}<extra></extra>")  # fmt: skip
    edge = {**_FACE, "range": [-1.0, 1.0]}
    _lay_out(figure, {"x": edge, "y": edge, "z": edge}, zoom=0.8)
    return figure


@kept_with_it(1)
def ellipsoids_figure(fitted: Fitted) -> Drawing:
    """The mean of each state, a matrix of three rows, as an ellipsoid in a size of its own."""
    figure, n = Drawing(), fitted.n_states
    for state, mean in enumerate(fitted.model.means_):
        x, y, z = _ellipsoid(mean)
        colour = STATE_COLOURS[state]
        figure.add(
            "surface", x=x + _GAP * state, y=y, z=z, surfacecolor=np.zeros_like(z),
            colorscale=[[0.0, colour], [1.0, colour]], showscale=False, hoverinfo="skip",
            lighting={"ambient": 0.65, "diffuse": 0.6, "specular": 0.1},
        )  # fmt: skip
    centres = np.column_stack([_GAP * np.arange(n), np.zeros(n), np.full(n, -1.2)])
    _add(figure, centres, mode="text", textposition="bottom center",  # below them in any size
         text=[f"{STATE_GLYPHS[i]} {i + 1}" for i in range(n)],
         textfont={"size": 16, "color": STATE_COLOURS[:n]}, hoverinfo="skip")  # fmt: skip
    names = fitted.request.held.channels
    corner = np.array([-0.8 * _GAP, 0.0, -1.0])
    for name, way in zip(names, np.eye(3), strict=True):
        _add(figure, np.stack([corner, corner + way]), mode="lines+text", hoverinfo="skip",
             text=["", name], textfont={"size": 13, "color": NEUTRAL},
             line={"color": NEUTRAL, "width": 4})  # fmt: skip
    _lay_out(figure, dict.fromkeys("xyz", _FACE), zoom=0.5 + 0.07 * n, is_wide=True)
    return figure


def ball_in_words(fitted: Fitted) -> str:
    return f"Ball of {len(fitted.picture.shown):,} observations in {fitted.n_states} colours."


def ellipsoids_in_words(fitted: Fitted) -> str:
    return f"The means of {fitted.n_states} states as ellipsoids, side by side."


def _ellipsoid(matrix: np.ndarray) -> np.ndarray:
    """Points x with xᵀ P⁻¹ x = 1 of a positive definite matrix P of three rows, shrunk or grown so
    that the longest half axis is 1; shape (3, up, around)."""
    around, up = np.linspace(0.0, 2.0 * np.pi, _AROUND), np.linspace(0.0, np.pi, _UP)[:, None]
    height = np.broadcast_to(np.cos(up), (_UP, _AROUND))
    sphere = np.stack([np.sin(up) * np.cos(around), np.sin(up) * np.sin(around), height])
    root = np.linalg.cholesky(matrix / np.linalg.eigvalsh(matrix)[-1])
    return np.einsum("ij,jkl->ikl", root, sphere)


def _add_rim(figure: Drawing) -> None:
    """The sphere at infinity: three of its circles."""
    angle = np.linspace(0.0, 2.0 * np.pi, 73)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    for axis in range(3):
        _add(figure, np.insert(circle, axis, 0.0, axis=1), mode="lines", hoverinfo="skip",
             line={"color": NEUTRAL, "width": 2})  # fmt: skip


def _add(figure: Drawing, places: np.ndarray, **trace) -> None:
    x, y, z = places.T.astype(np.float32)
    figure.add("scatter3d", x=x, y=y, z=z, showlegend=False, **trace)


def _symbol(state: int) -> str:
    symbol = STATE_SYMBOLS[state]
    return symbol if symbol in _SYMBOLS else _SYMBOLS[state % len(_SYMBOLS)]


def _lay_out(figure: Drawing, axes: dict[str, dict], zoom: float, is_wide: bool = False) -> None:
    eye = {"x": 0.2, "y": -1.6, "z": 0.5} if is_wide else {"x": 1.0, "y": -1.2, "z": 0.7}
    figure.layout = {
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "scene": {
            **{f"{name}axis": axis for name, axis in axes.items()},
            "aspectmode": "data",
            "camera": {
                "eye": {name: zoom * value for name, value in eye.items()},
                "center": {"x": 0.0, "y": 0.0, "z": -0.12 if is_wide else 0.0},  # names are below
            },
            "dragmode": "orbit",
        },
        "showlegend": False,
    }
