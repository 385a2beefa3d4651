import pytest

from dashboard.model import analysis
from dashboard.model.marks import ALL_MARKS, MARKS
from dashboard.model.model_checks import MOST_STATES
from tests.dashboard.contrast import DARK, LIGHT, contrast


def test_there_is_a_mark_for_every_state_and_no_two_are_alike():
    assert len(MARKS) == MOST_STATES
    for field in ("colour", "symbol", "glyph", "pattern"):
        assert len({getattr(mark, field) for mark in MARKS}) == MOST_STATES
    assert len({(mark.corners, mark.turn, mark.inner) for mark in MARKS}) == MOST_STATES


def test_recordings_have_a_mark_for_every_state_too():
    assert len(ALL_MARKS) == analysis.MOST_STATES
    for field in ("colour", "symbol", "glyph"):
        assert len({getattr(mark, field) for mark in ALL_MARKS}) == analysis.MOST_STATES
    assert all(len(mark.glyph) == 1 for mark in ALL_MARKS)


@pytest.mark.parametrize("mark", ALL_MARKS, ids=lambda mark: mark.symbol)
def test_every_mark_is_seen_on_the_light_and_on_the_dark_page(mark):
    assert contrast(mark.colour, LIGHT.background) > 2.2  # Okabe–Ito's orange is the palest
    assert contrast(mark.colour, DARK.background) > 3.0


def test_the_colour_in_the_place_of_yellow_stands_out_from_white():
    star = next(mark for mark in MARKS if mark.symbol == "star")
    assert contrast(star.colour, LIGHT.background) > 3.0
