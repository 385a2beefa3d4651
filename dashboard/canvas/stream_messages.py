"""What Python says to the canvas of the Stream page, and what that says of its visitor.

The mount hands over an `opening_message`: the address of the stream, what is known about what
flows, the learners. All else comes from that address, as a `news_message` ten times a second,
without a run of the page. The browser answers there with orders (`read_order`), each a JSON object
with one field:

- ``pace``: observations a second; ``play``: whether it flows; ``step``: so many observations;
- ``happen``: the kind of an event that is to come; ``refit``: EM is to be fitted anew;
- ``moved``: means that were dropped, as in `protocol`.

To Streamlit the canvas sends only what the link keeps: ``changed``, a time, when there is another
script or pace, and ``missing`` when its stream has gone.
"""

import math
from typing import Any

import numpy as np

from dashboard.canvas.protocol import is_count, pack, read_moved
from dashboard.compute.endless import RECORDED_WINDOW, Moment, Points
from dashboard.compute.happenings import HAPPENINGS, HAPPENINGS_OF_RECORDINGS
from dashboard.compute.refitting import RECENT
from dashboard.compute.stream_workers import Report
from dashboard.compute.tracks import WINDOW, Judged
from dashboard.figures.common import NEUTRAL
from dashboard.figures.tradeoff import LOOKS, Look
from dashboard.model.endless import LEAST_PACE, MOST_PACE, Played, Setup
from dashboard.model.followers import COUNTING, FOLLOWERS
from dashboard.model.marks import STATE_SYMBOLS
from dashboard.model.methods import EM, capitalised, method_definition, method_name
from dashboard.text.stream import SHORT_NAMES
from rhmm.streams.bank import BANK
from rhmm.worlds import Event

_DASHES = {
    "solid": [],
    "dash": [7, 4],
    "dot": [2, 3],
    "dashdot": [7, 3, 2, 3],
    "longdash": [12, 4],
    "longdashdot": [12, 3, 2, 3],
}
"""Plotly's names of lines, as a canvas needs them, in pixels."""

_MOST_STEP = 1_000

_RESTARTS = 20
"""Of an automatic memory, the latest: older ones have left the curves."""


_LOOKS = LOOKS | {COUNTING: Look("#B5179E", "star", "★", "longdashdot")}

_ABOUT_EM = {
    "key": EM,
    "label": method_name(EM),
    "about": f"{method_definition(EM)} Here it is fitted to the latest {RECENT:,} observations "
    "when you ask for it, and the stream waits meanwhile; in between its parameters stand still.",
    "colour": NEUTRAL,
    "mark": STATE_SYMBOLS.index("hexagon"),
    "dash": [],
}


def opening_message(setup: Setup, address: str, pace: int) -> bytes:
    """Where the stream is, and all about it that does not change."""
    about = {
        "id": address,
        "address": address,
        "pace": pace,
        "paces": [LEAST_PACE, MOST_PACE],
        "learners": [*map(_about_learner, setup.learners), _ABOUT_EM],
        "memories": [str(memory) for memory in BANK],
        **_about_source(setup),
    }
    return pack(about, {})


def _about_source(setup: Setup) -> dict[str, Any]:
    """Whether the truth is known, and what follows from it."""
    source = setup.source
    plays = isinstance(source, Played)
    names: tuple[str, ...] = ()
    if isinstance(source, Played):
        names = source.held.recording.label_names if source.has_labels else ()
    happenings = HAPPENINGS_OF_RECORDINGS if plays else HAPPENINGS
    return {
        "truth": not plays,
        "labels": list(names),
        "length": len(source.held.recording.points) if isinstance(source, Played) else None,
        "window": RECORDED_WINDOW if plays else WINDOW,
        "counts": COUNTING in setup.learners,
        "happenings": [{"name": name, "label": SHORT_NAMES[name]} for name in happenings],
    }


def _about_learner(key: str) -> dict[str, Any]:
    follower, look = FOLLOWERS[key], _LOOKS[key]
    return {
        "key": key,
        "label": capitalised(follower.name),
        "about": follower.about,
        "colour": look.colour,
        "mark": STATE_SYMBOLS.index(look.symbol),
        "dash": _DASHES[look.dash],
    }


def news_message(report: Report, known: tuple[Event, ...] | None = None) -> bytes:
    """What a stream has to say since its last message; the script only if it is not `known`.

    The first message to a browser, to which none is known, also brings the map.
    """
    news = report.news
    script = {} if news.script == known else {"events": [*map(_about_event, news.script)]}
    chart = {"chart": news.chart} if known is None else {}
    about = {
        "taken": news.taken,
        "playing": report.playing,
        "pace": report.pace,
        "reached": round(report.reached, 1),
        "sharing": report.sharing,
        "acknowledged": news.acknowledged,
        "refused": news.refused,
        "over": news.is_over,
        "judged": [_about_judged(judged) for judged in news.judged],
        "exists": news.moment.exists.tolist(),
        "sigmas": news.moment.sigmas.tolist(),
        **script,
        **chart,
        **_about_points(news.points),
    }
    arrays = {
        "steps": (news.rows.steps - news.taken).astype(np.int32),
        "measures": news.rows.measures.astype(np.float32).ravel(),
        "ceiling": news.rows.ceiling.astype(np.float32).ravel(),
    }
    return pack(about, arrays | _points(news.points) | _moment(news.moment))


def _about_event(event: Event) -> dict[str, Any]:
    return {"at": event.at, "ends": event.ends, "label": event.label}


def _about_judged(judged: Judged) -> dict[str, Any]:
    memory = None if judged.memory is None else BANK.index(judged.memory)
    micros = None if math.isnan(judged.micros) else round(judged.micros, 2)
    restarts = judged.restarts[-_RESTARTS:]
    return judged._asdict() | {"memory": memory, "micros": micros, "restarts": restarts}


def _about_points(points: Points | None) -> dict[str, int]:
    return {} if points is None else {"first": points.first, "stride": points.stride}


def _points(points: Points | None) -> dict[str, np.ndarray]:
    if points is None:
        return {}
    arrays: dict[str, np.ndarray] = {
        "xy": points.xy.astype(np.float32).ravel(),
        "states": points.states.astype(np.int8),
        "decoded": points.decoded.astype(np.int8).ravel(),
    }
    return arrays | _given(glyphs=points.glyphs)


def _moment(moment: Moment) -> dict[str, np.ndarray]:
    arrays = {
        "means": moment.means.astype(np.float32).ravel(),
        "learned": moment.learned.astype(np.float32).ravel(),
    }
    return arrays | _given(balls=moment.balls, mean_glyphs=moment.glyphs)


def _given(**arrays: np.ndarray | None) -> dict[str, np.ndarray]:
    return {name: a.astype(np.float32).ravel() for name, a in arrays.items() if a is not None}


def read_order(sent: object) -> tuple[str, Any] | None:
    """An order of the browser for `LiveStream.order`; None if it is not of that form."""
    match sent:
        case {"pace": int() | float() as pace} if not isinstance(pace, bool):
            return ("pace", pace) if LEAST_PACE <= pace <= MOST_PACE else None
        case {"play": bool(play)}:
            return "play", play
        case {"refit": True}:
            return "refit", None
        case {"step": step} if is_count(step) and 1 <= step <= _MOST_STEP:
            return "step", step
        case {"happen": str(kind)} if kind in HAPPENINGS:
            return "happen", kind
        case {"moved": moved}:
            drops = read_moved(moved)
            if drops is not None:
                places = [(drop["state"], drop["x"], drop["y"]) for drop in drops.pending]
                return "drop", (drops.number, places)
    return None
