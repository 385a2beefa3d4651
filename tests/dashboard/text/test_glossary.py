import re

import pytest

from dashboard.text import glossary

NEEDED = (
    "A", "π", "c", "σ", "δ", "Z", "α", "β", "γ", "ζ", "τ", "μ", "g", "Δ", "T", "N", "ceiling",
)  # fmt: skip


@pytest.mark.parametrize("symbol", NEEDED)
def test_every_symbol_of_the_paper_has_a_sentence(symbol):
    assert re.match(r"[A-Z].*\.\)?$", glossary.define(symbol))


def test_a_symbol_is_found_by_its_name_too():
    assert glossary.define("tau") == glossary.define("τ")
    assert glossary.define("τ").endswith("(Paper, eq. (12).)")


def test_a_word_that_is_not_explained_is_refused():
    with pytest.raises(KeyError):
        glossary.define("nonsense")


def test_every_link_finds_its_anchor():
    table = glossary.glossary_table()
    for symbol in glossary.SYMBOLS:
        assert f'id="{glossary.anchor(symbol)}"' in table
        assert glossary.link(symbol) == f"[{symbol}](#{glossary.anchor(symbol)})"
    assert len({glossary.anchor(symbol) for symbol in glossary.SYMBOLS}) == len(glossary.SYMBOLS)
