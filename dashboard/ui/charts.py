"""Mounts figures on a page."""

from functools import cache
from typing import Any

import plotly.io
import streamlit as st
from plotly.basedatatypes import BaseFigure

from dashboard.figures.common import CONFIG
from dashboard.figures.drawing import Drawing


class _Ready(BaseFigure):
    """A drawing as Streamlit takes it: a dictionary it would check, a figure it believes."""

    def __init__(self, drawing: Drawing):
        self._drawing = drawing

    def to_dict(self) -> dict[str, Any]:
        content = self._drawing.content
        kinds = frozenset(trace["type"] for trace in content["data"])
        return {**content, "layout": {**content["layout"], "template": _template(kinds)}}


@cache
def _template(kinds: frozenset[str]) -> dict[str, Any]:
    """What Streamlit's theme says of these kinds of traces; it says as much of forty others."""
    theme = plotly.io.templates[plotly.io.templates.default].to_plotly_json()
    return theme | {"data": {kind: theme["data"][kind] for kind in kinds & theme["data"].keys()}}


def chart(drawing: Drawing, *, key: str, alt: str, **options) -> None:
    """Mount a figure; `alt` says it to those who cannot see it."""
    st.plotly_chart(_Ready(drawing), key=key, alt=alt, config=CONFIG, **options)
