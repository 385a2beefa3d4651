"""How a state looks: its colour and its shape, the same in every figure and on every canvas."""

from typing import NamedTuple


class Mark(NamedTuple):
    """One state's colour, and its shape as each place that draws it needs it."""

    colour: str
    symbol: str
    """Plotly's name of the shape."""
    glyph: str
    """The shape as a letter, for text."""
    pattern: str
    """Plotly's hatching for areas, where there is no room for a marker."""
    corners: int
    """Of the shape on a canvas; 0 is a circle."""
    turn: float = 0.0
    """Where its first corner is, in quarter turns from the right, clockwise."""
    outer: float = 1.0
    """The corners' distance from the centre, for a circle of radius 1."""
    inner: float | None = None
    """The distance of the corners between, if it is a star."""


# Okabe–Ito, those with the most contrast on white and on black first; grey stands for their black,
# and olive for their yellow, which cannot be seen on white.
MARKS = (
    Mark("#0072B2", "circle", "●", "", corners=0),
    Mark("#D55E00", "triangle-up", "▲", "/", corners=3, turn=-1.0, outer=1.25),
    Mark("#009E73", "square", "■", ".", corners=4, turn=0.5, outer=1.25),
    Mark("#CC79A7", "diamond", "◆", "\\", corners=4, outer=1.25),
    Mark("#E69F00", "triangle-down", "▼", "-", corners=3, turn=1.0, outer=1.25),
    Mark("#56B4E9", "pentagon", "⬟", "x", corners=5, turn=-1.0, outer=1.1),
    Mark("#8B992E", "star", "★", "|", corners=5, turn=-1.0, outer=1.35, inner=0.55),
    Mark("#999999", "hexagon", "⬢", "+", corners=6, turn=-1.0, outer=1.1),
)

# Recordings may have more states than a simulated chain, and no canvas draws them. Plotly has no
# further patterns: these are told apart by their colours there.
FURTHER_MARKS = (
    Mark("#A6761D", "cross", "✚", "", corners=0),
    Mark("#7A6FD6", "x", "✖", "/", corners=0),
    Mark("#D6336C", "star-diamond", "✦", ".", corners=0),
    Mark("#4F9D4A", "triangle-right", "►", "\\", corners=0),
)

ALL_MARKS = MARKS + FURTHER_MARKS
STATE_COLOURS = tuple(mark.colour for mark in ALL_MARKS)
STATE_SYMBOLS = tuple(mark.symbol for mark in ALL_MARKS)
STATE_GLYPHS = "".join(mark.glyph for mark in ALL_MARKS)
STATE_PATTERNS = tuple(mark.pattern for mark in ALL_MARKS)
