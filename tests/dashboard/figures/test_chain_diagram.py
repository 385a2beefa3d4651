import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from dashboard.figures.chain_diagram import chain_in_words, chain_svg, probability
from dashboard.model import truth
from dashboard.model.experiment import Experiment
from dashboard.model.marks import STATE_COLOURS
from dashboard.model.model_checks import MOST_STATES
from dashboard.model.presets import PRESETS

SVG = "{http://www.w3.org/2000/svg}"


def chain_of(n):
    now = Experiment()
    while now.n_states > n:
        now = replace(now, **truth.without_state(now.truth, 0))
    while now.n_states < n:
        now = replace(now, **truth.with_new_state(now.truth))
    return now.transmat


def drawn(transmat):
    return ET.fromstring(chain_svg(transmat))


@pytest.mark.parametrize("n", range(1, MOST_STATES + 1))
def test_every_state_has_a_circle_in_its_colour_and_its_number(n):
    picture = drawn(chain_of(n))
    assert [c.get("fill") for c in picture.iter(f"{SVG}circle")] == list(STATE_COLOURS[:n])
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert texts[:n] == [str(i + 1) for i in range(n)]


@pytest.mark.parametrize("n", range(1, MOST_STATES + 1))
def test_nothing_leaves_the_picture(n):
    picture = drawn(chain_of(n))
    left, top, width, height = map(float, picture.get("viewBox").split())
    for path in picture.iter(f"{SVG}path"):
        numbers = [float(number) for number in re.findall(r"-?\d+\.\d", path.get("d"))]
        ends = [*numbers[:2], *numbers[-2:]]
        assert all(left < x < left + width for x in ends[::2])
        assert all(top < y < top + height for y in ends[1::2])
    for text in picture.iter(f"{SVG}text"):
        assert left + 10 < float(text.get("x")) < left + width - 10
        assert top + 8 < float(text.get("y")) < top + height - 8


def test_a_transition_that_cannot_happen_has_no_arrow():
    heads = [
        p for p in drawn(((0.0, 1.0), (0.5, 0.5))).iter(f"{SVG}path") if p.get("fill") != "none"
    ]
    assert len(heads) == 3


def test_likely_transitions_are_thicker():
    picture = drawn(((0.9, 0.1), (0.5, 0.5)))
    widths = [float(p.get("stroke-width")) for p in picture.iter(f"{SVG}path") if p.get("stroke")]
    assert widths == sorted(widths)
    assert widths[-1] > 2 * widths[0]


@pytest.mark.parametrize("name", ["Paper", "Overlapping", "Sticky", "Two states", "Five states"])
def test_with_few_states_every_loop_has_its_probability(name):
    transmat = PRESETS[name]["transmat"]
    texts = [text.text for text in drawn(transmat).iter(f"{SVG}text")][len(transmat) :]
    for i, row in enumerate(transmat):
        assert probability(row[i]) in texts


def test_the_paper_s_chain_has_all_nine_probabilities():
    texts = [text.text for text in drawn(Experiment().transmat).iter(f"{SVG}text")]
    assert sorted(texts[3:]) == ["0.1", "0.1", "0.2", "0.2", "0.3", "0.3", "0.4", "0.6", "0.8"]


def test_the_picture_says_in_words_what_it_shows():
    picture = drawn(((0.0, 1.0), (0.25, 0.75)))
    assert picture.get("role") == "img"
    assert picture.get("aria-label") == (
        "Chain with 2 states. From state 1 to 2 with 1. "
        "From state 2 to 1 with 0.25, to 2 with 0.75."
    )
    assert chain_in_words(((1.0,),)) == "Chain with 1 state. From state 1 to 1 with 1."


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.4, "0.4"),
        (1.0, "1"),
        (1 / 3, "0.33"),
        (0.999, "0.999"),
        (0.0004, "0.0004"),
        (0.015, "0.015"),
        (0.0, "0"),
    ],
)
def test_a_probability_is_short_but_never_wrongly_sure(value, text):
    assert probability(value) == text


def test_arrows_and_states_say_which_they_are():
    picture = drawn(((0.0, 1.0), (0.5, 0.5)))
    ends = {(p.get("data-from"), p.get("data-to")) for p in picture.iter(f"{SVG}path")}
    assert ends - {(None, None)} == {("1", "2"), ("2", "1"), ("2", "2")}
    assert [c.get("data-state") for c in picture.iter(f"{SVG}circle")] == ["1", "2"]
