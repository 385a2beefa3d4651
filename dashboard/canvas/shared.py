"""What Python and the browser both need: Python says it, and the browser imports it as shared.js.

The table of marks is in `dashboard.model.marks`, the switches and limits are in
`dashboard.model.view`. The types of the module are in shared.d.ts.
"""

import json
from pathlib import Path

from dashboard.model.marks import MARKS
from dashboard.model.view import MOST_ZOOM, SWITCHES

HERE = Path(__file__).parent


def shared_module() -> str:
    """The source of shared.js."""
    constants = {
        "MARKS": [
            {
                "colour": mark.colour,
                "corners": mark.corners,
                "turn": mark.turn,
                "outer": mark.outer,
                "inner": mark.inner,
            }
            for mark in MARKS
        ],
        "SWITCHES": SWITCHES,
        "MOST_ZOOM": MOST_ZOOM,
        "MARKUP": {
            "lab": _markup("lab.html", "picture.css", "lab.css"),
            "sketch": _markup("sketch.html", "picture.css", "sketch.css"),
            "stream": _markup("stream.html", "picture.css", "stream.css"),
            "lesson": _markup("lesson.html", "picture.css", "lesson.css"),
        },
    }
    return "".join(
        f"export const {name} = {json.dumps(value)};\n" for name, value in constants.items()
    )


def _markup(page: str, *styles: str) -> str:
    """The HTML that a component begins with, and its styles."""
    css = "\n".join(_read(style) for style in styles)
    return f"<style>{css}</style>{_read(page)}"


def _read(file: str) -> str:
    return (HERE / file).read_text(encoding="utf-8")
