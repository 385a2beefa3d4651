import re

import pytest
from streamlit.testing.v1 import AppTest


def script():
    from dashboard.ui import controls, session

    session.open_session()
    controls.link_warnings()


def warnings_of(**query) -> list[str]:
    page = AppTest.from_function(script)
    page.query_params.update(query)
    page.run()
    assert not page.exception
    return [warning.value for warning in page.warning]


@pytest.mark.parametrize(
    "broken",
    [
        {"A": "oops", "T": "7", "show": "magic", "runs": "many", "learners": "none"},
        {"A": "1,1;1,1", "c": "0,0;2,0", "sigma": "-1,1", "look": "1"},
    ],
)
def test_several_broken_parts_of_a_link_are_one_warning_that_names_each(broken):
    (warning,) = warnings_of(**broken)

    for key in broken:
        assert re.search(rf"^- Cannot (read|use) {key}\b", warning, re.MULTILINE), key


def test_a_single_broken_part_of_a_link_is_one_sentence():
    assert warnings_of(T="many") == ["Cannot read T = 'many'; the default is used."]


def test_a_link_that_can_be_used_gets_no_warning():
    assert warnings_of(T="1000") == []


def one_setting():
    from dashboard.ui import controls, session

    session.open_session()
    controls.setting(session.visitor().experiment, "transition_update")


def test_a_control_that_comes_back_is_a_new_one_that_shows_what_is_set():
    page = AppTest.from_function(one_setting)
    page.query_params.update(algorithm="windowed", update="convex")
    (before,) = page.run().radio
    first, key = before.value, before.key
    me = page.session_state["visitor"]

    me.propose(me.experiment, algorithms=("streaming",))
    assert not page.run().radio
    me.propose(me.experiment, algorithms=("windowed",))
    (after,) = page.run().radio

    assert first == after.value == "convex"
    assert after.key != key
