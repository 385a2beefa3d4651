import asyncio

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from dashboard.server.unreadable_values import UnreadableValues
from tests.dashboard.server.asking import lets_through

GOOD = WidgetState(id="lab", json_value='{"view": {"k": 5}}')


def request(*states: WidgetState) -> dict:
    sent = BackMsg()
    sent.rerun_script.page_script_hash = "live"
    sent.rerun_script.widget_states.widgets.extend(states)
    return {"type": "websocket.receive", "bytes": sent.SerializeToString()}


def through(message: dict) -> dict:
    """What Streamlit receives when a browser sends this."""
    received = []

    async def streamlit(scope, receive, send):
        received.append(await receive())

    async def receive():
        return message

    asyncio.run(UnreadableValues(streamlit)({"type": "websocket"}, receive, None))
    return received[0]


@pytest.mark.parametrize(
    "text",
    ["", "{", "nonsense", "[1,]", "[" * 100_000, "9" * 5_000, '""', "5"],
    ids=lambda text: text[:8],
)
@pytest.mark.parametrize("field", ["json_value", "json_trigger_value"])
def test_a_value_that_cannot_be_read_is_dropped_and_the_others_stay(field, text):
    forged = WidgetState(id="forged", **{field: text})

    assert through(request(GOOD, forged)) == request(GOOD)


@pytest.mark.parametrize(
    "message",
    [
        request(
            GOOD, WidgetState(id="T", double_value=7.0), WidgetState(id="b", trigger_value=True)
        ),
        request(),
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "bytes": BackMsg(clear_cache=True).SerializeToString()},
        {"type": "websocket.receive", "bytes": b"not what Streamlit speaks"},
        {"type": "websocket.receive", "text": "nor this", "bytes": None},
    ],
    ids=["values", "no values", "connect", "another message", "no protobuf", "text"],
)
def test_other_messages_come_through_as_they_are(message):
    assert through(message) is message


def test_requests_that_are_no_websocket_come_through():
    assert lets_through(UnreadableValues, {"type": "http"})
