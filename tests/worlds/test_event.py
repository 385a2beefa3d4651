"""Events as text and as dicts, and their registry."""

import json
from urllib.parse import quote

import numpy as np
import pytest

from rhmm.worlds import (
    Missing,
    MoveMean,
    NewState,
    NewTransitions,
    Outliers,
    Scale,
    SlowTurn,
    StateAway,
    StuckSensor,
    Turn,
    event_from_dict,
    event_from_text,
    register_event,
    registered_events,
    script_from_text,
    script_to_text,
)

EVENTS = (
    MoveMean(at=50, state=1, mean=np.array([[0.1, -1e-7], [3.0, 0.25]])),
    Turn(angle=-30),
    Scale(at=2**52 // 50 * 50, factor=-0.9),
    SlowTurn(at=0, angle=360, length=5_000),
    NewTransitions(at=0, transmat=((0.25, 0.75), (1.0, 0.0))),
    StateAway(at=100, state=0, length=50),
    NewState(at=100, mean=0.5, sigma=0.2),
    Outliers(at=100, share=0.01, length=50, distance=9),
    Missing(at=100, share=1, length=50),
    StuckSensor(at=100, length=50),
)


def test_there_is_a_case_for_every_kind():
    ours = {
        name for name, kind in registered_events().items() if kind.__module__.startswith("rhmm.")
    }
    assert {event.name for event in EVENTS} == ours


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: e.name)
def test_an_event_survives_text_and_json(event):
    text = event.to_text()
    assert quote(text, safe="") == text
    assert event_from_text(text) == event
    assert event_from_dict(json.loads(json.dumps(event.to_dict()))) == event
    assert hash(event_from_text(text)) == hash(event)


def test_a_script_survives_text():
    assert script_from_text(script_to_text(EVENTS)) == EVENTS
    assert script_from_text("") == ()


def test_values_left_out_at_the_end_have_their_defaults():
    assert event_from_text("outliers_100_0.1_50") == Outliers(at=100, share=0.1, length=50)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flood_100", "event must be one of move, turn"),
        ("turn_100_x", "angle must be a number, not 'x'"),
        ("turn_100", "turn needs a value for angle"),
        ("turn_100_3_4", "turn has 2 values at most: at, angle"),
        ("turn_100_3~4", "angle must be a number"),
        ("turn_now~3_4", "at must be a number"),
        ("stuck_100_1e400", "length must be a whole number"),
    ],
)
def test_text_that_is_no_event_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        event_from_text(text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "content must be a dict"),
        ({"at": 50}, "event must be one of"),
        ({"event": ["turn"]}, "event must be one of"),
        ({"event": "turn", "at": 50, "angel": 3}, "turn has no angel"),
        ({"event": "turn", "at": 50}, "turn needs a value for angle"),
    ],
)
def test_a_dict_that_is_no_event_is_refused(content, message):
    with pytest.raises(ValueError, match=message):
        event_from_dict(content)


def test_a_name_belongs_to_one_kind():
    class Other(Turn):
        pass

    with pytest.raises(ValueError, match="name 'turn' is taken by Turn"):
        register_event(Other)
