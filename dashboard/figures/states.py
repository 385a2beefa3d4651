"""How a state looks. It keeps its colour and its mark in every figure, text and canvas."""

from collections.abc import Sequence

import numpy as np

from dashboard.model.marks import STATE_COLOURS, STATE_GLYPHS


def state_label(state: int) -> str:
    """The state's number beside its mark, in the little HTML that Plotly understands."""
    mark = f'<span style="color:{STATE_COLOURS[state]}">{STATE_GLYPHS[state]}</span>'
    return f"{mark} {state + 1}"


def legend(n_states: int, rest: str) -> str:
    """The marks of the states and what else a figure needs to be read, in HTML."""
    marks = (f"<span>State {state_label(i)}</span>" for i in range(n_states))
    return f'<p class="legend">{" ".join(marks)} {rest}</p>'


def ink(colour: Sequence[float]) -> str:
    """Black or white, whichever is easier to read on this colour (red, green, blue from 0 to 1)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    luminance = np.dot(linear, (0.2126, 0.7152, 0.0722))  # as WCAG has it
    return "#111" if (luminance + 0.05) ** 2 > 0.05 * 1.05 else "#fff"
