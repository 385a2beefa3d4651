from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[1] / "pages" / "navigation.py"


@pytest.fixture
def app():
    # The first start may have to compile the kernels: leave it all the time it needs.
    return AppTest.from_file(APP, default_timeout=300)


def test_the_app_opens_on_the_live_lab(app):
    app.run()

    assert not app.exception
    assert [title.value for title in app.title] == ["Online learning on the Poincaré disk"]


def test_the_link_sets_the_controls(app):
    app.query_params["delta"] = "100"
    app.query_params["T"] = "1000"
    app.query_params["seed"] = "3"
    app.run()

    assert app.select_slider[0].value == 100
    assert [field.value for field in app.number_input] == [1000, 3]


def test_the_controls_set_the_link(app):
    app.run()
    app.select_slider[0].set_value(60).run()

    assert app.query_params["delta"] == "60"
    assert not app.exception


def test_a_broken_link_is_explained_and_the_rest_of_it_kept(app):
    app.query_params["A"] = "oops"
    app.query_params["seed"] = "3"
    app.run()

    assert not app.exception
    assert [warning.value for warning in app.warning] == [
        "Cannot read A = 'oops'; the default is used."
    ]
    assert app.number_input[1].value == 3


def test_a_chain_shorter_than_the_window_is_explained_and_nothing_is_lost(app):
    app.run()
    app.select_slider[0].set_value(5000).run()
    app.number_input[0].set_value(1000).run()

    beside, above = app.sidebar.error, app.main.error  # the sidebar may be folded away
    for (sentence,) in (beside, above):
        assert "Δ = 5,000 is more than the T = 1,000" in sentence.value
    assert app.number_input[0].value == 1000  # as typed
    assert app.query_params["T"] == "10000"  # as shown

    app.select_slider[0].set_value(200).run()

    assert not app.error
    assert app.query_params["T"] == "1000"
    assert app.query_params["delta"] == "200"


def test_a_preset_replaces_the_truth_and_keeps_the_rest(app):
    app.query_params["seed"] = "3"
    app.run()
    next(box for box in app.selectbox if box.label == "True model").set_value("Two states").run()

    assert app.query_params["sigma"] == "0.5,0.8"
    assert app.query_params["seed"] == "3"


def test_an_option_is_asked_for_only_where_it_matters(app):
    def asked_with(*algorithms):
        pills = next(one for one in app.button_group if one.label == "Online algorithms")
        pills.set_value(list(algorithms)).run()
        assert not app.exception
        return [radio.label for radio in app.radio]

    app.run()
    assert asked_with("windowed", "streaming") == ["Update of A", "Memory"]
    assert asked_with("windowed") == ["Update of A"]
    assert asked_with("streaming") == ["Memory"]
    assert app.select_slider
    assert asked_with("auto") == []
    assert not app.select_slider


def test_no_online_algorithm_is_refused_in_a_sentence_and_the_last_choice_stays(app):
    app.run()
    next(one for one in app.button_group if one.label == "Online algorithms").set_value([]).run()

    assert [error.value for error in app.sidebar.error] == ["Choose at least one online algorithm."]
    assert app.query_params["algorithm"] == "windowed,streaming"
