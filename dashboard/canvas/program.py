"""The program of the canvases: ES modules that the browser fetches, each under its own address.

Streamlit puts a component's source into every message, also those of four times a second while a
run is computed. So a component's own source is a small `loader`, and the modules have addresses:
``canvas/<version>/<file>.js``, as seen from a page.

The version is a digest of all modules. A page thus never mixes modules of two versions, and a
browser may keep them for ever.
"""

import hashlib
import json
from functools import cache

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.canvas.shared import HERE, shared_module

ADDRESS = "canvas/{version}/{file:path}"
"""Where `serve` answers, as seen from a page."""

# All modules are asked for at once: each import inside them then finds what it needs on its way,
# where otherwise one would be asked for only after another has come.
_LOADER = """
export default async function (component) {
  const load = (file) => import(new URL(`./canvas/%s/${file}.js`, document.baseURI));
  %s.forEach(load);
  return (await load("%s")).%s(component);
}
"""

_LATER = ("lesson/", "stream/")
"""Folders of modules that one page alone needs: no other page waits for them."""


@cache
def modules() -> dict[str, str]:
    """The source of each module by its file name, for example ``charts/plane.js``."""
    files = sorted(HERE.rglob("*.js"))
    sources = {file.relative_to(HERE).as_posix(): file.read_text("utf-8") for file in files}
    return sources | {"shared.js": shared_module()}


@cache
def version() -> str:
    """The same for the same modules."""
    return hashlib.sha256(json.dumps(modules()).encode()).hexdigest()[:12]


def loader(module: str) -> str:
    """The source of a component: a function of a module, named as the module is.

    For example ``lab`` in lab.js, or ``stream`` in stream/stream.js.
    """
    own = [
        file for file in modules() if module.startswith(_LATER) and _folder(file) == _folder(module)
    ]
    files = [*first_modules(), *own]
    others = json.dumps([file.removesuffix(".js") for file in files])
    return _LOADER % (version(), others, module, module.rpartition("/")[2])


def first_modules() -> list[str]:
    """Those that the first page needs, or another without a folder of its own."""
    return [file for file in modules() if not file.startswith(_LATER)]


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


async def serve(request: Request) -> Response:
    """One module. Those of another version are not here: a page that wants them is out of date."""
    source = modules().get(request.path_params["file"])
    if source is None or request.path_params["version"] != version():
        return Response(status_code=404)
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(source, media_type="text/javascript", headers=headers)


class Preload:
    """Middleware that names the modules in the head of every page.

    The browser then fetches them while Streamlit starts, after all that Streamlit needs for that.
    When a component asks for them they are there: on a slow line that saves a round trip for every
    six of them.
    """

    def __init__(self, app: ASGIApp):
        self._app = app
        links = (f"<./canvas/{version()}/{file}>" for file in first_modules())
        self._links = ", ".join(f"{link}; rel=modulepreload; fetchpriority=low" for link in links)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_links(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    headers.append("Link", self._links)
            await send(message)

        await self._app(scope, receive, send_with_links if scope["type"] == "http" else send)
