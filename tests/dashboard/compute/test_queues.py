import pytest

from dashboard.compute import queues, runs


@pytest.fixture
def new_queues(monkeypatch):
    """As on a server that has just started, and computes nothing."""

    def forget():
        queues.run_queue.cache_clear()
        queues.sweep_queue.cache_clear()

    monkeypatch.setattr(queues, "_compute_run", lambda request, report: runs.empty_run(request))
    forget()
    yield
    forget()


@pytest.mark.usefixtures("new_queues")
def test_both_queues_exist_before_the_first_visitor_comes():
    queues.warm_up()

    assert queues.run_queue.cache_info().currsize == 1
    assert queues.sweep_queue.cache_info().currsize == 1
