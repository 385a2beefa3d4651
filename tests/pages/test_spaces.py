"""All pages in every space but the default one, which the other tests of pages are about."""

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.compute import runs
from dashboard.model.experiment import Experiment
from dashboard.model.spaces.registry import DEFAULT, SPACES
from tests.pages.finding import APP, PATIENCE, labelled, to_take

PAGES = ("live", "truth", "compare", "tradeoff")
OTHERS = [key for key in SPACES if key != DEFAULT.key]


@pytest.fixture(scope="module", autouse=True)
def _kernels_of_other_spaces():
    for key in OTHERS:
        runs.compute(Experiment(**SPACES[key].truth, length=500, window=60), lambda *_: None)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RHMM_CACHE", str(tmp_path))


def opened(page: str, **query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=PATIENCE)
    app.query_params.update(query)
    if page != "live":
        app.switch_page(f"experiment/{page}.py")
    app.run()
    assert not app.exception
    return app


def now(app: AppTest) -> Experiment:
    return app.session_state.visitor.experiment.valid


@pytest.mark.parametrize("key", OTHERS)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_in_every_space(key, page):
    app = opened(page, space=key, T="600", delta="60", deltas="60", runs="1", learners="streaming")

    assert now(app).truth == SPACES[key].truth
    assert app.warning.len == 0
    assert app.query_params["space"] == key
    assert labelled(app.selectbox, "Space").value == key
    assert labelled(app.selectbox, "True model").value == next(iter(SPACES[key].presets))


@pytest.mark.parametrize("key", OTHERS)
def test_another_space_begins_with_its_own_truth_and_leaves_with_it(key):
    app = opened("live", T="600", delta="60")
    assert "space" not in app.query_params

    labelled(app.selectbox, "Space").set_value(key).run()
    assert not app.exception
    assert now(app) == Experiment(**SPACES[key].truth, length=600, window=60)
    assert app.title[0].value == SPACES[key].words.title
    assert app.query_params["space"] == key

    labelled(app.selectbox, "Space").set_value(DEFAULT.key).run()
    assert not app.exception
    assert now(app) == Experiment(length=600, window=60)
    assert "space" not in app.query_params


@pytest.mark.parametrize("key", OTHERS)
def test_the_canvas_begins_anew_in_another_space(key):
    app = opened("live", T="600", delta="60", look="0.1,0.2,3.0,0,0")
    me = app.session_state.visitor
    before = me.links

    labelled(app.selectbox, "Space").set_value(key).run()

    me = app.session_state.visitor
    assert me.links == before + 1
    assert (me.view.space, me.view.place) == (key, (0.0, 0.0, 1.0, 0.0, 0.0))


@pytest.mark.parametrize("key", OTHERS)
def test_another_space_that_waits_for_a_mistake_elsewhere_leaves_the_page_whole(key):
    app = opened("truth", T="600", delta="60")
    app.session_state.visitor.experiment.typed = {"length": None}
    app.run()

    labelled(app.selectbox, "Space").set_value(key).run()

    assert not app.exception
    assert now(app).space == DEFAULT.key
    labelled(app.number_input, "T: length of the chain").set_value(700).run()
    assert not app.exception
    assert now(app) == Experiment(**SPACES[key].truth, length=700, window=60)


@pytest.mark.parametrize("key", OTHERS)
def test_files_of_another_space_can_be_taken(key):
    app = opened("compare", space=key, T="600", delta="60")
    while any(button.label == "Cancel" for button in app.button):
        app.run()

    assert all(to_take(app).values())
