"""A figure that will not change any more."""

from functools import cached_property

import plotly.graph_objects as go


class Drawing(go.Figure):
    """What Streamlit asks of a figure at every rerun of a page is made once, for all visitors.

    To make it takes several milliseconds for each figure, and some pages show twenty.
    """

    @cached_property
    def _content(self) -> dict:
        return super().to_dict()

    def to_dict(self) -> dict:
        """The content of the figure; the caller must not change it."""
        return self._content
