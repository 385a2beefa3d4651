from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[1] / "app.py"


@pytest.fixture(scope="module")
def app():
    # The first start may have to compile the kernels: leave it all the time it needs.
    return AppTest.from_file(APP, default_timeout=300).run()


def test_the_app_opens_without_an_exception(app):
    assert not app.exception


def test_the_first_page_says_what_this_is(app):
    assert [title.value for title in app.title] == ["Hidden Markov models on curved spaces"]


def test_the_first_page_draws_one_figure(app):
    assert len(app.get("plotly_chart")) == 1
