"""Asks the server as a browser does: for a file, or through a middleware."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from dashboard.server import offers


def answer(address: str) -> Response:
    """What the server answers to a click on a link."""
    route = offers.route()
    scope = {"type": "http", "method": "GET", "path": address.removeprefix("."), "headers": []}
    match, found = route.matches(scope)
    assert match is Match.FULL
    return asyncio.run(route.endpoint(Request(scope | found)))


def lets_through(middleware: type, scope: dict) -> bool:
    """Whether a request of this scope comes through the middleware as it was sent."""
    seen = []

    async def streamlit(*request):
        seen.append(request)

    asyncio.run(middleware(streamlit)(scope, "receive", "send"))
    return seen == [(scope, "receive", "send")]
