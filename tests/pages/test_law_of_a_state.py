"""The law of a state as a setting of the method."""

from dashboard.model.experiment import Experiment
from tests.pages.finding import labelled, opened, said, tables

SMALL = Experiment(length=500, window=150, algorithms=("streaming",))


def settled(page):
    while any(button.label == "Cancel" for button in page.button):
        page.run()
    assert not page.exception
    return page


def test_the_law_is_chosen_in_the_sidebar_and_told():
    page = settled(opened(SMALL))
    assert "emission" not in page.query_params
    round_states = tables(page)[0]

    labelled(page.selectbox, "Law of a state").set_value("tied").run()
    settled(page)

    assert page.query_params["emission"] == "tied"
    assert any("Law of a state: one shape for all." in text for text in said(page.markdown))
    (table,) = tables(page)
    told = "Log-likelihood per observation"
    assert table[told] != round_states[told]
    assert "nan" not in str(table).lower()

    settled(page.switch_page("experiment/compare.py").run())
    legends = " ".join(element.proto.body for element in page.get("html"))
    assert "one deviation away from its mean" in legends

    page.query_params.update({"deltas": "150", "runs": "1"})
    settled(page.switch_page("experiment/tradeoff.py").run())
    assert any("paper’s law of a state" in text for text in said(page.info))
