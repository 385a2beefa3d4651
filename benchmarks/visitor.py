"""Visitors without a browser: they speak Streamlit's protocol over a raw websocket.

So thirty of them cost the machine little beside the server that they measure.
"""

import asyncio
import json
import re
import time
from collections.abc import Iterable
from contextlib import suppress

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

PAGES = ("", "stream", "how_it_works", "truth", "compare", "tradeoff")
"""Their names in the address."""

EVENTS = "$$STREAMLIT_INTERNAL_KEY_{}__events"
"""The id under which a component sends its events."""

_FLOW = re.compile(rb"\./(flow/[\w-]+)")
"""Where an endless stream is, in what is said to its canvas."""


class Visitor:
    """One open page. Make it with `await Visitor.arrive(address)`."""

    def __init__(self, socket: ClientConnection, address: str):
        self._socket = socket
        self._address = address
        self._flow = ""
        """The endless stream that the page shows, if it does."""
        self._reading: asyncio.Task | None = None
        self._news = asyncio.Event()
        """Whether that stream has spoken."""
        self.session = ""
        """The server's name for this visitor."""
        self.page = ""
        """Its name."""
        self._page_hash = ""
        self._asked_for_fragment = False
        self.widgets: dict[str, tuple[str, str]] = {}
        """Kind and label of all widgets on the page, by their ids."""
        self.canvases: dict[str, tuple[str, str]] = {}
        """Key of each canvas, and the fragment that it is in, by its id."""
        self.polls: dict[str, float] = {}
        """Fragments that the page wants to run again and again, and every how many seconds."""
        self.exceptions: list[str] = []
        """All that the page has shown since it was opened."""
        self.words: list[str] = []
        """Texts of the last run."""
        self.received = 0
        """Bytes."""

    @classmethod
    async def arrive(cls, address: str, page: str = "", query: str = "") -> "Visitor":
        """Open a page and wait until its script has finished."""
        address = address.replace("http", "ws", 1)
        socket = await connect(
            f"{address}/_stcore/stream", subprotocols=["streamlit"], max_size=None, compression=None
        )
        visitor = cls(socket, address)
        await visitor.go(page, query)
        return visitor

    async def leave(self) -> None:
        self._read("")
        await self._socket.close()

    # Requests

    async def go(self, page: str = "", query: str = "") -> float:
        """Open a page by its name; the seconds until its script has finished."""
        self.page = page
        self._page_hash = ""
        self.widgets.clear()
        self.canvases.clear()
        self._read("")
        return await self._run(BackMsg(), page, query)

    async def rerun(self, states: Iterable[WidgetState] = (), fragment: str = "") -> float:
        """Run the page or a fragment of it; the seconds until it has finished."""
        request = BackMsg()
        request.rerun_script.widget_states.widgets.extend(states)
        request.rerun_script.fragment_id = fragment
        return await self._run(request)

    async def click(self, label: str) -> float:
        """Press a button of the page."""
        return await self.rerun([WidgetState(id=self.widget("button", label), trigger_value=True)])

    async def settle(self, patience: float = 600.0) -> float:
        """Follow the page's job as a browser does, until its result is on screen; the seconds.

        The result of an endless stream are its first news.
        """
        begin = time.perf_counter()
        if self._flow:
            await asyncio.wait_for(self._news.wait(), patience)
        while self.polls and time.perf_counter() - begin < patience:
            fragment, every = next(iter(self.polls.items()))
            await asyncio.sleep(every)
            await self.rerun(fragment=fragment)
        if self.polls:
            raise TimeoutError(f"no result after {patience:.0f} s: {' '.join(self.words)[:300]}")
        return time.perf_counter() - begin

    async def tell(self, canvas: str, **values) -> float:
        """Send a component's state, as if the canvas with this key had reported it."""
        state = WidgetState(id=canvas, json_value=json.dumps(values))
        return await self.rerun([state], self.canvases[canvas][1])

    async def trigger(self, canvas: str, event: str, value) -> float:
        """Send a component's event."""
        text = json.dumps([{"event": event, "value": value}])
        state = WidgetState(id=EVENTS.format(canvas), json_trigger_value=text)
        return await self.rerun([state], self.canvases[canvas][1])

    def widget(self, kind: str, label: str) -> str:
        """The id of the widget with this label."""
        return next(name for name, found in self.widgets.items() if found == (kind, label))

    async def _run(self, request: BackMsg, page: str = "", query: str = "") -> float:
        state = request.rerun_script
        state.query_string = query
        state.page_name = page
        state.page_script_hash = self._page_hash
        self._asked_for_fragment = bool(state.fragment_id)
        begin = time.perf_counter()
        await self._socket.send(request.SerializeToString())
        while not await self._take():
            pass
        return time.perf_counter() - begin

    # Endless streams

    def _read(self, flow: str) -> None:
        """Read this stream from now on, and no other; none if it is empty."""
        if flow == self._flow:
            return
        if self._reading is not None:
            self._reading.cancel()
        self._flow, self._reading = flow, None
        self._news.clear()
        if flow:
            self._reading = asyncio.create_task(self._take_news(f"{self._address}/{flow}"))

    async def _take_news(self, address: str) -> None:
        with suppress(ConnectionClosed):
            async with connect(address, max_size=None, compression=None) as socket:
                async for news in socket:
                    self.received += len(news)
                    if news:
                        self._news.set()

    # Answers

    async def _take(self) -> bool:
        """Read one message; whether the script has finished with it."""
        data = await self._socket.recv()
        self.received += len(data)
        message = ForwardMsg()
        message.ParseFromString(data)
        match message.WhichOneof("type"):
            case "new_session":
                self.session = message.new_session.initialize.session_id or self.session
                self.words.clear()
                if not self._asked_for_fragment:
                    self.polls.clear()
            case "navigation":
                self._page_hash = message.navigation.page_script_hash
            case "auto_rerun":
                self.polls[message.auto_rerun.fragment_id] = message.auto_rerun.interval
            case "stop_auto_rerun":
                for fragment in message.stop_auto_rerun.fragment_ids:
                    self.polls.pop(fragment, None)
            case "delta":
                self._take_element(message.delta.new_element, message.delta.fragment_id)
            case "script_finished":
                is_last = message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
                self._asked_for_fragment = False  # what follows an early end is the whole page
                return is_last
        return False

    def _take_element(self, element, fragment: str) -> None:
        kind = element.WhichOneof("type")
        if kind is None:
            return
        content = getattr(element, kind)
        if kind == "exception":
            self.exceptions.append(f"{content.type}: {content.message}")
        elif kind == "bidi_component":
            self.canvases[content.id] = (content.component_name, fragment)
            flow = _FLOW.search(content.SerializeToString())
            if flow is not None:
                self._read(flow[1].decode())
        elif kind == "markdown":
            self.words.append(content.body)
        elif kind == "progress":
            self.words.append(content.text)
        elif getattr(content, "id", ""):
            self.widgets[content.id] = (kind, getattr(content, "label", ""))
