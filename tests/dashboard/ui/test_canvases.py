import json

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.model.experiment import Experiment
from dashboard.model.spaces.disk import DISK_CHART
from dashboard.model.truth import Placed
from tests.dashboard.canvas.unpacking import unpack

VIEW = {
    "version": 1,
    "show": ["grid"],
    "colour": "true",
    "k": 90,
    "x": 0,
    "y": 0,
    "zoom": 2,
    "panX": 0,
    "panY": 0,
}
HUGE = int("9" * 400)
DROP = {"state": 1, "x": 0.5, "y": 0.25}


def lab_and_feed():
    import streamlit as st

    from dashboard.compute.runs import compute
    from dashboard.model.experiment import Experiment
    from dashboard.model.view import View
    from dashboard.ui import canvases, session

    session.open_session()
    st.session_state.setdefault("moved", [])
    st.session_state.setdefault("viewed", [])
    if "run" not in st.session_state:
        st.session_state.run = compute(Experiment(length=500, window=60), lambda *_: None)
    canvases.lab(
        st.session_state.run,
        True,
        View(),
        1,
        doing="",
        key="lab",
        on_moved=st.session_state.moved.append,
        on_view=st.session_state.viewed.append,
    )
    canvases.feed(st.session_state.run, key="cloud")


def sketch():
    import streamlit as st

    from dashboard.model.experiment import Experiment
    from dashboard.ui import canvases, session

    session.open_session()
    st.session_state.setdefault("moved", [])
    now = Experiment(length=500, window=60)
    canvases.sketch(
        now,
        now.means,
        now.sigmas,
        now.chart,
        key="sketch",
        on_moved=st.session_state.moved.append,
    )


@pytest.fixture
def page():
    return run(lab_and_feed)


def run(script) -> AppTest:
    page = AppTest.from_function(script, default_timeout=600).run()
    assert not page.exception
    return page


def canvas(page: AppTest, key: str):
    found = (element.proto for element in page.get("bidi_component"))
    return next(proto for proto in found if proto.id.endswith(f"-{key}"))


def message(page: AppTest, key: str) -> tuple[dict, dict]:
    """What the canvas was sent last."""
    return unpack(canvas(page, key).bytes)


def drop(page: AppTest, key: str, value) -> None:
    """As the browser tells that means were dropped."""
    states = page._tree.get_widget_states()
    name = f"$$STREAMLIT_INTERNAL_KEY_{canvas(page, key).id}__events"
    events = [{"event": "moved", "value": value}]
    states.widgets.add(id=name, json_trigger_value=json.dumps(events))
    page._run(states)
    assert not page.exception


def tell(page: AppTest, key: str, **values) -> None:
    """As the browser tells its view, or that a message is missing."""
    states = page._tree.get_widget_states()
    states.widgets.add(id=canvas(page, key).id, json_value=json.dumps(values))
    page._run(states)
    assert not page.exception


def test_the_first_message_is_whole_and_the_next_one_adds_to_it(page):
    first, path = message(page, "lab")
    cloud, points = message(page, "cloud")
    page.run()
    second, nothing = message(page, "lab")
    again, none = message(page, "cloud")

    assert (first["version"], first["continues"]) == (1, None)
    assert (second["version"], second["continues"]) == (2, 1)
    for key in ("windowed", "streaming"):
        whole = page.session_state.run.path(key)
        assert path[f"{key}.steps"].tolist() == whole.step.tolist()
        assert len(nothing[f"{key}.steps"]) == 0
    assert cloud["continues"] is None
    assert points["xy"].size == 2 * 500
    assert again == {"version": cloud["version"], "continues": cloud["version"], "sent": 1}
    assert none == {}


@pytest.mark.parametrize("key", ["lab", "cloud"])
def test_a_browser_that_misses_a_message_gets_everything(page, key):
    page.run()
    assert message(page, key)[0]["continues"] is not None

    tell(page, key, missing=1)

    about, arrays = message(page, key)
    assert about["continues"] is None
    assert all(array.size > 0 for array in arrays.values())


def test_observations_that_are_lost_twice_are_asked_for_twice(page):
    """What was asked for may be replaced on its way by the next message, too: the browser is told
    of that only if the message is another one than the latest that it has got."""
    page.run()
    told = message(page, "cloud")

    tell(page, "cloud", missing=1)
    page.run()

    told_again = message(page, "cloud")
    assert told_again[0]["continues"] is not None
    assert told_again != told


def interrupted():
    """Streamlit ends the script in place of each mount, and runs it again."""
    from contextlib import suppress

    from dashboard.compute.runs import compute
    from dashboard.model.experiment import Experiment
    from dashboard.model.view import View
    from dashboard.ui import canvases, session

    def ended(**_):
        raise InterruptedError

    session.open_session()
    run = compute(Experiment(length=500, window=60), lambda *_: None)
    told = {"doing": "", "key": "lab", "on_moved": print, "on_view": print}
    lab, feed = canvases._lab, canvases._feed
    canvases._lab = canvases._feed = ended
    with suppress(InterruptedError):
        canvases.lab(run, True, View(), 1, **told)
    with suppress(InterruptedError):
        canvases.feed(run, key="cloud")
    canvases._lab, canvases._feed = lab, feed
    canvases.lab(run, True, View(), 1, **told)
    canvases.feed(run, key="cloud")


@pytest.mark.parametrize("key", ["lab", "cloud"])
def test_a_message_that_was_never_mounted_is_not_taken_for_known(key):
    about, arrays = message(run(interrupted), key)

    assert about["continues"] is None
    assert all(array.size > 0 for array in arrays.values())


@pytest.mark.parametrize(("script", "key"), [(lab_and_feed, "lab"), (sketch, "sketch")])
def test_a_drop_is_handed_on_and_acknowledged(script, key):
    page = run(script)
    assert message(page, key)[0]["acknowledged"] == 0

    drop(page, key, {"number": 3, "pending": [DROP]})

    placed = Placed(DROP["state"], DISK_CHART, DROP["x"], DROP["y"])
    assert page.session_state.moved == [[placed]]
    assert message(page, key)[0]["acknowledged"] == 3


@pytest.mark.parametrize(
    "forged",
    [
        None,
        5,
        [5],
        {"pending": 5},
        {"number": HUGE, "pending": [DROP]},
        {"number": "3", "pending": [DROP]},
        {"number": 3, "pending": [{"state": "1"}]},
    ],
)
def test_a_forged_drop_is_neither_handed_on_nor_acknowledged(page, forged):
    drop(page, "lab", forged)

    assert page.session_state.moved == []
    assert message(page, "lab")[0]["acknowledged"] == 0


def test_a_view_is_handed_on(page):
    tell(page, "lab", view=VIEW | {"at": 1_800_000_000_000})

    assert page.session_state.viewed == [VIEW]


@pytest.mark.parametrize(
    "forged",
    [{"show": 5}, VIEW | {"show": 5}, VIEW | {"k": HUGE}, VIEW | {"zoom": "large"}, [1], 7, ""],
)
def test_a_forged_view_is_not_handed_on(page, forged):
    tell(page, "lab", view=forged)

    assert page.session_state.viewed == []


def test_the_sketch_shows_the_data_with_the_means_that_are_typed():
    about, arrays = message(run(sketch), "sketch")

    assert about["truth"]["means"] == [list(mean) for mean in Experiment().means]
    assert arrays["states"].size == 500
