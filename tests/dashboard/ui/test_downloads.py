import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.model.experiment import Experiment
from dashboard.text import files
from dashboard.ui import job_view
from tests.dashboard.server.asking import answer
from tests.pages.finding import PATIENCE, labelled, opened, to_take

ASKED = Experiment(length=700, window=60)


@pytest.fixture(autouse=True)
def _pages_wait_for_their_run(monkeypatch):
    """On a slow machine too: the first run has to load the kernels."""
    monkeypatch.setattr(job_view, "QUICK", PATIENCE)


def address_of(page: AppTest, name: str) -> str:
    text = " ".join(e.proto.body for e in page.get("html"))
    return re.search(rf'href="([^"]*/{name})"', text)[1]


def test_a_file_is_made_when_its_link_is_clicked(monkeypatch):
    made, data_csv = [], files.data_csv

    def make(run):
        made.append(run.experiment)
        return data_csv(run)

    monkeypatch.setattr(files, "data_csv", make)
    page = opened(ASKED)
    assert to_take(page)["Data (CSV)"]
    assert made == []

    taken = answer(address_of(page, "data.csv"))

    assert made == [ASKED]
    assert taken.headers["content-disposition"] == 'attachment; filename="data.csv"'
    assert len(taken.body.splitlines()) == ASKED.length + 1


def test_a_link_that_is_one_answer_behind_still_gives_its_file():
    page = opened(ASKED)
    before = address_of(page, "results.json")
    labelled(page.number_input, "Seed").set_value(3).run()
    after = address_of(page, "results.json")

    seeds = [json.loads(answer(a).body)["experiment"]["seed"] for a in (before, after)]

    assert seeds == [0, 3]


def test_a_link_that_is_two_answers_behind_says_that_its_file_is_gone():
    page = opened(ASKED)
    address = address_of(page, "results.json")
    for seed in (1, 2):
        labelled(page.number_input, "Seed").set_value(seed).run()

    taken = answer(address)

    assert taken.status_code == 404
    assert b"open its page again" in taken.body
