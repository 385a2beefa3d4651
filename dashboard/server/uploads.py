"""Which visitors may send files to the server. Streamlit's own address accepts them from everyone.

A page with an uploader makes a `Grant` for its visitor and keeps it in the visitor's session. The
grant ends with the session. No grant, no upload: `doors` refuses the request before its body is
read.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

from streamlit.runtime import Runtime


class Refused(Exception):
    """Why a file is not taken: the status of the answer and a sentence."""

    def __init__(self, status: int, sentence: str):
        super().__init__(sentence)
        self.status = status


class Grant:
    """Lets one session send files: so many at a time, each of at most so many bytes."""

    def __init__(self, session: str, most_bytes: int, most_files: int = 1):
        self.most_bytes = most_bytes
        self.most_files = most_files
        self.arriving = 0
        """Files on their way."""
        _grants[session] = self


_grants: WeakValueDictionary[str, Grant] = WeakValueDictionary()


@contextmanager
def arriving(session: str, length: str | None) -> Iterator[None]:
    """Around the arrival of a file whose Content-Length is `length`; raises `Refused`."""
    grant = _grants.get(session)
    if grant is None:
        raise Refused(403, "No page of this server takes files.")
    if length is None or not length.isdecimal():
        raise Refused(411, "The length of a file must be known before it is sent.")
    if len(length) > 15 or int(length) > grant.most_bytes:
        raise Refused(413, f"A file may have {grant.most_bytes:,} bytes here.")
    if grant.arriving + _held(session) >= grant.most_files:
        raise Refused(429, f"There may be {grant.most_files} files at a time: remove one first.")
    grant.arriving += 1
    try:
        yield
    finally:
        grant.arriving -= 1


def let_go(session: str) -> None:
    """Drop what Streamlit has of this session's files, once the page has taken them over.

    It would keep the file of an uploader that is gone to the end of the session.
    """
    if Runtime.exists():
        Runtime.instance().uploaded_file_mgr.remove_session_files(session)


def _held(session: str) -> int:
    """Files of this session that Streamlit has in memory."""
    storage = getattr(Runtime.instance().uploaded_file_mgr, "file_storage", {})
    return len(storage.get(session, ()))
