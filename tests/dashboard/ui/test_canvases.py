import json

import pytest
from streamlit.testing.v1 import AppTest

HUGE = int("9" * 400)
VIEW = {"show": ["circles"], "colour": "true", "k": None, "version": 1} | dict.fromkeys(
    ("x", "y", "zoom", "panX", "panY"), 1
)
MOVED = {"number": 4, "pending": [{"state": 1, "x": 0.5, "y": 0.25}]}


def page():
    """The Live lab's canvas alone; what its callbacks get is kept in the session."""
    import streamlit as st

    from dashboard import runs
    from dashboard.experiment import Experiment
    from dashboard.ui import canvases
    from dashboard.views import View

    got = st.session_state.setdefault("got", [])
    run = runs.empty_run(Experiment(length=500, window=60))
    canvases.lab(run, False, View(), 1, key="lab", on_moved=got.append, on_view=got.append)


@pytest.fixture
def app():
    app = AppTest.from_function(page, default_timeout=600)
    app.run()
    assert not app.exception
    return app


def send(app, *, moved=None, view=None):
    """As the browser does: AppTest knows no canvas."""
    (lab,) = (element.proto for element in app.get("bidi_component"))
    states = app._tree.get_widget_states()
    if view is not None:
        states.widgets.add(id=lab.id, json_value=json.dumps({"view": view}))
    if moved is not None:
        events = json.dumps([{"event": "moved", "value": moved}])
        states.widgets.add(
            id=f"$$STREAMLIT_INTERNAL_KEY_{lab.id}__events", json_trigger_value=events
        )
    app._run(states)
    assert not app.exception


def message(app) -> dict:
    """What the last message to the canvas says."""
    (lab,) = (element.proto for element in app.get("bidi_component"))
    data = lab.bytes
    return json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])["about"]


def test_drops_are_handed_on_and_acknowledged(app):
    assert message(app)["acknowledged"] == 0

    send(app, moved=MOVED)

    assert app.session_state.got == [tuple(MOVED["pending"])]
    assert message(app)["acknowledged"] == 4


def test_a_view_is_handed_on(app):
    send(app, view=VIEW | {"at": 5})

    assert app.session_state.got == [VIEW]


@pytest.mark.parametrize(
    "view", [{"show": 5}, VIEW | {"show": 5}, VIEW | {"k": HUGE}, VIEW | {"zoom": HUGE}, [1], 7, ""]
)
def test_a_forged_view_is_ignored(app, view):
    send(app, view=view)

    assert app.session_state.got == []


@pytest.mark.parametrize(
    "moved", [{"number": HUGE, "pending": []}, MOVED | {"number": "4"}, [MOVED], {"pending": 5}, 5]
)
def test_forged_drops_are_ignored(app, moved):
    send(app, moved=moved)

    assert app.session_state.got == []
    assert message(app)["acknowledged"] == 0


def test_each_message_has_the_next_version(app):
    assert message(app)["version"] == 1

    app.run()

    assert message(app)["version"] == 2
