import asyncio

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from dashboard.server.stale_requests import StaleRequests
from tests.dashboard.server.asking import lets_through


def request(page: str, part: str = "") -> dict:
    sent = BackMsg()
    sent.rerun_script.page_script_hash = page
    sent.rerun_script.fragment_id = part
    return {"type": "websocket.receive", "bytes": sent.SerializeToString()}


def through(*messages: dict) -> list[dict]:
    """Those that arrive when these are sent."""
    end = {"type": "websocket.disconnect", "code": 1000}
    waiting, arrived = iter([*messages, end]), []

    async def streamlit(scope, receive, send):
        while (message := await receive()) != end:
            arrived.append(message)

    async def receive():
        return next(waiting)

    asyncio.run(StaleRequests(streamlit)({"type": "websocket"}, receive, None))
    return arrived


def test_requests_of_a_page_that_was_left_are_dropped():
    before, after = request("live", "picture"), request("truth")

    assert through(before, after, before, before) == [before, after]


def test_a_visitor_who_comes_back_to_a_page_is_answered():
    look, leave, back = request("live", "picture"), request("truth"), request("live")

    assert through(look, leave, back, look) == [look, leave, back, look]


def test_parts_of_the_first_page_are_answered_though_no_request_named_it():
    first, look = request(""), request("live", "picture")

    assert through(first, look, look) == [first, look, look]


@pytest.mark.parametrize(
    "other",
    [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "bytes": BackMsg(clear_cache=True).SerializeToString()},
        {"type": "websocket.receive", "bytes": b"not what Streamlit speaks"},
        {"type": "websocket.receive", "text": "nor this", "bytes": None},
    ],
)
def test_other_messages_come_through(other):
    assert through(request("truth"), other) == [request("truth"), other]


def test_requests_that_are_no_websocket_come_through():
    assert lets_through(StaleRequests, {"type": "http"})
