"""Drops values of components that Streamlit could not read.

The state of a component is a JSON object, and its events are one or a list of such. Streamlit
believes the browser here: any other value would raise each time the page runs, until the visitor
opens it anew. No browser sends one; a forged message may.
"""

import json

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

_FORMS: dict[str, tuple[type, ...]] = {"json_value": (dict,), "json_trigger_value": (list, dict)}


class UnreadableValues:
    """ASGI middleware that takes such values out of the messages of browsers."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_readable() -> Message:
            return _readable(await receive())

        is_socket = scope["type"] == "websocket"
        await self._app(scope, receive_readable if is_socket else receive, send)


def _readable(message: Message) -> Message:
    """The same message if all its values can be read, else one without those that cannot."""
    sent = BackMsg()
    try:
        sent.ParseFromString(message.get("bytes") or b"")
    except DecodeError:  # Streamlit answers it
        return message
    if not sent.HasField("rerun_script"):
        return message
    states = sent.rerun_script.widget_states
    kept = [state for state in states.widgets if _can_be_read(state)]
    if len(kept) == len(states.widgets):
        return message
    del states.widgets[:]
    states.widgets.extend(kept)
    return {**message, "bytes": sent.SerializeToString()}


def _can_be_read(state) -> bool:
    field = state.WhichOneof("value")
    if field not in _FORMS:
        return True
    try:
        value = json.loads(getattr(state, field))
    except (ValueError, RecursionError):
        return False
    return isinstance(value, _FORMS[field])
