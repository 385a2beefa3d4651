"""The pages of an experiment on a recording. The chain of the disk stands for all of them: its
kernels are there already."""

import re

from streamlit.testing.v1 import AppTest

from dashboard.model.experiment import Experiment
from tests.pages.finding import APP, PATIENCE, charts, labelled, said, tables, to_take

SMALL = {"source": "disk", "algorithm": "windowed", "delta": "60"}


def opened(page: str = "experiment/live.py", **query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=PATIENCE)
    app.query_params.update(SMALL | query)
    app.run()
    if not page.endswith("live.py"):
        app.switch_page(page).run()
    while any(button.label == "Cancel" for button in app.button):
        app.run()
    assert not app.exception
    assert "nan" not in " ".join(map(str, said(app.markdown) + said(app.caption))).lower().split()
    return app


def now(app: AppTest) -> Experiment:
    return app.session_state.visitor.experiment.valid


def test_the_live_lab_learns_a_recording_and_shows_no_truth():
    app = opened()

    (table,) = tables(app)
    assert table["Method"] == ["Windowed", "K-means", "EM"]
    assert "‖A − Â‖" not in table
    assert all(90 < float(share) <= 100 for share in table["Agreement with the labels (%)"])
    assert any("no ceiling" in caption for caption in said(app.caption))
    assert labelled(app.number_input, "N: number of states").value == 3
    labels = [element.label for element in (*app.selectbox, *app.number_input, *app.button)]
    assert not {"Space", "True model", "T: length of the chain", "New data"} & set(labels)
    assert all(to_take(app).values())


def test_a_model_that_was_taught_the_labels_stands_beside_if_it_is_asked_for():
    app = opened()
    name = "Compare with a model that was taught the labels"
    labelled(app.toggle, name).set_value(True).run()

    assert not app.exception
    assert app.query_params["reference"] == "yes"
    while any(button.label == "Cancel" for button in app.button):
        app.run()
    assert any(re.search(r"tells \*\*\d+\.\d+ %\*\* of them", text) for text in said(app.markdown))


def test_the_source_is_chosen_in_the_sidebar_and_kept_in_the_link():
    app = opened()
    assert app.query_params["source"] == "disk"
    assert not {"A", "c", "T"} & set(app.query_params)

    labelled(app.selectbox, "Observations").set_value("simulated").run()
    assert now(app) == Experiment()
    assert "source" not in app.query_params

    labelled(app.selectbox, "Observations").set_value("disk").run()
    assert not app.exception
    assert now(app) == Experiment.of_recording("disk")


def test_another_number_of_states_is_the_visitors_choice():
    app = opened()
    labelled(app.number_input, "N: number of states").set_value(2).run()
    assert not app.exception
    assert (now(app).n_states, app.query_params["N"]) == (2, "2")


def test_compare_shows_labels_where_there_is_no_truth():
    app = opened("experiment/compare.py")

    headings = said(app.subheader)
    assert "State by state, against the labels" in headings
    assert "Which states are confused" in headings
    # maps, matrices and confusions of three methods, the likelihood, and the timeline
    assert charts(app) in (3 * 3 + 2, 3 * 3 + 3)
    assert any(text.startswith("- **Likelihood:**") for text in said(app.markdown))


def test_the_tradeoff_is_against_labels_and_prediction():
    app = opened("experiment/tradeoff.py", deltas="60", learners="paper", runs="1")

    assert charts(app) == 4
    values = {metric.label: metric.value for metric in app.metric}
    assert re.fullmatch(r"\d+\.\d\d %", values["Agreement with the labels"])
    assert re.fullmatch(r"−?\d+\.\d{4}", values["Predictive log density"])
    assert all(to_take(app).values())
    assert not any("Table 2" in heading for heading in said(app.subheader))


def test_a_page_that_needs_a_truth_says_so_and_leads_back():
    app = opened("experiment/truth.py")
    assert "recording" in app.info[0].value

    labelled(app.button, "Go back to simulated chains").click().run()
    assert now(app) == Experiment()


def test_a_step_on_a_recording_is_explained():
    app = opened("learn/how_it_works.py", lesson="step", k="200")
    assert any("k = 200" in heading for heading in said(app.subheader))
    assert len(app.latex) > 4


def test_a_link_to_an_unknown_source_is_told():
    app = opened(source="nothing")
    assert "Cannot use source" in app.warning[0].value
    assert not now(app).is_recorded
