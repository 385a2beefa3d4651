"""What of the pictures is shown, and from where. The link keeps it too."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

SWITCHES = ("circles", "trails", "held", "grid")
SHOWN = (*SWITCHES, "em", "kmeans")
"""Switches of the picture, and keys of the methods that can be shown beside the online one."""
COLOURS = ("true", "decoded")
QUERY = ("show", "colour", "k", "look", "t")
"""Names in a link."""
MOST_ZOOM = 60.0
_DIGITS = 4


@dataclass(frozen=True)
class View:
    """Of the Live lab: switches, colours, the moment k (None: play), where the disk is looked at.

    Of Compare: from where to where its timeline goes.
    """

    show: tuple[str, ...] = ("circles", "trails", "held")
    colour: str = "true"
    k: int | None = None
    x: float = 0.0
    y: float = 0.0
    zoom: float = 1.0
    pan_x: float = 0.0
    pan_y: float = 0.0
    timeline: tuple[int, int] = (1, 200)

    def to_query(self) -> dict[str, str]:
        """What differs from the default, for a link."""
        query, plain = {}, View()
        if self.show != plain.show:
            query["show"] = ",".join(self.show) or "nothing"
        if self.colour != plain.colour:
            query["colour"] = self.colour
        if self.k is not None:
            query["k"] = str(self.k)
        if (self.x, self.y, self.zoom, self.pan_x, self.pan_y) != (0, 0, 1, 0, 0):
            place = (self.x, self.y, self.zoom, self.pan_x, self.pan_y)
            query["look"] = ",".join(f"{value:.{_DIGITS}f}" for value in place)
        if self.timeline != plain.timeline:
            query["t"] = ",".join(map(str, self.timeline))
        return query

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> "View":
        """Looks do no harm: what cannot be read stays at its default without a word."""
        values = {}
        if "show" in query:
            values["show"] = query["show"].split(",")
        if "colour" in query:
            values["colour"] = query["colour"]
        if query.get("k", "").isdecimal() and len(query["k"]) < 10:
            values["k"] = int(query["k"])
        try:
            place = [float(part) for part in query.get("look", "").split(",")]
            values |= dict(zip(("x", "y", "zoom", "panX", "panY"), place, strict=True))
        except ValueError:
            pass
        view = cls.from_browser(values)
        ends = query.get("t", "").split(",")
        if len(ends) == 2 and all(end.isdecimal() and len(end) < 10 for end in ends):
            first = max(1, int(ends[0]))
            view = replace(view, timeline=(first, max(first, int(ends[1]))))
        return view

    @classmethod
    def from_browser(cls, sent: Mapping) -> "View":
        """From what the canvas reports, kept within what the canvas can show."""
        shown = sent.get("show", cls.show)
        colour = sent.get("colour", cls.colour)
        x, y = _number(sent.get("x"), 0.0), _number(sent.get("y"), 0.0)
        if math.hypot(x, y) > 0.999:
            x, y = 0.0, 0.0
        zoom = min(MOST_ZOOM, max(1.0, _number(sent.get("zoom"), 1.0)))
        pans = [min(1.0, max(-1.0, _number(sent.get(name), 0.0))) for name in ("panX", "panY")]
        return cls(
            show=tuple(name for name in SHOWN if name in shown),
            colour=colour if colour in COLOURS else cls.colour,
            k=sent["k"] if isinstance(sent.get("k"), int) else None,
            x=round(x, _DIGITS),
            y=round(y, _DIGITS),
            zoom=round(zoom, _DIGITS),
            pan_x=round(pans[0], _DIGITS),
            pan_y=round(pans[1], _DIGITS),
        )

    def for_browser(self) -> dict:
        return {
            "show": list(self.show),
            "colour": self.colour,
            "k": self.k,
            "x": self.x,
            "y": self.y,
            "zoom": self.zoom,
            "panX": self.pan_x,
            "panY": self.pan_y,
        }


def _number(value, default: float) -> float:
    number = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if number else default
