"""Opens pages, and finds what they show as a visitor does: by its label."""

import re
from pathlib import Path

from streamlit.testing.v1 import AppTest

from dashboard.model.experiment import Experiment

APP = Path(__file__).parents[2] / "pages" / "navigation.py"
PATIENCE = 600.0
"""Seconds: longer than any machine needs."""


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


def to_take(page) -> dict[str, bool]:
    """The files that a page hands out, and whether they are ready."""
    links = re.findall(r"<a ([^>]*)>([^<]*)</a>", " ".join(e.proto.body for e in page.get("html")))
    return {label: "href=" in attributes for attributes, label in links}
