import asyncio
import json
import re

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from streamlit.testing.v1 import AppTest

from dashboard.model.experiment import Experiment
from dashboard.server import offers
from dashboard.text import files
from tests.pages.finding import labelled, opened, to_take

ASKED = Experiment(length=700, window=60)


def taken(address: str) -> Response:
    """What the server answers to a click on a link."""
    route = offers.route()
    scope = {"type": "http", "method": "GET", "path": address.removeprefix("."), "headers": []}
    match, found = route.matches(scope)
    assert match is Match.FULL
    return asyncio.run(route.endpoint(Request(scope | found)))


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

    answer = taken(address_of(page, "data.csv"))

    assert made == [ASKED]
    assert answer.headers["content-disposition"] == 'attachment; filename="data.csv"'
    assert len(answer.body.splitlines()) == ASKED.length + 1


def test_a_link_that_is_one_answer_behind_still_gives_its_file():
    page = opened(ASKED)
    before = address_of(page, "results.json")
    labelled(page.number_input, "Seed").set_value(3).run()
    after = address_of(page, "results.json")

    seeds = [json.loads(taken(a).body)["experiment"]["seed"] for a in (before, after)]

    assert seeds == [0, 3]


def test_a_link_that_is_two_answers_behind_says_that_its_file_is_gone():
    page = opened(ASKED)
    address = address_of(page, "results.json")
    for seed in (1, 2):
        labelled(page.number_input, "Seed").set_value(seed).run()

    answer = taken(address)

    assert answer.status_code == 404
    assert b"open its page again" in answer.body
