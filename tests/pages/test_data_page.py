"""The Data page, from a file or a recording to the states."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.ui import job_view
from rhmm import RiemannianHMM
from rhmm.paper import paper_model
from tests.pages.finding import PATIENCE, charts, labelled, said, tables, to_take
from tests.reading.files import csv_bytes, named

POINTS, STATES = paper_model().sample(240, random_state=1)
FILE = csv_bytes(named(POINTS) | {"label": STATES})


def script():
    from pathlib import Path

    import streamlit as st

    from dashboard.ui import session

    page = Path(session.__file__).parents[2] / "pages" / "recordings" / "data.py"
    navigation = st.navigation([st.Page(page, title="Data")])
    session.open_session()
    navigation.run()


@pytest.fixture(autouse=True)
def _pages_wait_for_their_results(monkeypatch):
    monkeypatch.setattr(job_view, "QUICK", PATIENCE)
    monkeypatch.setattr(job_view, "LONG", np.inf)


def opened(**query) -> AppTest:
    page = AppTest.from_function(script, default_timeout=PATIENCE)
    for key, value in query.items():
        page.query_params[key] = value
    page.run()
    assert not page.exception
    return page


def given(content: bytes, name: str = "walk.csv", states: int = 3) -> AppTest:
    """The page after a file was dropped."""
    page = opened(data="file", states=str(states))
    return drop(page, content, name)


def drop(page: AppTest, content: bytes, name: str = "walk.csv") -> AppTest:
    page.file_uploader[0].set_value((name, content, "text/csv")).run()
    assert not page.exception
    return page


def box(page: AppTest, label: str):
    return labelled(page.selectbox, label)


def test_a_file_gives_its_states_and_how_they_agree_with_its_labels():
    page = given(FILE)

    model = RiemannianHMM(paper_model().manifold, 3, random_state=0).fit(POINTS)
    (table,) = tables(page)
    assert table["σ"] == [f"{sigma:.3f}" for sigma in model.sigmas_]
    assert sorted(table["Label"]) == ["0", "1", "2"]
    assert sum(map(float, table["Share (%)"])) == pytest.approx(100.0, abs=0.02)
    found = " ".join(said(page.markdown))
    assert "240 observations on Hyperbolic(2)" in found
    assert "labels from “label”" in found
    assert re.search(r"agree with \*\*\d+\.\d+ %\*\* of the labels", found)
    assert charts(page) == 4  # map, all of the time, a part of it, stays
    assert all(to_take(page).values())
