import re
from html.parser import HTMLParser

import pytest

from dashboard.model.experiment import Experiment
from dashboard.text import columns, implications, tables


class Cells(HTMLParser):
    """Reads a table back: its rows, and the definition of each heading."""

    def __init__(self):
        super().__init__()
        self.rows, self.definitions, self._defining = [], {}, ""

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "abbr":
            self._defining = dict(attrs)["title"]

    def handle_endtag(self, tag):
        self._defining = "" if tag == "abbr" else self._defining

    def handle_data(self, data):
        self.rows[-1][-1] += data
        if self._defining:
            self.definitions[data] = self._defining


def read(html: str) -> Cells:
    cells = Cells()
    cells.feed(html)
    return cells


@pytest.fixture
def all_tables(paper, swept, papers):
    return {
        "methods": tables.methods_table(paper),
        "runs": tables.runs_table(swept),
        "paper": tables.paper_table(tables.paper_rows(papers)),
        "chain": implications.chain_table(Experiment()),
    }


def test_every_heading_of_every_table_has_a_definition_in_a_sentence(all_tables):
    for name, table in all_tables.items():
        definitions = read(columns.table_html(table, name)).definitions
        assert list(definitions) == list(table)
        assert all(re.fullmatch(r"[^ ].{20,}\.", words) for words in definitions.values())


def test_the_html_holds_every_cell(all_tables):
    for name, table in all_tables.items():
        rows = read(columns.table_html(table, name)).rows
        assert rows == [list(table), *map(list, zip(*table.values(), strict=True))]


def test_measures_with_a_unit_say_it_in_their_heading_alone(all_tables):
    for heading in ("Accuracy (%)", "Error of σ (%)", "Time (ms)", "Memory (KB)"):
        for cell in all_tables["methods"][heading]:
            assert re.fullmatch(r"[\d.,]+|–|0", cell), (heading, cell)


def test_text_cannot_break_out_of_the_table():
    html = columns.table_html({"<b>": ['"><i>', "x"]}, 'a "label"')

    assert "<b>" not in html
    assert "<i>" not in html
    assert 'aria-label="a &quot;label&quot;"' in html
