import json

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest


def one_field():
    import streamlit as st

    from dashboard.ui import session, sync

    session.open_session()
    st.session_state.setdefault("value", 1)
    st.session_state.setdefault("kept", [])

    def keep(value):
        st.session_state.value = value
        st.session_state.kept.append(value)

    if not st.session_state.get("gone"):
        sync.widget(st.number_input, "field", "Field", st.session_state.value, keep, step=1)


def one_table():
    import streamlit as st

    from dashboard.ui import session, sync

    session.open_session()
    st.session_state.setdefault("rows", ((0.25, 0.75), (0.5, 0.5)))

    def keep(rows):
        st.session_state.rows = rows

    rows = st.session_state.rows
    names = [str(i) for i in range(len(rows))]
    sync.table("table", rows, names, dict.fromkeys(names, "What it is."), keep, "A table")


def several_choices():
    import streamlit as st

    from dashboard.ui import session, sync

    session.open_session()
    st.session_state.setdefault("value", ["a", "b"])
    sync.widget(st.multiselect, "some", "Some", st.session_state.value, print, options=list("abc"))


def run(script) -> AppTest:
    page = AppTest.from_function(script).run()
    assert not page.exception
    return page


@pytest.fixture
def field():
    return run(one_field)


@pytest.fixture
def table():
    return run(one_table)


def sent_later(page, states) -> None:
    """The browser answers with values from before."""
    page._run(states)
    assert not page.exception


def test_a_change_by_the_visitor_is_kept_and_the_widget_stays(field):
    key = field.number_input[0].key

    field.number_input[0].set_value(5).run()
    field.number_input[0].set_value(6).run()

    assert field.session_state.kept == [5, 6]
    assert field.number_input[0].key == key


def test_a_value_that_changed_elsewhere_is_shown_under_a_new_version(field):
    key = field.number_input[0].key

    field.session_state.value = 9
    field.run()

    assert field.number_input[0].value == 9
    assert field.number_input[0].key != key
    assert field.session_state.kept == []


def test_a_change_under_an_older_version_is_dropped(field):
    field.number_input[0].set_value(5)
    late = field._tree.get_widget_states()
    field.number_input[0].set_value(1)
    field.session_state.value = 9
    field.run()

    sent_later(field, late)
    sent_later(field, late)

    assert field.session_state.value == 9
    assert field.session_state.kept == []
    assert field.number_input[0].value == 9


def test_a_pending_value_is_given_again_until_the_browser_answers(field):
    for _ in range(2):
        sent_later(field, WidgetStates())  # from a browser that has no widget yet
        assert field.number_input[0].value == 1
    assert field.session_state.kept == []

    field.number_input[0].set_value(5).run()
    assert field.number_input[0].value == 5


def test_a_widget_that_was_gone_for_a_while_shows_the_value(field):
    field.number_input[0].set_value(5).run()
    field.session_state.gone = True
    field.run()
    assert not field.number_input

    field.session_state.gone = False
    field.run()

    assert field.number_input[0].value == 5


def test_the_order_of_several_choices_makes_no_new_version():
    page = run(several_choices)
    key = page.multiselect[0].key

    page.session_state.value = ["b", "a"]
    page.run()

    assert page.multiselect[0].key == key


def typed(page, row, column, value) -> None:
    """As the browser tells it: AppTest itself cannot type into a data editor."""
    states = page._tree.get_widget_states()
    edits = {"edited_rows": {row: {column: value}}, "added_rows": [], "deleted_rows": []}
    states.widgets.add(id=page.dataframe[0].proto.id, string_value=json.dumps(edits))
    page._run(states)
    assert not page.exception


def test_what_is_typed_into_a_table_is_kept_and_the_table_stays(table):
    before = table.dataframe[0].proto.id

    typed(table, 0, "1", 0.5)

    assert table.session_state.rows == ((0.25, 0.5), (0.5, 0.5))
    assert table.dataframe[0].proto.id == before


def test_a_table_that_changed_elsewhere_is_a_new_one(table):
    before = table.dataframe[0].proto.id
    typed(table, 0, "1", 0.5)

    table.session_state.rows = ((1.0, 0.0), (0.0, 1.0))
    table.run()

    assert table.dataframe[0].proto.id != before
    assert table.dataframe[0].value.to_numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_table_of_another_size_is_a_new_one(table):
    typed(table, 0, "1", 0.5)

    table.session_state.rows = ((1.0,),)
    table.run()

    assert table.dataframe[0].value.shape == (1, 1)


def test_only_the_latest_widgets_are_remembered(monkeypatch):
    def many_lengths():
        import streamlit as st

        from dashboard.ui import session, sync

        session.open_session()
        length = st.session_state.setdefault("length", 1)
        sync.widget(st.number_input, "always", "Always", 0, print)
        sync.widget(st.number_input, f"timeline-{length}", "Timeline", 0, print)

    monkeypatch.setattr("dashboard.ui.sync._MOST_ENTRIES", 3)
    page = AppTest.from_function(many_lengths)
    for length in range(1, 6):
        page.session_state.length = length
        page.run()
        assert not page.exception

    assert list(page.session_state.visitor.synced) == ["timeline-4", "always", "timeline-5"]
