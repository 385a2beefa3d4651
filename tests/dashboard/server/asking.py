"""Asks for a file as a browser does that follows a link of a page."""

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
