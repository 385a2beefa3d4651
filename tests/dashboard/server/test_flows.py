import asyncio
import json

import pytest
from starlette.applications import Starlette

from dashboard.compute.stream_workers import StreamWorkers
from dashboard.model.endless import Endless, Setup
from dashboard.model.experiment import Experiment
from dashboard.server import flows
from tests.dashboard.canvas.unpacking import unpack

PATIENCE = 120.0
SETUP = Setup.of(Experiment(window=60), Endless(learners=("streaming",)))


@pytest.fixture(scope="module")
def processes():
    workers = StreamWorkers(1)
    yield workers
    workers.close()


@pytest.fixture
def workers(processes, monkeypatch):
    monkeypatch.setattr(flows, "workers", lambda: processes)
    return processes


@pytest.fixture
def stream(workers):
    stream = workers.open(SETUP, 500)
    yield stream
    stream.close()


class Browser:
    """The other end of a socket; use it in `async with`."""

    def __init__(self, path):
        self._scope = {"type": "websocket", "path": path, "headers": [], "query_string": b""}

    async def __aenter__(self):
        self._said, self._heard = asyncio.Queue(), asyncio.Queue()
        self._said.put_nowait({"type": "websocket.connect"})
        app = Starlette(routes=[flows.route()])
        self._task = asyncio.create_task(app(self._scope, self._said.get, self._heard.put))
        assert (await self._hear())["type"] == "websocket.accept"
        return self

    async def __aexit__(self, *_):
        self._said.put_nowait({"type": "websocket.disconnect", "code": 1001})
        await asyncio.wait_for(self._task, PATIENCE)

    async def _hear(self):
        return await asyncio.wait_for(self._heard.get(), PATIENCE)

    def say(self, text):
        self._said.put_nowait({"type": "websocket.receive", "text": text})

    def say_bytes(self, content):
        self._said.put_nowait({"type": "websocket.receive", "bytes": content})

    async def wait_for(self, fits):
        """What the first message says that fits."""
        while True:
            message = await self._hear()
            assert message["type"] == "websocket.send", message
            if message["bytes"]:
                about, _ = unpack(message["bytes"])
                if fits(about):
                    return about

    async def end(self):
        """The code with which the server closes the socket."""
        while (message := await self._hear())["type"] != "websocket.close":
            pass
        return message["code"]


def path_to(stream):
    return flows.address_of(stream).removeprefix(".")


def anything(about):
    return True


def test_news_come_and_orders_go_by_the_same_socket(stream):
    async def visit():
        async with Browser(path_to(stream)) as browser:
            assert (await browser.wait_for(lambda about: about["taken"] > 100))["playing"]
            for nonsense in ("{", "[]", '{"pace": "x"}', "[" * 1_900, "x" * 5_000):
                browser.say(nonsense)
            browser.say_bytes(b"{}")
            browser.say(json.dumps({"happen": "turn"}))
            browser.say(json.dumps({"play": False}))
            stood = await browser.wait_for(lambda about: not about["playing"])
            assert stood["pace"] == 500

    asyncio.run(visit())
    assert [event.name for event in stream.script] == ["turn"]


@pytest.mark.usefixtures("workers")
def test_no_stream_is_found_by_a_token_that_was_not_given():
    async def visit():
        async with Browser("/flow/" + "A" * 22) as browser:
            return await browser.end()

    assert asyncio.run(visit()) == flows.GONE


def test_a_socket_ends_with_its_stream(stream):
    async def visit():
        async with Browser(path_to(stream)) as browser:
            await browser.wait_for(anything)
            stream.close()
            return await browser.end()

    assert asyncio.run(visit()) == flows.GONE


def test_a_stream_without_a_browser_ends_after_a_while(stream, workers, monkeypatch):
    monkeypatch.setattr(flows, "GRACE", 0.2)

    async def visit():
        async with Browser(path_to(stream)) as browser:
            await browser.wait_for(anything)
        assert workers.find(stream.token) is stream
        await asyncio.sleep(0.5)

    asyncio.run(visit())
    assert workers.find(stream.token) is None


def test_a_browser_that_comes_back_in_time_finds_its_stream(stream):
    async def visit():
        async with Browser(path_to(stream)) as browser:
            before = await browser.wait_for(lambda about: about["taken"] > 50)
        async with Browser(path_to(stream)) as browser:
            after = await browser.wait_for(anything)
            assert after["taken"] >= before["taken"]
            assert "events" in after  # a new page knows nothing

    asyncio.run(visit())


def test_the_latest_reader_takes_the_place_of_the_one_before(stream):
    async def visit():
        async with Browser(path_to(stream)) as first:
            await first.wait_for(anything)
            async with Browser(path_to(stream)) as second:
                await second.wait_for(lambda about: about["taken"] > 100)
                await asyncio.wait_for(first._task, PATIENCE)
                await second.wait_for(lambda about: about["taken"] > 200)

    asyncio.run(visit())


@pytest.mark.parametrize(
    ("path", "is_one"), [("/flow/abc", True), ("/_stcore/stream", False), ("/flowers", False)]
)
def test_only_the_path_of_a_stream_is_one(path, is_one):
    assert flows.is_flow(path) == is_one
