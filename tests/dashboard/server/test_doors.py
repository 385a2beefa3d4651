import asyncio

import pytest
import streamlit as st
from starlette.websockets import WebSocket

from dashboard.server import uploads
from dashboard.server.doors import Doors
from dashboard.server.uploads import Grant

OPTIONS = {"server.baseUrlPath": "", "server.allowedHosts": ["localhost", "::1"]}


@pytest.fixture(autouse=True)
def options(monkeypatch):
    """What the server's owner has set."""
    chosen = dict(OPTIONS)
    monkeypatch.setattr(st, "get_option", chosen.get)
    monkeypatch.setattr(st.config, "get_option", chosen.get)
    monkeypatch.setattr(uploads, "_held", lambda session: 0)
    return chosen


class Streamlit:
    """Stands behind the doors and counts what comes through."""

    def __init__(self):
        self.reached = []

    async def __call__(self, scope, receive, send):
        self.reached.append(scope["path"])
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"hello"})


def ask(doors, path, method="GET", **headers):
    """The status and the body of the answer."""
    given = {"host": "localhost:8501"} | headers
    encoded = [(name.replace("_", "-").encode(), text.encode()) for name, text in given.items()]
    scope = {"type": "http", "method": method, "path": path, "headers": encoded}
    sent = []

    async def receive():
        raise AssertionError("the body must not be read")

    async def send(message):
        sent.append(message)

    asyncio.run(doors(scope, receive, send))
    return sent[0]["status"], sent[1]["body"].decode()


@pytest.fixture
def behind():
    return Streamlit()


@pytest.fixture
def doors(behind):
    return Doors(behind, most_visitors=2)


@pytest.mark.parametrize("path", ["/", "/compare", "/_stcore/health", "/take/abc/runs.csv"])
def test_what_pages_need_is_open(doors, behind, path):
    assert ask(doors, path) == (200, "hello")
    assert behind.reached == [path]


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/metrics/"])
def test_metrics_are_closed(doors, behind, path):
    assert ask(doors, path)[0] == 404
    assert behind.reached == []


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "", "localhost@evil"])
def test_a_server_does_not_answer_to_other_names(doors, behind, host):
    assert ask(doors, "/", host=host)[0] == 421
    assert behind.reached == []


@pytest.mark.parametrize("host", ["localhost", "localhost:1234", "LOCALHOST", "[::1]:8501"])
def test_a_server_answers_to_its_own_names(doors, host):
    assert ask(doors, "/", host=host)[0] == 200


def test_files_are_refused_where_no_page_takes_any(doors, behind):
    status, words = ask(doors, "/_stcore/upload_file/me/1", "PUT", content_length="190000000")

    assert (status, words) == (403, "No page of this server takes files.")
    assert behind.reached == []


def test_doors_are_closed_below_a_prefix_too(options, behind):
    options["server.baseUrlPath"] = "lab"
    doors = Doors(behind)

    assert ask(doors, "/lab/_stcore/upload_file/me/1", "PUT", content_length="1")[0] == 403
    assert ask(doors, "/lab/_stcore/metrics")[0] == 404
    assert behind.reached == []


def test_a_file_is_taken_from_a_visitor_whose_page_asks_for_one(doors):
    grant = Grant("me", most_bytes=100)

    assert ask(doors, "/_stcore/upload_file/me/1", "PUT", content_length="100")[0] == 200
    assert ask(doors, "/_stcore/upload_file/you/1", "PUT", content_length="100")[0] == 403
    assert grant.arriving == 0


@pytest.mark.parametrize(
    ("length", "status"), [("101", 413), ("9" * 5000, 413), ("-1", 411), ("many", 411)]
)
def test_a_file_that_is_too_large_is_refused_before_it_is_read(doors, behind, length, status):
    grant = Grant("me", most_bytes=100)

    answered, _ = ask(doors, "/_stcore/upload_file/me/1", "PUT", content_length=length)

    assert answered == status
    assert behind.reached == []
    assert grant.arriving == 0


def test_a_file_in_chunks_is_refused_whatever_length_it_names(doors, behind):
    grant = Grant("me", most_bytes=100)

    status, _ = ask(
        doors, "/_stcore/upload_file/me/1", "PUT", content_length="1", transfer_encoding="chunked"
    )

    assert status == 411
    assert behind.reached == []
    assert grant.arriving == 0


class Visit:
    """A websocket that stays open until it is told to end."""

    def __init__(self, doors, host="localhost", path="/_stcore/stream"):
        self.sent = []
        self._end = asyncio.Event()
        scope = {
            "type": "websocket", "path": path, "headers": [(b"host", host.encode())],
        }  # fmt: skip

        async def send(message):
            self.sent.append(message)

        self._task = asyncio.create_task(doors(scope, self._end.wait, send))

    async def end(self):
        self._end.set()
        await self._task


async def streamlit(scope, receive, send):
    """Keeps a connection as long as the browser does."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        await receive()


def test_visitors_beyond_the_limit_are_turned_away_until_one_leaves():
    async def scene():
        doors = Doors(streamlit, most_visitors=2)
        visits = [Visit(doors) for _ in range(3)]
        await asyncio.sleep(0)
        accepted, closed = {"type": "websocket.accept"}, {"type": "websocket.close", "code": 1013}
        assert [visit.sent for visit in visits] == [[accepted], [accepted], [closed]]

        await visits[0].end()
        late = Visit(doors)
        await asyncio.sleep(0)
        assert late.sent == [accepted]
        for visit in (*visits[1:], late):
            await visit.end()

    asyncio.run(scene())


def test_a_socket_that_streamlit_closes_twice_is_no_fault_and_frees_its_place():
    async def closes_twice(scope, receive, send):
        socket = WebSocket(scope, receive, send)
        await socket.send({"type": "websocket.close"})
        await socket.close()

    async def scene():
        doors = Doors(closes_twice, most_visitors=1)
        for _ in range(2):
            visit = Visit(doors)
            await visit.end()
            assert visit.sent == [{"type": "websocket.close"}]

    asyncio.run(scene())


def test_the_socket_of_a_stream_takes_no_place_and_is_open_on_a_full_server():
    async def scene():
        doors = Doors(streamlit, most_visitors=2)
        visits = [Visit(doors, path=path) for path in ("/flow/a", "/_stcore/stream") * 2]
        visits.append(Visit(doors, path="/flow/b"))
        await asyncio.sleep(0)
        assert [visit.sent for visit in visits] == [[{"type": "websocket.accept"}]] * 5
        for visit in visits:
            await visit.end()

    asyncio.run(scene())


def test_a_stream_is_not_opened_under_another_name():
    async def scene():
        visit = Visit(Doors(streamlit), host="evil.example", path="/flow/a")
        await asyncio.sleep(0)
        assert visit.sent == [{"type": "websocket.close", "code": 1008}]

    asyncio.run(scene())


def test_a_full_server_says_so_instead_of_showing_an_empty_page(behind):
    doors = Doors(behind, most_visitors=0)

    status, words = ask(doors, "/", accept="text/html,*/*")

    assert status == 503
    assert "places are taken" in words
    assert ask(doors, "/_stcore/health", accept="*/*")[0] == 200


def test_a_websocket_of_another_name_is_closed():
    async def scene():
        visit = Visit(Doors(streamlit), host="evil.example")
        await visit.end()
        assert visit.sent == [{"type": "websocket.close", "code": 1008}]

    asyncio.run(scene())
