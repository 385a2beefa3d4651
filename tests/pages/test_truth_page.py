import json
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.model.experiment import Experiment
from dashboard.model.presets import PRESETS
from dashboard.ui import job_view
from tests.pages.finding import labelled, tables, to_take

APP = Path(__file__).parents[2] / "pages" / "navigation.py"
PAGE = "experiment/truth.py"


@pytest.fixture
def open_page():
    def open_page(**query):
        app = AppTest.from_file(APP, default_timeout=600)
        app.query_params.update(query)
        app.run()
        return app.switch_page(PAGE).run()

    return open_page


def button(app, label):
    return next(button for button in app.button if button.label == label)


def labels(app):
    return [button.label for button in app.button]


def type_wrongly(app, **draft):
    """As if a visitor had typed this: AppTest cannot type into a data editor."""
    app.session_state.visitor.experiment.typed = draft
    return app.run()


def type_into_transmat(app, row, column, value):
    """As the browser tells it: AppTest itself cannot type into a data editor."""
    editor = app.dataframe[0].proto
    told = app._tree.get_widget_states()
    edits = {"edited_rows": {row: {column: value}}, "added_rows": [], "deleted_rows": []}
    told.widgets.add(id=editor.id, string_value=json.dumps(edits))
    app._run(told)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_opens_with_what_it_implies(open_page, name):
    app = open_page(**Experiment(**PRESETS[name]).to_query())

    assert not app.exception
    assert [title.value for title in app.title] == ["Set the truth"]
    n = len(PRESETS[name]["means"])
    chain, separations = tables(app)
    assert chain["State"] == [str(i + 1) for i in range(n)]
    assert len(separations) == n + 1
    assert len(separations["Mean"]) == n
    assert any("identifies **" in text.value for text in app.markdown)
    assert not app.error


def test_a_single_state_has_no_separations(open_page):
    app = open_page(A="1", c="0,0", sigma="0.5", pi="1")

    assert not app.exception
    assert len(tables(app)) == 1
    assert button(app, "Remove").disabled


def test_the_numbers_are_those_of_the_paper_s_chain(open_page):
    app = open_page()

    chain = tables(app)[0]
    assert chain["Share of time (%)"] == ["18.18", "27.27", "54.55"]
    assert chain["Expected stay (observations)"] == ["1.67", "2.50", "5.00"]


def test_the_ceiling_says_which_sample_it_is_from(open_page):
    said = [caption.value for caption in open_page().caption]

    assert any("one simulated chain of 20,000 observations" in words for words in said)


def test_every_column_that_can_be_typed_in_has_a_definition(open_page):
    for editor in open_page().dataframe:
        columns = json.loads(editor.proto.columns)
        typed = {name: column for name, column in columns.items() if name != "_index"}
        assert typed
        assert all(column["help"].endswith(".") for column in typed.values())


def test_a_state_can_be_added_and_removed(open_page):
    app = open_page(delta="20")
    button(app, "Add a state").click().run()

    assert app.query_params["A"].split(";")[0] == "0.36,0.27,0.27,0.1"
    assert len(tables(app)[0]["State"]) == 4

    button(app, "Add a state").click().run()

    assert app.query_params["delta"] == "25"
    assert not app.error

    button(app, "Remove").click().run()
    button(app, "Remove").click().run()

    assert app.query_params["c"] == "0,0;0.29,0.82;-0.29,0.82"
    assert not app.exception


def test_eight_states_are_the_most(open_page):
    app = open_page()
    for _ in range(5):
        button(app, "Add a state").click().run()

    assert len(app.query_params["sigma"].split(",")) == 8
    assert button(app, "Add a state").disabled
    assert not app.exception


@pytest.mark.parametrize(("label", "before", "after"), [("Remove", 2, 1), ("Add a state", 7, 8)])
def test_a_second_click_before_the_page_has_answered_the_first_does_nothing(
    open_page, monkeypatch, label, before, after
):
    even = (1 / before,) * before
    places = tuple((0.1 * i, 0.0) for i in range(before))
    experiment = Experiment(
        transmat=(even,) * before, means=places, sigmas=(1.0,) * before, startprob=even
    )
    app = open_page(**experiment.to_query())
    labelled(app.selectbox, "State to remove").set_value(0).run()
    button(app, label).click()
    clicked = app._tree.get_widget_states()
    with monkeypatch.context() as patches:
        patches.setattr(job_view, "leave", st.stop)  # the page does not come as far as its buttons
        app._run(clicked)
    app._run(clicked)

    assert not app.exception
    assert app.session_state.visitor.experiment.typed == {}
    assert app.session_state.visitor.experiment.valid.n_states == after


def test_a_row_that_is_no_law_is_explained_and_normalised(open_page):
    app = open_page()
    before = app.query_params["A"]
    rows = ((0.3, 0.3, 0.3), (0.2, None, 0.2), (0.1, 0.1, 0.8))
    type_wrongly(app, transmat=rows)

    assert [error.value for error in app.error] == ["Row 1 of A sums to 0.9, not to 1."]
    assert app.query_params["A"] == before
    assert app.session_state.visitor.experiment["transmat"] == rows

    button(app, "Normalise").click().run()

    assert not app.error
    assert app.query_params["A"].split(";")[1:] == ["0.5,0,0.5", "0.1,0.1,0.8"]


def test_a_start_that_is_no_law_is_explained_and_normalised(open_page):
    app = open_page()
    type_wrongly(app, startprob=(0.5, 0.5, 1.0))

    assert [error.value for error in app.error] == ["π sums to 2, not to 1."]

    button(app, "Normalise").click().run()

    assert app.query_params["pi"] == "0.25,0.25,0.5"


def test_what_is_typed_wrongly_can_be_given_up(open_page):
    app = open_page()
    type_wrongly(app, means=((2.0, 0.0), (0.0, 0.0), (0.0, 0.5)), sigmas=(0.0, 1.0, 1.0))

    assert [error.value for error in app.error] == [
        "c₁ = (2, 0) is outside the disk: x² + y² must be less than 1.",
        "σ₁ = 0 must be above 0.",
    ]

    button(app, "Back to the last valid model").click().run()

    assert not app.error
    assert "Back to the last valid model" not in labels(app)


def test_what_is_typed_survives_another_page(open_page):
    app = open_page()
    type_wrongly(app, transmat=((0.3, 0.3, 0.3), (0.2, 0.6, 0.2), (0.1, 0.1, 0.8)))
    app.switch_page("experiment/live.py").run()
    app.switch_page(PAGE).run()

    assert [error.value for error in app.error] == ["Row 1 of A sums to 0.9, not to 1."]


def test_what_is_wrong_with_the_data_is_told_beside_what_is_wrong_with_the_truth(open_page):
    app = open_page()
    type_into_transmat(app, 0, "to 1", 0.5)
    labelled(app.number_input, "T: length of the chain").set_value(10).run()
    labelled(app.number_input, "Seed").set_value(-1).run()

    assert [error.value for error in app.sidebar.error] == [
        "T must be between 500 and 100,000.",
        "The seed must be between 0 and 2,147,483,647.",
    ]
    assert [error.value for error in app.main.error] == ["Row 1 of A sums to 1.1, not to 1."]


def test_what_does_not_go_together_is_told_where_it_can_be_mended(open_page):
    app = open_page(delta="1000")
    type_into_transmat(app, 0, "to 1", 0.5)
    labelled(app.number_input, "T: length of the chain").set_value(500).run()

    assert len(app.sidebar.error) == 1
    assert app.sidebar.error[0].value.startswith("Δ = 1,000 is more than the T = 500")


def test_a_preset_replaces_what_is_typed(open_page):
    app = open_page()
    type_wrongly(app, transmat=((0.3, 0.3, 0.3), (0.2, 0.6, 0.2), (0.1, 0.1, 0.8)))
    labelled(app.selectbox, "True model").set_value("Five states").run()

    assert not app.error
    assert not app.exception
    assert len(tables(app)[0]["State"]) == 5


@pytest.mark.parametrize("column", ["to 1", "to 5"])
def test_fewer_states_replace_a_table_that_was_typed_in(open_page, column):
    app = open_page(**Experiment(**PRESETS["Five states"]).to_query())
    type_into_transmat(app, 0, column, 0.5)
    assert app.error[0].value.startswith("Row 1 of A sums to")

    labelled(app.selectbox, "True model").set_value("Two states").run()

    assert not app.exception
    assert not app.error
    assert len(tables(app)[0]["State"]) == 2


def test_a_state_can_be_removed_after_typing_in_its_column(open_page):
    app = open_page(**Experiment(**PRESETS["Five states"]).to_query())
    type_into_transmat(app, 0, "to 5", 0.5)

    button(app, "Remove").click().run()

    assert not app.exception
    assert len(tables(app)[0]["State"]) == 4


def test_parts_of_two_models_are_not_shown_as_one(open_page):
    app = open_page()
    type_wrongly(app, sigmas=(1.0, 1.0))

    assert not app.exception
    assert app.session_state.visitor.experiment.typed == {}


def test_a_broken_link_is_explained(open_page):
    app = open_page(A="0.5,0.4;0.5,0.5")

    assert len(app.warning) == 1
    assert not app.exception


def test_the_model_can_be_taken_away(open_page):
    app = open_page()

    assert to_take(app) == {
        "Parameters (JSON)": True,
        "Script (Python)": True,
        "Chain (SVG)": True,
    }
