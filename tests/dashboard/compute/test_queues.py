import pytest

from dashboard.compute import kernels, queues, runs
from dashboard.model.experiment import Experiment


class Asked:
    """Stands in for the compilers."""

    parts: list[kernels.Part]

    def ask(self, parts):
        self.parts[:0] = parts  # before all others


@pytest.fixture
def new_queues(monkeypatch):
    """As on a server that has just started, and computes nothing."""

    def forget():
        queues.run_queue.cache_clear()
        queues.sweep_queue.cache_clear()

    monkeypatch.setattr(queues, "_compute_run", lambda request, report: runs.empty_run(request))
    monkeypatch.setattr(kernels, "compilers", Asked)
    Asked.parts = []
    forget()
    yield
    forget()


@pytest.mark.usefixtures("new_queues")
def test_both_queues_exist_before_the_first_visitor_comes():
    queues.warm_up()

    assert queues.run_queue.cache_info().currsize == 1
    assert queues.sweep_queue.cache_info().currsize == 1


@pytest.mark.usefixtures("new_queues")
def test_what_the_first_page_needs_is_compiled_first_and_then_all_other_spaces():
    queues.warm_up()

    first = kernels.parts_of("disk", Experiment().algorithms)
    assert Asked.parts[: len(first)] == first
    assert {part.space for part in Asked.parts} == {"disk", "spd2"}
