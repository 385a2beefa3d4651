import pytest

from dashboard import desk, runs


@pytest.fixture
def new_desks(monkeypatch):
    """As on a server that has just started, and computes nothing."""

    def forget():
        desk._runs.cache_clear()
        desk._sweeps.cache_clear()

    monkeypatch.setattr(desk, "_compute", lambda wish, report: runs.empty_run(wish))
    forget()
    yield
    forget()


@pytest.mark.usefixtures("new_desks")
def test_the_desks_are_there_before_two_can_come_at_the_same_time():
    desk.warm_up()

    assert desk._runs.cache_info().currsize == 1
    assert desk._sweeps.cache_info().currsize == 1
