"""Opens pages, and finds what they show as a visitor does: by its label."""

import re
from html import unescape
from pathlib import Path

from streamlit.testing.v1 import AppTest

from dashboard.model.experiment import Experiment

APP = Path(__file__).parents[2] / "pages" / "navigation.py"
PATIENCE = 600.0
"""Seconds: longer than any machine needs."""

_CELL = re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>", re.DOTALL)


def opened(experiment: Experiment) -> AppTest:
    """The Live lab with this experiment."""
    page = AppTest.from_file(APP, default_timeout=PATIENCE)
    for key, value in experiment.to_query().items():
        page.query_params[key] = value
    page.run()
    assert not page.exception
    return page


def labelled(elements, label: str):
    return next(element for element in elements if element.label == label)


def said(elements) -> list:
    return [element.value for element in elements]


def charts(page) -> int:
    """How many Plotly figures a page shows."""
    return len(page.get("plotly_chart"))


def tables(page) -> list[dict[str, list[str]]]:
    """The tables of a page: cells by the headings of their columns."""
    out = []
    for element in page.get("html"):
        for table in re.findall(r"<table>.*?</table>", element.proto.body, re.DOTALL):
            lines = [
                [unescape(re.sub("<[^>]*>", "", cell)) for cell in _CELL.findall(line)]
                for line in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
            ]
            heads, *rows = lines
            out.append({head: [row[i] for row in rows] for i, head in enumerate(heads)})
    return out


def to_take(page) -> dict[str, bool]:
    """The files that a page hands out, and whether they are ready."""
    links = re.findall(r"<a ([^>]*)>([^<]*)</a>", " ".join(e.proto.body for e in page.get("html")))
    return {label: "href=" in attributes for attributes, label in links}
