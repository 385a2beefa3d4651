"""The program of the canvases, which the browser fetches once for each page that it loads.

Streamlit puts a component's sources into every message, also those of four times a second while a
run is computed. So a component's own source is a `loader`, and the program has an address.
"""

import json
from pathlib import Path

from starlette.responses import Response
from starlette.routing import Route

from dashboard.model import view
from dashboard.server.routes import route as route_to

_HERE = Path(__file__).parent
_SCRIPTS = (
    "payload.js", "clouds.js", "geometry.js", "marks.js", "disk.js", "learner.js", "charts.js",
    "mount.js", "lab.js", "feed.js", "sketch.js",
)  # fmt: skip
_ADDRESS = "canvas.js"

_LOADER = """
export default async function (component) {
  const program = await import(new URL("./%s", document.baseURI));
  return program.%s(component);
}
"""


def loader(component: str) -> str:
    """The source of a component that is a function in the program."""
    return _LOADER % (_ADDRESS, component)


def source() -> str:
    """All sources as one module, which also holds what it shares with Python."""
    shared = {
        "FURNITURE": {
            "lab": _furniture("lab.html", "disk.css", "lab.css"),
            "sketch": _furniture("sketch.html", "disk.css", "sketch.css"),
        },
        "SWITCHES": view.SHOWN,
        "MOST_ZOOM": view.MOST_ZOOM,
    }
    constants = [f"const {name} = {json.dumps(value)};\n" for name, value in shared.items()]
    return "".join(constants) + _read(*_SCRIPTS)


def route() -> Route:
    """Where the server keeps the program."""

    async def serve(request) -> Response:
        # asked for anew by each page, so that no page works with the program of another version
        headers = {"Cache-Control": "no-cache"}
        return Response(source(), media_type="text/javascript", headers=headers)

    return route_to(_ADDRESS, serve)


def _furniture(page: str, *styles: str) -> str:
    return f"<style>{_read(*styles)}</style>{_read(page)}"


def _read(*files: str) -> str:
    return "\n".join((_HERE / file).read_text(encoding="utf-8") for file in files)
