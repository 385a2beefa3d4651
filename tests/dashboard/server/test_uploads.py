import gc

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from dashboard.server import uploads
from dashboard.server.uploads import Grant, Refused, arriving


@pytest.fixture(autouse=True)
def held(monkeypatch):
    """How many files Streamlit has of each session."""
    files = {}
    monkeypatch.setattr(uploads, "_held", lambda session: files.get(session, 0))
    return files


def test_a_grant_ends_with_the_session_that_keeps_it():
    grant = Grant("me", most_bytes=10)
    with arriving("me", "10"):
        pass
    del grant
    gc.collect()

    with pytest.raises(Refused), arriving("me", "10"):
        pass


def test_no_more_files_arrive_at_a_time_than_the_page_wants():
    grant = Grant("me", most_bytes=10, most_files=2)

    with arriving("me", "1"), arriving("me", "1"), pytest.raises(Refused, match="2 files"):
        arriving("me", "1").__enter__()
    assert grant.arriving == 0


def test_files_that_the_server_holds_count(held):
    grant = Grant("me", most_bytes=10, most_files=2)
    held["me"] = 2

    with pytest.raises(Refused) as refusal, arriving("me", "1"):
        pass

    assert refusal.value.status == 429
    assert grant.arriving == 0


def test_a_file_of_unknown_length_is_refused():
    grant = Grant("me", most_bytes=10)

    with pytest.raises(Refused) as refusal, arriving("me", None):
        pass

    assert refusal.value.status == 411
    assert grant.most_files == 1


class Server:
    """Stands in for Streamlit's."""

    def __init__(self):
        self.uploaded_file_mgr = MemoryUploadedFileManager("/upload")


def test_files_that_a_page_has_taken_over_are_dropped(monkeypatch):
    server = Server()
    for session in ("me", "you"):
        file = UploadedFileRec("1", "a.csv", "text/csv", b"1,2")
        server.uploaded_file_mgr.add_file(session, file)
    monkeypatch.setattr(uploads.Runtime, "exists", lambda: True)
    monkeypatch.setattr(uploads.Runtime, "instance", lambda: server)

    uploads.let_go("me")

    assert "me" not in server.uploaded_file_mgr.file_storage
    assert "you" in server.uploaded_file_mgr.file_storage
