"""Worlds whose truth changes while they run, recordings as streams, and how fast learners follow.

One line below imports, registers and exports each kind of events.
"""

from rhmm.worlds.blocks import BlockStream, Part
from rhmm.worlds.changes import MoveMean as MoveMean
from rhmm.worlds.changes import NewState as NewState
from rhmm.worlds.changes import NewTransitions as NewTransitions
from rhmm.worlds.changes import Scale as Scale
from rhmm.worlds.changes import SlowTurn as SlowTurn
from rhmm.worlds.changes import StateAway as StateAway
from rhmm.worlds.changes import Turn as Turn
from rhmm.worlds.disturbances import Missing as Missing
from rhmm.worlds.disturbances import Outliers as Outliers
from rhmm.worlds.disturbances import StuckSensor as StuckSensor
from rhmm.worlds.event import (
    BLOCK,
    Event,
    event_from_dict,
    event_from_text,
    register_event,
    registered_events,
    script_from_text,
    script_to_text,
)
from rhmm.worlds.playback import Playback
from rhmm.worlds.recovery import Recovered, Recovery
from rhmm.worlds.truth import Truth
from rhmm.worlds.world import World

__all__ = [
    "BLOCK",
    "BlockStream",
    "Event",
    "Part",
    "Playback",
    "Recovered",
    "Recovery",
    "Truth",
    "World",
    "event_from_dict",
    "event_from_text",
    "register_event",
    "registered_events",
    "script_from_text",
    "script_to_text",
    *(kind.__name__ for kind in registered_events().values()),
]
