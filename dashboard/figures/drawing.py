"""Figures as plain dictionaries in Plotly's own words.

`plotly.graph_objects` checks every property that it is given, which takes most of the time that a
figure takes: the figures of one run on Compare would hold up all visitors for half a second. Here
nothing is checked; the tests let Plotly check every figure instead.
"""

import base64
from functools import cached_property
from typing import Any

import numpy as np

_CODES = {"float32": "f4", "float64": "f8", "int32": "i4"}
"""What Plotly calls the numbers of an array."""


class Drawing:
    """A figure. What is sent is made once for all visitors: after that it must not change."""

    def __init__(self) -> None:
        self.data: list[dict[str, Any]] = []
        """The traces."""
        self.layout: dict[str, Any] = {}

    def add(self, kind: str, **trace) -> None:
        """Add a trace of this kind, such as a scatter."""
        self.data.append({"type": kind, **trace})

    @cached_property
    def content(self) -> dict[str, Any]:
        """The figure as it is sent: arrays are bytes, and what is None is left out."""
        return {"data": [_sent(trace) for trace in self.data], "layout": _sent(self.layout)}


def _sent(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _sent(value) for name, value in part.items() if value is not None}
    if isinstance(part, np.ndarray) and part.ndim == 1:
        return _packed(part)
    return part.tolist() if isinstance(part, np.ndarray | np.generic) else part


def _packed(array: np.ndarray) -> dict[str, str]:
    numbers = array.astype(np.int32) if array.dtype.kind == "i" else array
    text = base64.b64encode(numbers.tobytes()).decode()
    return {"dtype": _CODES[numbers.dtype.name], "bdata": text}
