"""Closes the doors of the server that no page needs, and counts who comes in.

- Only the names in ``server.allowedHosts`` are answered, so that no other web site can reach a
  dashboard on a visitor's own machine by a name of its own. Streamlit checks its websocket alone.
- Files are taken only from visitors whose page asks for one, see `uploads`.
- Streamlit's metrics are closed: they are for the server's owner, not for visitors.
- So many visitors are let in at a time as the memory can hold, see `MOST_VISITORS`. The socket of
  an endless stream belongs to one of them and is not counted again.
"""

import os

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnected
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from dashboard.server import uploads
from dashboard.server.flows import is_flow
from dashboard.server.routes import path_to

MOST_VISITORS = int(os.environ.get("RHMM_VISITORS") or 100)
"""Open pages at a time. Each needs a few megabytes, and Streamlit keeps up to 128 closed ones for
two minutes in case they come back."""

_TRY_LATER = 1013
"""The code of a websocket that is closed because the server is full."""

_POLICY = 1008
"""The code of a websocket that is closed because it breaks a rule."""


class Doors:
    """ASGI middleware in front of everything else."""

    def __init__(self, app: ASGIApp, most_visitors: int = MOST_VISITORS):
        self._app = app
        self._most_visitors = most_visitors
        self._visitors = 0
        self._metrics = path_to("_stcore/metrics")
        self._uploads = path_to("_stcore/upload_file")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._connect(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    @property
    def _is_full(self) -> bool:
        return self._visitors >= self._most_visitors

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        allowed = is_host_allowed(Headers(scope=scope).get("host"))
        if allowed and is_flow(scope["path"]):
            await self._app(scope, receive, send)
            return
        if not allowed or self._is_full:
            await send({"type": "websocket.close", "code": _TRY_LATER if allowed else _POLICY})
            return
        self._visitors += 1
        try:
            await self._app(scope, receive, send)
        except WebSocketDisconnected:
            pass  # Streamlit closed a socket that had closed meanwhile
        finally:
            self._visitors -= 1

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, path = Headers(scope=scope), scope["path"]

        async def refuse(status: int, sentence: str) -> None:
            # the body of the request is not read: the connection ends with the answer
            answer = PlainTextResponse(sentence, status, headers={"Connection": "close"})
            await answer(scope, receive, send)

        if not is_host_allowed(headers.get("host")):
            await refuse(421, "This server does not answer to that name (server.allowedHosts).")
        elif _is_at(path, self._metrics):
            await refuse(404, "Not found.")
        elif scope["method"] == "PUT" and _is_at(path, self._uploads):
            session = path.removeprefix(f"{self._uploads}/").partition("/")[0]
            # a body that comes in chunks is longer than any length that is named beside
            length = None if "transfer-encoding" in headers else headers.get("content-length")
            try:
                with uploads.arriving(session, length):
                    await self._app(scope, receive, send)
            except uploads.Refused as refusal:
                await refuse(refusal.status, str(refusal))
        elif self._is_full and "text/html" in headers.get("accept", ""):
            await refuse(503, f"All {self._most_visitors} places are taken. Try again in a minute.")
        else:
            await self._app(scope, receive, send)


def _is_at(path: str, address: str) -> bool:
    return path == address or path.startswith(f"{address}/")
