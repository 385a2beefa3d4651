from dashboard.model.experiment import MOST_STATES
from dashboard.model.marks import MARKS


def test_there_is_a_mark_for_every_state_and_no_two_are_alike():
    assert len(MARKS) == MOST_STATES
    for field in ("colour", "symbol", "glyph", "pattern"):
        assert len({getattr(mark, field) for mark in MARKS}) == MOST_STATES
    assert len({(mark.corners, mark.turn, mark.inner) for mark in MARKS}) == MOST_STATES
