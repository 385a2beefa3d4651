"""A visitor's own file on the pages beside Data: given once, it opens on all of them."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.model.experiment import Experiment
from dashboard.ui import job_view
from rhmm.paper import paper_model
from tests.pages.finding import APP, PATIENCE, charts, labelled, said, tables, to_take
from tests.reading.files import csv_bytes, named

POINTS, STATES = paper_model().sample(240, random_state=1)
PAGES = ("experiment/live.py", "experiment/compare.py", "experiment/tradeoff.py")


@pytest.fixture(autouse=True)
def _pages_wait_for_their_results(monkeypatch):
    monkeypatch.setattr(job_view, "QUICK", PATIENCE)
    monkeypatch.setattr(job_view, "LONG", float("inf"))


@pytest.fixture
def page() -> AppTest:
    """The Data page after a file with labels was dropped."""
    app = AppTest.from_file(APP, default_timeout=PATIENCE).switch_page("recordings/data.py")
    app.query_params.update({"data": "file", "states": "3", "deltas": "60", "runs": "1"})
    app.run()
    drop(app, csv_bytes(named(POINTS) | {"label": STATES}))
    return app


def drop(app: AppTest, content: bytes, name: str = "walk.csv") -> None:
    app.file_uploader[0].set_value((name, content, "text/csv")).run()
    assert not app.exception


def turned_to(app: AppTest, page: str) -> AppTest:
    app.switch_page(page).run()
    while any(button.label == "Cancel" for button in app.button):
        app.run()
    assert not app.exception
    return app


def open_file(app: AppTest) -> Experiment:
    """Choose the file in the sidebar of the Live lab."""
    turned_to(app, PAGES[0])
    labelled(app.selectbox, "Observations").set_value("file").run()
    return now(app)


def now(app: AppTest) -> Experiment:
    return app.session_state.visitor.experiment.valid


def test_a_file_is_learned_on_all_pages(page):
    link = page.get("page_link")[0].proto
    assert "source=file" in link.query_string
    experiment = open_file(page)

    assert (experiment.length, experiment.n_states, experiment.window) == (240, 3, 60)
    assert page.query_params["source"] == "file"
    (table,) = tables(page)
    assert table["Method"] == ["Windowed", "Streaming", "K-means", "EM"]
    assert all(float(share) > 60 for share in table["Agreement with the labels (%)"])
    assert any("Your file: 240 observations" in words for words in said(page.markdown))
    assert all(to_take(page).values())

    turned_to(page, PAGES[1])
    assert "Which states are confused" in said(page.subheader)
    turned_to(page, PAGES[2])
    assert charts(page) == 4
    page.query_params["lesson"] = "step"
    turned_to(page, "learn/how_it_works.py")
    assert len(page.latex) > 4
    assert now(page) == experiment


def test_another_file_takes_its_place_and_a_removed_one_leaves_the_default(page):
    open_file(page)
    turned_to(page, "recordings/data.py")
    drop(page, csv_bytes(named(POINTS[:120])), "other.csv")
    assert (now(page).length, now(page).label_names) == (120, ())

    labelled(page.button, "Remove the file").click().run()

    assert not page.exception
    assert now(page) == Experiment()
    assert "source" not in page.query_params
    turned_to(page, PAGES[0])
    assert "file" not in labelled(page.selectbox, "Observations").options


def test_a_link_to_a_file_of_another_visitor_says_so_and_opens_the_default():
    app = AppTest.from_file(APP, default_timeout=PATIENCE)
    app.query_params.update({"source": "file", "N": "4", "delta": "60"})
    app.run()

    assert not app.exception
    assert "another visitor’s" in app.warning[0].value
    assert len(app.warning) == 1
    assert not now(app).is_recorded


def test_observations_that_do_not_differ_get_a_sentence():
    app = AppTest.from_file(APP, default_timeout=PATIENCE).switch_page("recordings/data.py")
    app.query_params.update({"data": "file", "states": "1"})
    app.run()
    drop(app, b"x,y\n" + 60 * b"0.1,0.2\n")
    open_file(app)

    told = " ".join(map(str, said(app.error) + said(app.markdown)))
    assert "finds no start" in told or "Your file: 60 observations" in told
    assert "nan" not in str(tables(app)).lower()


def test_labels_that_are_too_many_are_left_out_with_a_word(page):
    turned_to(page, "recordings/data.py")
    many = np.arange(len(POINTS)) % 9
    drop(page, csv_bytes(named(POINTS) | {"label": many}), "many.csv")

    experiment = open_file(page)

    assert experiment.label_names == ()
    assert any("Its 9 labels are too many" in words for words in said(page.caption))


def test_a_file_that_is_too_short_stays_on_the_data_page(page):
    drop(page, csv_bytes(named(POINTS[:30])), "short.csv")

    assert any("at least 40 observations" in words for words in said(page.caption))
    assert not page.get("page_link")
    assert not now(page).is_recorded
