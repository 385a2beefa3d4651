import json
import threading
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.compute import jobs, queues, runs
from dashboard.compute.jobs import Cancelled, Expected, JobQueue
from dashboard.model.experiment import Experiment
from dashboard.model.methods import EM, WINDOWED
from dashboard.model.presets import PRESETS
from dashboard.text.formatting import MISSING
from dashboard.ui import job_view
from tests.pages.finding import PATIENCE, labelled, opened, tables, to_take

ASKED = Experiment(length=700, window=60)


class Gate:
    """Stands in for the computation; it waits to be let through, even without visitors."""

    def __init__(self):
        self.opened = threading.Event()
        self.count = 0

    def compute(self, experiment, report):
        self.count += 1
        report(runs.empty_run(experiment), "Working", 0.5)
        assert self.opened.wait(PATIENCE)
        return runs.empty_run(experiment)._replace(finished=True)


@pytest.fixture
def gate(monkeypatch):
    """One computation at a time, and it waits; opened at the end so that no thread is left."""
    gate = Gate()
    only = JobQueue(gate.compute, slots=1)
    monkeypatch.setattr(queues, "run_queue", lambda: only)
    monkeypatch.setattr(job_view, "QUICK", 0.05)
    yield gate
    gate.opened.set()


def button(page: AppTest, label: str):
    return labelled(page.button, label)


def said(page: AppTest) -> str:
    return " ".join(text.value for text in page.markdown)


def test_a_visitor_in_the_queue_sees_the_true_model_and_can_give_up(gate):
    queues.run_queue().request(Experiment(length=600), "another visitor")
    page = opened(ASKED)
    assert page.get("progress")[0].proto.text.startswith("Queued, place 1 …")

    button(page, "Cancel").click()
    page.run()
    assert not page.exception
    assert "Stopped." in said(page)
    assert gate.count == 1


def test_run_and_cancel_work_again_and_again(gate):
    page = opened(ASKED)
    for _ in range(3):
        button(page, "Cancel").click()
        page.run()
        assert "Stopped." in said(page)
        button(page, "Run").click()
        page.run()
        assert not page.exception
        assert "Stopped." not in said(page)


def test_another_window_is_shown_beside_the_em_that_was_computed_before():
    results = []
    for window in (60, 100):
        job = queues.run_queue().request(replace(ASKED, seed=77, window=window), "another visitor")
        assert job.wait(PATIENCE)
        results.append(job.progress.result)

    first, second = results
    assert second.method(EM) is first.method(EM)
    assert second.method(WINDOWED).accuracy != first.method(WINDOWED).accuracy


def test_a_run_stays_on_screen_whatever_others_ask_for(monkeypatch):
    computed = []

    def compute(experiment, report):
        computed.append(experiment)
        return runs.empty_run(experiment)._replace(finished=True)

    only = JobQueue(compute)
    monkeypatch.setattr(queues, "run_queue", lambda: only)
    monkeypatch.setattr(job_view, "QUICK", PATIENCE)
    monkeypatch.setattr(jobs, "KEPT", 1)
    page = opened(ASKED)
    for seed in range(1, 4):
        assert only.request(replace(ASKED, seed=seed), "another visitor").wait(PATIENCE)
    assert only.find(ASKED) is None

    page.run()

    assert computed.count(ASKED) == 1
    assert not page.exception


def test_a_control_that_was_used_and_gone_for_a_while_shows_what_is_set():
    page = opened(replace(ASKED, algorithms=("windowed",), transition_update="paper"))
    for name in ("convex", "paper"):
        labelled(page.radio, "Update of A").set_value(name).run()

    for name in ("streaming", "windowed"):
        labelled(page.button_group, "Online algorithms").set_value([name]).run()

    assert labelled(page.radio, "Update of A").value == "paper"
    assert page.query_params["update"] == "paper"


def test_a_run_that_ended_just_as_it_was_wanted_again_begins_anew(monkeypatch):
    calls = []

    def compute(experiment, report):
        calls.append(experiment)
        if len(calls) == 1:  # its last visitor had left just before this one came
            raise Cancelled
        return runs.compute(experiment, report)

    only = JobQueue(compute)
    monkeypatch.setattr(queues, "run_queue", lambda: only)
    monkeypatch.setattr(job_view, "QUICK", PATIENCE)

    page = opened(ASKED)

    assert len(calls) == 2
    assert only.find(ASKED).progress.result.finished
    assert not page.exception


def test_a_stopped_run_stands_still_though_it_goes_on_for_others(monkeypatch):
    whole = runs.compute(ASKED, lambda *_: None)
    told, go_on = threading.Event(), threading.Semaphore(0)

    def compute(experiment, report):
        report(runs.empty_run(experiment), "Working", 0.5)
        assert go_on.acquire(timeout=PATIENCE)
        report(whole._replace(finished=False), "Working", 0.9)
        told.set()
        assert go_on.acquire(timeout=PATIENCE)
        return whole

    only = JobQueue(compute)
    monkeypatch.setattr(queues, "run_queue", lambda: only)
    monkeypatch.setattr(job_view, "QUICK", 0.05)
    job = only.request(ASKED, "another visitor")
    page = opened(ASKED)
    button(page, "Cancel").click()
    page.run()
    go_on.release()
    assert told.wait(PATIENCE)
    page.run()

    assert "Stopped." in said(page)
    assert set(tables(page)[0]["Accuracy (%)"]) == {MISSING}
    assert [label for label, ready in to_take(page).items() if ready] == ["Script (Python)"]

    go_on.release()
    assert job.wait(PATIENCE)
    page.run()

    assert "Stopped." not in said(page)
    assert ASKED.in_words() in said(page)
    assert MISSING not in set(tables(page)[0]["Accuracy (%)"])


def test_cancelling_a_run_that_is_over_shows_it_whole(gate):
    page = opened(ASKED)
    gate.opened.set()
    assert queues.run_queue().find(ASKED).wait(PATIENCE)

    button(page, "Cancel").click()
    page.run()

    assert "Stopped." not in said(page)
    assert ASKED.in_words() in said(page)


def test_what_was_learned_before_a_run_was_stopped_can_be_taken_away(monkeypatch):
    half = runs.compute(ASKED, lambda *_: None)._replace(finished=False)
    told, go_on = threading.Event(), threading.Event()

    def compute(experiment, report):
        report(half, "Working", 0.5)
        told.set()
        assert go_on.wait(PATIENCE)
        return half

    only = JobQueue(compute)
    monkeypatch.setattr(queues, "run_queue", lambda: only)
    monkeypatch.setattr(job_view, "QUICK", 0.05)
    page = opened(ASKED)
    assert told.wait(PATIENCE)
    assert not to_take(page)["Data (CSV)"]  # it would be another one a moment later

    button(page, "Cancel").click().run()

    assert all(to_take(page).values())
    go_on.set()


def test_a_result_that_is_known_cannot_be_cancelled_while_it_is_computed_anew(gate, monkeypatch):
    known = runs.compute(ASKED, lambda *_: None)
    only = JobQueue(gate.compute, known={ASKED: known})
    monkeypatch.setattr(queues, "run_queue", lambda: only)
    page = opened(ASKED)

    assert not only.find(ASKED).over
    assert MISSING not in set(tables(page)[0]["Accuracy (%)"])
    assert "Cancel" not in [b.label for b in page.button]


def test_a_window_as_long_as_the_chain_has_a_page(monkeypatch):
    only = JobQueue(runs.compute)
    monkeypatch.setattr(queues, "run_queue", lambda: only)
    monkeypatch.setattr(job_view, "QUICK", PATIENCE)

    page = opened(Experiment(length=500, window=500, algorithms=("windowed",)))

    assert MISSING not in set(tables(page)[0]["Accuracy (%)"])


def looked_with(page: AppTest, values) -> None:
    """A look at the job that the browser sent before it had what is shown now."""
    page._run(values)
    assert not page.exception


def test_a_late_look_does_not_undo_a_mean_that_was_moved(gate):
    page = opened(ASKED)
    before = page._tree.get_widget_states()
    moved = replace(ASKED, means=((0.1, 0.1), *ASKED.means[1:]))
    page.session_state.visitor.experiment.valid = moved
    page.run()
    assert labelled(page.selectbox, "True model").value == "Your own"

    for _ in range(2):
        looked_with(page, before)

    assert page.session_state.visitor.experiment.valid == moved
    assert labelled(page.selectbox, "True model").value == "Your own"

    labelled(page.selectbox, "True model").set_value("Paper").run()
    assert page.session_state.visitor.experiment.valid == ASKED


def test_a_late_look_does_not_bring_back_the_data_before(gate):
    page = opened(ASKED)
    before = page._tree.get_widget_states()
    button(page, "New data").click().run()
    seed = page.session_state.visitor.experiment.valid.seed
    assert seed != ASKED.seed

    looked_with(page, before)

    assert page.session_state.visitor.experiment.valid.seed == seed
    assert labelled(page.number_input, "Seed").value == seed


@pytest.mark.parametrize("typed", [5, -5])  # accepted, refused
def test_typing_does_not_replace_the_field(gate, typed):
    page = opened(ASKED)
    key = labelled(page.number_input, "Seed").key

    labelled(page.number_input, "Seed").set_value(typed).run()

    assert labelled(page.number_input, "Seed").value == typed
    assert labelled(page.number_input, "Seed").key == key


def test_an_emptied_field_is_not_taken_for_a_zero(gate):
    page = opened(ASKED)

    labelled(page.number_input, "Seed").set_value(None).run()

    assert [error.value for error in page.sidebar.error] == ["The seed must be a whole number."]
    assert labelled(page.number_input, "Seed").value is None
    assert page.session_state.visitor.experiment.valid.seed == ASKED.seed


WRONG = ((0.3, 0.3, 0.3), *ASKED.transmat[1:])


def type_wrongly(page: AppTest) -> None:
    """As on “Set the truth”, whose table AppTest cannot type in."""
    page.session_state.visitor.experiment.propose(transmat=WRONG)
    page.run()


def test_a_run_can_be_cancelled_and_begun_again_while_something_is_typed_wrongly(gate):
    page = opened(ASKED)
    type_wrongly(page)
    for label in ("Cancel", "Run", "Cancel"):
        (explained,) = page.main.error
        assert explained.value.startswith("Row 1 of A sums to 0.9, not to 1. The last valid model")
        button(page, label).click().run()

    assert "Stopped." in said(page)


def test_a_failure_is_told_while_something_is_typed_wrongly(monkeypatch):
    def fail(experiment, report):
        raise Expected("The disk is full.")

    only = JobQueue(fail)
    monkeypatch.setattr(queues, "run_queue", lambda: only)
    page = opened(ASKED)
    type_wrongly(page)

    assert page.main.error[1].value == "This could not be computed: The disk is full."
    assert button(page, "Try again")


def test_a_drag_that_has_to_wait_names_the_control_in_the_way(gate):
    page = opened(ASKED)
    labelled(page.number_input, "T: length of the chain").set_value(40).run()

    drag(page, 1, 0.5, 0.5)

    assert page.session_state.visitor.experiment.valid == ASKED
    (explained,) = page.main.error
    assert explained.value == (
        "In the sidebar: T must be between 500 and 100,000. The last valid model is shown; your "
        "changes apply once this is fixed."
    )


def preset(page: AppTest):
    return labelled(page.selectbox, "True model")


def drag(page: AppTest, state: int, x: float, y: float) -> None:
    """As the browser tells it: AppTest knows no canvas."""
    lab = next(element.proto for element in page.get("bidi_component") if "lab" in element.proto.id)
    told = page._tree.get_widget_states()
    moves = [
        {"event": "moved", "value": {"number": 1, "pending": [{"state": state, "x": x, "y": y}]}}
    ]
    name = f"$$STREAMLIT_INTERNAL_KEY_{lab.id}__events"
    told.widgets.add(id=name, json_trigger_value=json.dumps(moves))
    page._run(told)
    assert not page.exception


def test_a_preset_with_more_states_takes_the_delta_that_they_need(gate):
    page = opened(replace(ASKED, window=20))

    preset(page).set_value("Five states").run()

    assert not page.error
    now = page.session_state.visitor.experiment.valid
    assert now == replace(ASKED, **PRESETS["Five states"], window=25)


def test_a_preset_that_has_to_wait_is_shown_and_can_be_taken_back(gate):
    page = opened(ASKED)
    labelled(page.number_input, "T: length of the chain").set_value(10).run()
    preset(page).set_value("Five states").run()
    assert preset(page).value == "Five states"

    preset(page).set_value("Paper").run()
    labelled(page.number_input, "T: length of the chain").set_value(800).run()

    assert not page.error
    assert page.session_state.visitor.experiment.valid == replace(ASKED, length=800)


def test_a_drag_moves_the_model_on_screen(gate):
    page = opened(ASKED)
    labelled(page.number_input, "T: length of the chain").set_value(10).run()
    preset(page).set_value("Five states").run()

    drag(page, 1, 0.5, 0.5)
    labelled(page.number_input, "T: length of the chain").set_value(800).run()

    means = (ASKED.means[0], (0.5, 0.5), ASKED.means[2])
    assert page.session_state.visitor.experiment.valid == replace(ASKED, means=means, length=800)


def test_a_preset_near_the_rim_is_looked_at_from_one_of_its_means(gate):
    page = opened(ASKED)

    preset(page).set_value("Near the boundary").run()
    near = page.query_params["look"]
    preset(page).set_value("Paper").run()

    assert near == "0.0000,0.9700,1.0000,0.0000,0.0000"
    assert "look" not in page.query_params
