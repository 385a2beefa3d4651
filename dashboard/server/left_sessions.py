"""Sessions of visitors who have left.

Streamlit keeps a session for two minutes after its visitor has left, in case the connection was
only lost. It drops what is older at the next visit, and not before: an idle server would hold three
descriptors, and all that a page has put there, for each of its latest visitors.
"""

import asyncio
from typing import Any

from streamlit.runtime import get_instance
from streamlit.runtime.memory_session_storage import MemorySessionStorage

EVERY = 30.0
"""Seconds between two looks."""


async def drop_regularly() -> None:
    """Drop sessions that can no longer be taken up again, until this task is cancelled."""
    while True:
        await asyncio.sleep(EVERY)
        manager: Any = get_instance()._session_mgr  # Streamlit offers no other way
        drop_expired(manager._session_storage)


def drop_expired(storage: MemorySessionStorage) -> None:
    """Drop the sessions whose time is over."""
    cache: Any = storage._cache
    cache.expire()
