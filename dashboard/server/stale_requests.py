"""Drops requests of a page that its visitor has left for another one.

While a job runs, a clock in the browser asks for news of it, and stops only when the next page
begins to arrive; a canvas reports its view a moment late, too. Streamlit would answer such a
request after the next page is complete, and its client would then switch back to the page that was
left, of which nothing more comes: the screen would stay empty.
"""

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState


class StaleRequests:
    """ASGI middleware that drops requests for a part of any page but the one asked for last."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        asked_for = ""  # the page; a session's first request does not name it

        async def receive_current() -> Message:
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

        await self._app(scope, receive_current, send)


def _request_in(message: Message) -> ClientState | None:
    """The request to run a page or a part of it; None if the message is about something else."""
    sent = BackMsg()
    try:
        sent.ParseFromString(message.get("bytes") or b"")
    except DecodeError:  # Streamlit answers it
        return None
    return sent.rerun_script if sent.HasField("rerun_script") else None
