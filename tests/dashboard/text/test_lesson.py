import re

import pytest

from dashboard.compute import lesson as results
from dashboard.model.lesson import STEPS
from dashboard.text.glossary import glossary_table
from dashboard.text.lesson import DELTA_NAMES, SCREENS


def test_every_screen_has_its_words():
    assert tuple(SCREENS) == STEPS
    assert set(DELTA_NAMES) == {run.key for run in results.windows().runs}


@pytest.mark.parametrize("step", STEPS)
def test_a_screen_has_about_sixty_words(step):
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", SCREENS[step].words)
    assert 45 <= len(plain.split()) <= 80


@pytest.mark.parametrize("step", STEPS)
def test_symbols_are_linked_to_the_glossary(step):
    anchors = re.findall(r"\(#([a-z-]+)\)", SCREENS[step].words)
    assert anchors
    for anchor in anchors:
        assert f'id="{anchor}"' in glossary_table()


@pytest.mark.parametrize("step", STEPS)
def test_one_of_the_options_is_right(step):
    question = SCREENS[step].question()
    assert len(set(question.options)) == len(question.options) >= 3
    assert 0 <= question.right < len(question.options)
    assert question.because


def test_the_row_that_fails_first_is_that_of_the_engine():
    found, question = results.windows().exit, SCREENS["delta"].question()
    assert question.options[question.right] == f"Row {found.row + 1}"
    assert f"−{-found.raw:.3f}" in question.because
    assert f"k = {found.k}" in question.because


def test_the_state_that_the_chain_sees_is_the_true_one():
    case, question = results.mistake(), SCREENS["differ"].question()
    assert question.options[question.right] == f"State {case.state + 1}"
    assert f"K-means says state {case.label + 1}" in question.text
