import gc
import time
import weakref
from types import SimpleNamespace

import pytest
from streamlit.runtime import Runtime, memory_session_storage
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from dashboard.server import left_sessions


class Session:
    def __init__(self, name):
        self.id = name


@pytest.fixture
def storage():
    return memory_session_storage.MemorySessionStorage(ttl_seconds=0.05)


def saved(storage) -> weakref.ref:
    """A session that only the storage holds."""
    session = Session("left")
    storage.save(SimpleNamespace(session=session))
    return weakref.ref(session)


def test_expired_sessions_are_dropped(storage):
    session = saved(storage)
    time.sleep(0.1)
    gc.collect()
    assert session() is not None  # Streamlit itself waits for the next visit
    left_sessions.drop_expired(storage)
    gc.collect()
    assert session() is None


def test_sessions_that_may_come_back_are_kept():
    storage = memory_session_storage.MemorySessionStorage()
    session = saved(storage)
    left_sessions.drop_expired(storage)
    gc.collect()
    assert session() is not None


def test_streamlit_keeps_its_sessions_where_they_are_looked_for(storage):
    manager = WebsocketSessionManager(storage, None, None, None)
    assert manager._session_storage is storage
    assert "_session_mgr" in Runtime.__init__.__code__.co_names
