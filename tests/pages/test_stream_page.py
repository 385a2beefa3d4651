import json

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.compute import stream_workers
from dashboard.compute.stream_workers import StreamWorkers
from dashboard.model.analysis import HeldRecording, shipped
from dashboard.model.endless import Chain, Endless, Played
from dashboard.model.experiment import Experiment
from dashboard.model.scenarios import scenarios
from dashboard.ui import streams
from rhmm.worlds import Turn, script_to_text
from tests.pages.finding import APP, PATIENCE, labelled

SCRIPT = (Turn(at=2_000, angle=45.0),)


@pytest.fixture(scope="module")
def processes():
    workers = StreamWorkers(1)
    yield workers
    workers.close()


@pytest.fixture(autouse=True)
def workers(processes, monkeypatch):
    monkeypatch.setattr(stream_workers, "workers", lambda: processes)
    monkeypatch.setattr(streams, "workers", lambda: processes)
    # no page waits for a compiler, which takes minutes
    monkeypatch.setattr(stream_workers, "_begin_after", lambda parts, stream: None)
    return processes


def opened(**query) -> AppTest:
    page = AppTest.from_file(APP, default_timeout=PATIENCE)
    for key, text in query.items():
        page.query_params[key] = text
    page.switch_page("experiment/stream.py")
    page.run()
    assert not page.exception
    return page


def stream_of(page):
    return page.session_state.visitor.stream


def canvas(page):
    found = (element.proto for element in page.get("bidi_component"))
    return next(proto for proto in found if "stream" in proto.id)


def say(page, **values) -> None:
    """As the canvas says it: AppTest knows none."""
    told = page._tree.get_widget_states()
    told.widgets.add(id=canvas(page).id, json_value=json.dumps(values))
    page._run(told)
    assert not page.exception


def test_a_page_opens_a_stream_of_its_link():
    page = opened(events=script_to_text(SCRIPT), pace="1300", seed="7", follow="auto,fixed")

    setup = stream_of(page).setup
    assert setup.events == SCRIPT
    assert setup.seed == 7
    assert setup.learners == ("fixed", "auto")
    assert page.query_params["pace"] == "1300"
    assert page.query_params["events"] == script_to_text(SCRIPT)


def test_a_stream_goes_on_when_the_page_runs_again():
    page = opened()
    before = stream_of(page)

    page.run()

    assert stream_of(page) is before
    assert not before.failed


def test_another_seed_or_learner_begins_anew():
    page = opened()
    first = stream_of(page)
    labelled(page.number_input, "Seed").set_value(5).run()
    second = stream_of(page)
    labelled(page.button_group, "Learners").set_value(["streaming"]).run()

    assert first.failed
    assert second.failed
    assert stream_of(page).setup.seed == 5
    assert stream_of(page).setup.learners == ("streaming",)


def test_a_scenario_begins_its_script():
    page = opened()

    labelled(page.button_group, "Scenario").set_value("Slow drift").run()

    assert stream_of(page).setup.events == scenarios(3)["Slow drift"].events
    assert page.query_params["events"].startswith("slow-turn_")


def test_a_live_event_comes_into_the_link_and_does_not_begin_anew():
    page = opened()
    stream = stream_of(page)
    stream.script = SCRIPT  # as the process says it

    say(page, changed={"pace": 720, "at": 1})

    assert stream_of(page) is stream
    assert page.query_params["events"] == script_to_text(SCRIPT)
    assert page.query_params["pace"] == "720"
    page.run()
    assert stream_of(page) is stream


@pytest.mark.parametrize("sent", [{"pace": "fast"}, {"pace": 1}, {}, 7, {"pace": [1]}])
def test_a_forged_report_changes_nothing(sent):
    page = opened()
    stream = stream_of(page)

    say(page, changed=sent)

    assert stream_of(page) is stream
    assert page.session_state.visitor.endless.valid == Endless()
    assert not page.session_state.visitor.endless.typed


def test_a_browser_whose_stream_has_gone_gets_another():
    page = opened()
    before = stream_of(page)

    say(page, missing=1)

    assert stream_of(page) is not before
    assert stream_of(page).setup == before.setup


def test_leaving_the_page_ends_the_stream(workers):
    page = opened()
    stream = stream_of(page)

    page.switch_page("experiment/truth.py").run()

    assert stream_of(page) is None
    assert stream.failed
    assert workers.find(stream.token) is None


def test_events_that_do_not_fit_the_model_are_told_and_left_out():
    page = opened(events="away_500_6_500")

    assert "cannot happen to this model" in page.warning[0].value
    assert stream_of(page).setup.events == ()
    assert "events" not in page.query_params


def test_a_broken_script_is_told_in_one_sentence():
    page = opened(events="turn_x")

    assert page.warning[0].value.startswith("Cannot read events = 'turn")
    assert stream_of(page).setup.events == ()


def test_a_preset_of_another_space_streams_there():
    page = opened()

    labelled(page.selectbox, "Space").set_value("spd2").run()

    assert stream_of(page).setup.source.space == "spd2"
    assert not page.exception


def test_a_plain_run_of_the_page_does_not_open_or_ask_anything(monkeypatch):
    page = opened()
    asked = []
    monkeypatch.setattr(type(stream_of(page)), "order", lambda *order: asked.append(order))

    page.run()

    assert asked == []


def test_the_experiment_of_other_pages_is_the_model_of_the_stream():
    page = opened(**Experiment(seed=3, window=90).to_query())

    assert stream_of(page).setup.window == 90


def test_a_recording_flows_by_its_link_without_what_needs_a_truth():
    page = opened(source="disk", N="4", end="again", events="missing_500_0.5_500__refit_1000")

    setup = stream_of(page).setup
    assert setup.source == Played(shipped("disk"), 4, repeats=True)
    assert [event.name for event in setup.events] == ["missing", "refit"]
    assert page.query_params["source"] == "disk"
    assert page.query_params["end"] == "again"
    assert "Scenario" not in [group.label for group in page.button_group]
    assert not {"Space", "True model"} & {box.label for box in page.selectbox}
    assert any("no ceiling" in words.value for words in page.caption)
    page.run()
    assert stream_of(page).setup == setup


def test_another_source_begins_with_its_own_number_of_states():
    page = opened(events=script_to_text(SCRIPT))

    labelled(page.selectbox, "Observations").set_value("weather").run()

    source = stream_of(page).setup.source
    assert (source.held, source.n_states) == (shipped("weather"), 4)
    assert stream_of(page).setup.events == ()  # means that jump need a truth
    labelled(page.selectbox, "Observations").set_value("simulated").run()
    assert isinstance(stream_of(page).setup.source, Chain)


def test_a_truth_that_changes_cannot_happen_to_a_recording():
    page = opened(source="disk", events=script_to_text(SCRIPT))

    assert "cannot happen to this recording" in page.warning[0].value
    assert stream_of(page).setup.events == ()


def test_a_link_to_a_file_needs_the_file_of_this_session():
    page = opened(source="file")

    assert "give the file on the Data page" in page.warning[0].value
    assert isinstance(stream_of(page).setup.source, Chain)
    data, own = page.session_state.visitor.data, HeldRecording(("mine",), shipped("disk").recording)
    data.held, data.online = own, own.learned_online()
    page.run()
    labelled(page.selectbox, "Observations").set_value("file").run()
    assert stream_of(page).setup.source.held == own
    assert any("stays in your session" in words.value for words in page.caption)
