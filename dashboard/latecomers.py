"""Keeps out what a page still asks for after its visitor has gone to another one.

While a job runs, its page asks for news by a clock in the browser, which stops only when the next
page begins to come; a canvas tells what it shows a moment later, too. Streamlit would answer when
the next page is complete, and its client would take the answer for the way back to a page of which
nothing comes: the screen would stay empty.
"""

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState


class Latecomers:
    """Drops requests for a part of a page that is not the one asked for last."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        asked_for = ""  # the page; the first of a session is not named

        async def receive_in_time() -> Message:
            nonlocal asked_for
            while True:
                message = await receive()
                request = _request_in(message)
                if request is None:
                    return message
                if not request.fragment_id:
                    asked_for = request.page_script_hash
                if not asked_for or request.page_script_hash == asked_for:
                    return message

        await self._app(scope, receive_in_time, send)


def _request_in(message: Message) -> ClientState | None:
    """To run the page or a part of it; None if that is not what the message is about."""
    sent = BackMsg()
    try:
        sent.ParseFromString(message.get("bytes") or b"")
    except DecodeError:  # Streamlit knows what to say to that
        return None
    return sent.rerun_script if sent.HasField("rerun_script") else None
