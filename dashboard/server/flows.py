"""The address at which a browser reads an endless stream, and tells it what its visitor does.

A web socket, since every way to a dashboard lets those through: a proxy that collects an answer
before it hands it on would hold back a streamed one. News go out as bytes, orders come in as JSON.
A stream without a reader stands still, and ends after a while.
"""

import asyncio
import json
from contextlib import suppress

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from dashboard.canvas.stream_messages import news_message, read_order
from dashboard.compute.stream_workers import LiveStream, workers
from dashboard.server.routes import path_to

ADDRESS = "flow"
"""As seen from a page; the token of the stream follows."""

GONE = 4404
"""The code with which a socket is closed when there is no such stream."""

GRACE = 20.0
"""Seconds that a stream waits for its browser to come back."""

_HEARTBEAT = 2.0
"""Seconds after which an empty message says that the server is there."""

_MOST_ORDER = 2_000
"""Letters of an order, at most."""


def address_of(stream: LiveStream) -> str:
    """Where a browser finds the stream, as seen from a page."""
    return f"./{ADDRESS}/{stream.token}"


def is_flow(path: str) -> bool:
    """Whether this is the path of a stream's socket."""
    return path.startswith(path_to(f"{ADDRESS}/"))


def route() -> WebSocketRoute:
    """The route to all streams."""
    return WebSocketRoute(path_to(f"{ADDRESS}/{{token}}"), serve)


_readers: dict[str, object] = {}
"""The latest reader of each stream: one that comes later takes its place."""


async def serve(socket: WebSocket) -> None:
    """Send news until the browser or the stream has gone."""
    token = socket.path_params["token"]
    stream = workers().find(token)
    await socket.accept()
    if stream is None:
        await socket.close(GONE)
        return
    me, loop, called = object(), asyncio.get_running_loop(), asyncio.Event()
    _readers[token] = me
    stream.read_by(lambda: _call(loop, called))
    listening = asyncio.create_task(_listen(socket, token))
    del stream  # its session keeps it, not a browser
    try:
        await _send_news(socket, token, me, called, listening)
    except (WebSocketDisconnect, RuntimeError):  # it has gone in the middle of a message
        pass
    finally:
        listening.cancel()
        if _readers.get(token) is me:
            del _readers[token]
            _leave(token)


def _call(loop: asyncio.AbstractEventLoop, called: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the server has stopped
        loop.call_soon_threadsafe(called.set)


async def _send_news(
    socket: WebSocket, token: str, me: object, called: asyncio.Event, listening: asyncio.Task
) -> None:
    known = None
    while not listening.done() and _readers.get(token) is me:
        with suppress(TimeoutError):
            await asyncio.wait_for(called.wait(), _HEARTBEAT)
        called.clear()
        stream = workers().find(token)
        if stream is None:
            await socket.close(GONE)
            return
        if not stream.waiting:
            await socket.send_bytes(b"")
        while stream.waiting:
            report = stream.waiting.popleft()
            await socket.send_bytes(news_message(report, known))
            known = report.news.script
        del stream


async def _listen(socket: WebSocket, token: str) -> None:
    """Hand on what the visitor does; nonsense is ignored."""
    with suppress(WebSocketDisconnect, RuntimeError):
        while True:
            try:
                text = await socket.receive_text()
            except KeyError:  # these are bytes, which no canvas sends
                continue
            order = _order_in(text)
            stream = workers().find(token)
            if stream is None:
                return
            if order is not None:
                stream.order(*order)


def _order_in(text: str) -> tuple | None:
    if len(text) > _MOST_ORDER:
        return None
    try:
        return read_order(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _leave(token: str) -> None:
    """No browser reads the stream: it stands still, and ends unless one comes back."""
    stream = workers().find(token)
    if stream is not None:
        stream.read_by(None)
        asyncio.get_running_loop().call_later(GRACE, _end, token)


def _end(token: str) -> None:
    stream = workers().find(token)
    if stream is not None and token not in _readers:
        stream.close()
