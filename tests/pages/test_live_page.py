import asyncio
import json
import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from streamlit.testing.v1 import AppTest

from dashboard import desk, downloads, jobs, present, runs, takeaway
from dashboard.experiment import Experiment
from dashboard.jobs import Cancelled, Desk, Expected
from dashboard.presets import PRESETS
from tests.pages.finding import labelled, to_take

APP = Path(__file__).parents[2] / "pages" / "navigation.py"
PATIENCE = 600.0
ASKED = Experiment(length=700, window=60)


class Gate:
    """Stands in for the computation; it waits to be let through, whoever else leaves."""

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
    only = Desk(gate.compute, slots=1)
    monkeypatch.setattr(desk, "_runs", lambda: only)
    monkeypatch.setattr(desk, "QUICK", 0.05)
    yield gate
    gate.opened.set()


def opened(experiment: Experiment) -> AppTest:
    page = AppTest.from_file(APP, default_timeout=PATIENCE)
    for key, value in experiment.to_query().items():
        page.query_params[key] = value
    page.run()
    assert not page.exception
    return page


def button(page: AppTest, label: str):
    return labelled(page.button, label)


def said(page: AppTest) -> str:
    return " ".join(text.value for text in page.markdown)


def test_who_waits_in_line_sees_the_true_model_and_can_give_up(gate):
    desk._runs().request(Experiment(length=600), "somebody else")
    page = opened(ASKED)

    button(page, "Cancel").click()
    page.run()

    assert not page.exception
    assert "Stopped." in said(page)
    assert gate.count == 1


def test_run_and_cancel_answer_every_time(gate):
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
        job = desk._runs().request(replace(ASKED, seed=77, window=window), "somebody")
        assert job.wait(PATIENCE)
        results.append(job.progress.result)

    first, second = results
    assert second.method(runs.EM) is first.method(runs.EM)
    assert second.method(runs.ONLINE).accuracy != first.method(runs.ONLINE).accuracy


def test_a_run_stays_on_screen_whatever_others_ask_for(monkeypatch):
    computed = []

    def compute(experiment, report):
        computed.append(experiment)
        return runs.empty_run(experiment)._replace(finished=True)

    only = Desk(compute)
    monkeypatch.setattr(desk, "_runs", lambda: only)
    monkeypatch.setattr(desk, "QUICK", PATIENCE)
    monkeypatch.setattr(jobs, "KEPT", 1)
    page = opened(ASKED)
    for seed in range(1, 4):
        assert only.request(replace(ASKED, seed=seed), "somebody else").wait(PATIENCE)
    assert only.find(ASKED) is None

    page.run()

    assert computed.count(ASKED) == 1
    assert not page.exception


def test_a_control_that_was_used_and_gone_for_a_while_shows_what_is_set():
    page = opened(replace(ASKED, algorithm="windowed", transition_update="paper"))
    for name in ("convex", "paper"):
        labelled(page.radio, "Update of A").set_value(name).run()

    for name in ("streaming", "windowed"):
        labelled(page.radio, "Online algorithm").set_value(name).run()

    assert labelled(page.radio, "Update of A").value == "paper"
    assert page.query_params["update"] == "paper"


def test_a_run_that_ended_just_as_it_was_wanted_again_begins_anew(monkeypatch):
    calls = []

    def compute(experiment, report):
        calls.append(experiment)
        if len(calls) == 1:  # somebody had left, and this one came too late to keep it going
            raise Cancelled
        return runs.compute(experiment, report)

    only = Desk(compute)
    monkeypatch.setattr(desk, "_runs", lambda: only)
    monkeypatch.setattr(desk, "QUICK", PATIENCE)

    page = opened(ASKED)

    assert len(calls) == 2
    assert only.find(ASKED).progress.result.finished
    assert not page.exception


def test_what_somebody_stopped_stands_still_though_it_goes_on_for_others(monkeypatch):
    whole = runs.compute(ASKED, lambda *_: None)
    told, go_on = threading.Event(), threading.Semaphore(0)

    def compute(experiment, report):
        report(runs.empty_run(experiment), "Working", 0.5)
        assert go_on.acquire(timeout=PATIENCE)
        report(whole._replace(finished=False), "Working", 0.9)
        told.set()
        assert go_on.acquire(timeout=PATIENCE)
        return whole

    only = Desk(compute)
    monkeypatch.setattr(desk, "_runs", lambda: only)
    monkeypatch.setattr(desk, "QUICK", 0.05)
    job = only.request(ASKED, "somebody else")
    page = opened(ASKED)
    button(page, "Cancel").click()
    page.run()
    go_on.release()
    assert told.wait(PATIENCE)
    page.run()

    assert "Stopped." in said(page)
    assert set(page.table[0].value["Accuracy"]) == {present.MISSING}
    assert [label for label, ready in to_take(page).items() if ready] == ["Script (Python)"]

    go_on.release()
    assert job.wait(PATIENCE)
    page.run()

    assert "Stopped." not in said(page)
    assert ASKED.in_words() in said(page)
    assert present.MISSING not in set(page.table[0].value["Accuracy"])


def test_who_cancels_a_run_that_is_over_sees_it_whole(gate):
    page = opened(ASKED)
    gate.opened.set()
    assert desk._runs().find(ASKED).wait(PATIENCE)

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

    only = Desk(compute)
    monkeypatch.setattr(desk, "_runs", lambda: only)
    monkeypatch.setattr(desk, "QUICK", 0.05)
    page = opened(ASKED)
    assert told.wait(PATIENCE)
    assert not to_take(page)["Data (CSV)"]  # it would be another one a moment later

    button(page, "Cancel").click().run()

    assert all(to_take(page).values())
    go_on.set()


def test_a_result_that_is_known_cannot_be_cancelled_while_it_is_computed_anew(gate, monkeypatch):
    known = runs.compute(ASKED, lambda *_: None)
    only = Desk(gate.compute, known={ASKED: known})
    monkeypatch.setattr(desk, "_runs", lambda: only)
    page = opened(ASKED)

    assert not only.find(ASKED).over
    assert present.MISSING not in set(page.table[0].value["Accuracy"])
    assert "Cancel" not in [b.label for b in page.button]


def test_a_window_as_long_as_the_chain_has_a_page(monkeypatch):
    only = Desk(runs.compute)
    monkeypatch.setattr(desk, "_runs", lambda: only)
    monkeypatch.setattr(desk, "QUICK", PATIENCE)

    page = opened(Experiment(length=500, window=500, algorithm="windowed"))

    assert present.MISSING not in set(page.table[0].value["Accuracy"])


def looked_with(page: AppTest, values) -> None:
    """A look at the job that the browser sent before it had what is shown now."""
    page._run(values)
    assert not page.exception


def test_a_late_look_does_not_undo_a_mean_that_was_moved(gate):
    page = opened(ASKED)
    before = page._tree.get_widget_states()
    moved = replace(ASKED, means=((0.1, 0.1), *ASKED.means[1:]))
    page.session_state.experiment = moved
    page.run()
    assert labelled(page.selectbox, "True model").value == "Your own"

    for _ in range(2):
        looked_with(page, before)

    assert page.session_state.experiment == moved
    assert labelled(page.selectbox, "True model").value == "Your own"

    labelled(page.selectbox, "True model").set_value("Paper").run()
    assert page.session_state.experiment == ASKED


def test_a_late_look_does_not_bring_back_the_data_before(gate):
    page = opened(ASKED)
    before = page._tree.get_widget_states()
    button(page, "New data").click().run()
    seed = page.session_state.experiment.seed
    assert seed != ASKED.seed

    looked_with(page, before)

    assert page.session_state.experiment.seed == seed
    assert labelled(page.number_input, "Seed").value == seed


@pytest.mark.parametrize("typed", [5, -5])  # accepted, refused
def test_who_types_keeps_the_field_that_they_type_in(gate, typed):
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
    assert page.session_state.experiment.seed == ASKED.seed


WRONG = ((0.3, 0.3, 0.3), *ASKED.transmat[1:])


def type_wrongly(page: AppTest) -> None:
    """As on “Set the truth”, whose table AppTest cannot type in."""
    page.session_state.draft = {"transmat": WRONG}
    page.session_state.problems = {"transmat": "Row 1 of A sums to 0.9, not to 1."}
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

    only = Desk(fail)
    monkeypatch.setattr(desk, "_runs", lambda: only)
    page = opened(ASKED)
    type_wrongly(page)

    assert page.main.error[1].value == "This could not be computed: The disk is full."
    assert button(page, "Try again")


def test_who_drags_in_vain_is_told_which_control_is_in_the_way(gate):
    page = opened(ASKED)
    labelled(page.number_input, "T: length of the chain").set_value(40).run()

    drag(page, 1, 0.5, 0.5)

    assert page.session_state.experiment == ASKED
    (explained,) = page.main.error
    assert explained.value == (
        "In the sidebar: T must be between 500 and 100,000. The last valid model is shown; what "
        "you change meanwhile waits."
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
    assert page.session_state.experiment == replace(ASKED, **PRESETS["Five states"], window=25)


def test_a_preset_that_has_to_wait_is_shown_and_can_be_taken_back(gate):
    page = opened(ASKED)
    labelled(page.number_input, "T: length of the chain").set_value(10).run()
    preset(page).set_value("Five states").run()
    assert preset(page).value == "Five states"

    preset(page).set_value("Paper").run()
    labelled(page.number_input, "T: length of the chain").set_value(800).run()

    assert not page.error
    assert page.session_state.experiment == replace(ASKED, length=800)


def test_who_drags_moves_the_model_on_screen(gate):
    page = opened(ASKED)
    labelled(page.number_input, "T: length of the chain").set_value(10).run()
    preset(page).set_value("Five states").run()

    drag(page, 1, 0.5, 0.5)
    labelled(page.number_input, "T: length of the chain").set_value(800).run()

    means = (ASKED.means[0], (0.5, 0.5), ASKED.means[2])
    assert page.session_state.experiment == replace(ASKED, means=means, length=800)


def taken(address: str) -> Response:
    """What the server answers to a click on a link."""
    route = takeaway.route()
    scope = {"type": "http", "method": "GET", "path": address.removeprefix("."), "headers": []}
    match, found = route.matches(scope)
    assert match is Match.FULL
    return asyncio.run(route.endpoint(Request(scope | found)))


def address_of(page: AppTest, name: str) -> str:
    text = " ".join(e.proto.body for e in page.get("html"))
    return re.search(rf'href="([^"]*/{name})"', text)[1]


def test_a_file_is_made_when_somebody_asks_for_it(monkeypatch):
    made, data_csv = [], downloads.data_csv

    def make(run):
        made.append(run.experiment)
        return data_csv(run)

    monkeypatch.setattr(downloads, "data_csv", make)
    page = opened(ASKED)
    assert to_take(page)["Data (CSV)"]
    assert made == []

    answer = taken(address_of(page, "data.csv"))

    assert made == [ASKED]
    assert answer.headers["content-disposition"] == 'attachment; filename="data.csv"'
    assert len(answer.body.splitlines()) == ASKED.length + 1


def test_a_link_that_is_one_answer_behind_still_gives_its_file():
    page = opened(ASKED)
    before = address_of(page, "results.json")
    labelled(page.number_input, "Seed").set_value(3).run()
    after = address_of(page, "results.json")

    seeds = [json.loads(taken(a).body)["experiment"]["seed"] for a in (before, after)]

    assert seeds == [0, 3]


def test_a_file_that_is_gone_is_said_to_be():
    page = opened(ASKED)
    address = address_of(page, "results.json")
    for seed in (1, 2):
        labelled(page.number_input, "Seed").set_value(seed).run()

    answer = taken(address)

    assert answer.status_code == 404
    assert b"open its page again" in answer.body
