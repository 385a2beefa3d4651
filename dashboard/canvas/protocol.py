"""How a canvas in the browser and Python talk to each other. protocol.js is the browser's half.

**Python to the browser: messages.** Each mount of a component hands over one message of bytes
(see `pack`): a JSON text and arrays. The Live lab is two mounts: "lab" gets the run, "feed" gets
its observations once, and has no picture. "Set the truth" is one mount, "sketch". So is
"How it works", "lesson", which sends nothing back: an id names the content of its message.

A message of lab and feed has a *version*. A whole message (``continues`` is null) says all that is
known. Any other adds to the version that it names in ``continues``:

- The run's versions are 1, 2, 3, … in each session. While it is computed, a message brings the rows
  of the learner's path and the baselines that have come since the one before. A path whose known
  rows have changed, or another run, is sent whole.
- The version of the observations is a name of their content. They are sent once; after that a
  message says that they are still the same: its version and ``continues`` are equal, and it says
  how often observations were ``sent``. A browser is not told twice in a row of equal messages, so
  without that number it could not ask again when what it had asked for was lost, too.

A browser that does not have the version that a message continues ignores the message and sends
``missing``; the next message to that canvas is then whole. A page that begins anew always sends
everything of the run. A browser that gets the same version twice ignores the second. Messages get
lost: Streamlit replaces one that waits to be sent by the next, and it may end a run of the script
in place of a mount.

**The browser to Python.** A canvas sends three things, and Python checks each (`read_moved`,
`read_view`). What does not have the form below is ignored as a whole.

- ``moved``, when true means were dropped: ``{number, pending: [{state, x, y, chart}, …]}`` in map
  coordinates. ``chart`` is the id of the map that they were dropped on; a space that has only one
  map gives no id. The number counts the drops of this session. A drop stays *pending* in the
  browser, and on screen, until a message says that Python has *acknowledged* it: ``acknowledged``
  is the largest number that Python has seen, be it accepted or refused. Each drop repeats all that
  is still pending, because Streamlit replaces a message that Python has not taken yet by the next.
  What is repeated may have been dropped on an earlier map, so each drop names its own.
- ``view``, when what is on screen has changed and settled: the switches that are on (``show``, of
  `dashboard.model.view.SHOWN`), ``colour``, the moment ``k`` (null while it plays), the place
  (``x, y, zoom, panX, panY``), and the ``version`` of the view that this began from. The view
  belongs to the browser. Python changes it only when a link is opened: the message's view then has
  another version, and the browser shows it. What the browser sends about an older version is
  ignored. ``at``, a time, makes two equal views differ for Streamlit.
- ``missing``, a time, as above.

**When Streamlit takes the component off the page.** While the server is busy Streamlit may unmount
a component and mount it again at once. mount.js keeps the picture for two seconds: what was in the
visitor's hand is dropped where it is, pending drops stay pending, and when the component is back,
drops and view are sent again. After two seconds the picture is closed. A new one begins without a
version, so the next message that continues one makes it ask for everything.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NotRequired, TypedDict, cast

import numpy as np

from dashboard.model.spaces.chart import Chart

_MOST = 2**31
"""No number that a canvas sends is this large."""
_MOST_NAMES = 100
_KEPT_CHARTS = 8


def pack(about: Mapping, arrays: Mapping[str, np.ndarray]) -> bytes:
    """The length of a JSON text, the text that says what follows, and the arrays.

    Each array begins at a multiple of eight bytes, as typed arrays in JavaScript want it; offsets
    are counted from the first.
    """
    table, body = [], bytearray()
    for name, array in arrays.items():
        table.append(
            {"name": name, "type": array.dtype.name, "count": array.size, "offset": len(body)}
        )
        body += np.ascontiguousarray(array).tobytes()
        body += bytes(-len(body) % 8)
    text = json.dumps({"about": about, "arrays": table}).encode()
    head = len(text).to_bytes(4, "little") + text
    return head + bytes(-len(head) % 8) + bytes(body)


@dataclass
class Channel:
    """What a session has sent to one canvas, and what it has acknowledged."""

    version: int = 0
    """Of the last message."""
    known: Any = None
    """What the browser knows since that message; None if the next message must be whole."""
    acknowledged: int = 0
    """The number of the last drop that has come from this canvas."""
    charts: dict[str, Chart] = field(default_factory=dict)
    """The maps that were sent last, by their ids: drops are places on one of them."""

    def send_all(self) -> None:
        """Let the next message be whole: the browser may have nothing."""
        self.known = None

    def sent(self, known: Any) -> None:
        """A message went out after which the browser knows this."""
        self.version += 1
        self.known = known

    def drew(self, chart: Chart) -> None:
        """A message brought this map. Drops on maps of another space have no meaning any more."""
        others = (c for c in self.charts.values() if c.space == chart.space and c.id != chart.id)
        self.charts = {c.id: c for c in [*others, chart][-_KEPT_CHARTS:]}

    def acknowledge(self, moved: "Moved") -> None:
        """The next message says that these drops have come."""
        self.acknowledged = moved.number


class Drop(TypedDict):
    """A true mean that was dropped, in coordinates of the map with this id."""

    state: int
    x: float
    y: float
    chart: NotRequired[str]


class Moved(NamedTuple):
    """True means that were dropped and that no message had acknowledged."""

    number: int
    pending: tuple[Drop, ...]


class ViewReport(TypedDict):
    """What is on screen, and the version of the view that it began from."""

    version: int
    show: list[str]
    colour: str
    k: int | None
    x: float
    y: float
    zoom: float
    panX: float
    panY: float


def read_moved(sent: object) -> Moved | None:
    """What a canvas has sent as ``moved``; None if it is not of that form."""
    match sent:
        case {"number": number, "pending": [_, *_] as pending} if is_count(number):
            drops = tuple(drop for each in pending if (drop := _read_drop(each)) is not None)
            if len(drops) == len(pending):
                return Moved(number, drops)
    return None


def _read_drop(sent: object) -> Drop | None:
    match sent:
        case {"state": state, "x": x, "y": y, **rest} if (
            is_count(state) and _is_real(x) and _is_real(y)
        ):
            drop = Drop(state=state, x=x, y=y)
            match rest.get("chart"):
                case None:
                    return drop
                case str(chart):
                    return {**drop, "chart": chart}
    return None


def read_view(sent: object) -> ViewReport | None:
    """What a canvas has sent as ``view``; None if it is not of that form."""
    match sent:
        case {"version": version, "show": [*show], "colour": str(colour), "k": k, **rest}:
            place = {name: rest.get(name) for name in ("x", "y", "zoom", "panX", "panY")}
            if (
                is_count(version)
                and len(show) <= _MOST_NAMES
                and all(isinstance(name, str) for name in show)
                and (k is None or is_count(k))
                and all(map(_is_real, place.values()))
            ):
                report = {"version": version, "show": show, "colour": colour, "k": k, **place}
                return cast(ViewReport, report)
    return None


def is_count(value: Any) -> bool:
    """Whether a canvas can mean a number of things by this value."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def _is_real(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -_MOST < value < _MOST and math.isfinite(value)
