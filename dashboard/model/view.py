"""What the pictures show, and from where. The link keeps it too."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dashboard.model.experiment import MOST_LENGTH
from dashboard.model.fields import Settings, setting
from dashboard.model.kinds import (
    Choice,
    Choices,
    Invalid,
    Known,
    Maybe,
    RoundedNumbers,
    WholeNumber,
    WholeRange,
    is_number,
)
from dashboard.model.methods import BASELINES
from dashboard.model.spaces.registry import DEFAULT, SPACES

SWITCHES = ("circles", "trails", "held", "seen", "grid", "presenter")
"""Switches of the picture; ``seen`` hides the observations to come, ``presenter`` the sidebar."""
SHOWN_BESIDE = tuple(key for key, learner in BASELINES.items() if not learner.needs_truth)
"""Keys of the methods that can be shown beside the online ones."""
SHOWN = (*SWITCHES, *SHOWN_BESIDE)
COLOURS = ("plain", "decoded", "true")
"""By what observations are coloured; ``plain`` is one grey for all: their states are hidden."""
MOST_ZOOM = 60.0
MOST_WIDE = 500
"""Observations that a timeline shows at once."""

_PLACE = ("x", "y", "zoom", "panX", "panY")
"""What the canvas calls the parts of `View.place`."""


def _checked_place(place: tuple[float, ...], known: Known) -> tuple[float, ...]:
    x, y, zoom, *pans = place
    reason = SPACES[known["space"]].why_not_centred(x, y)
    if reason:
        raise Invalid(reason)
    if not 1.0 <= zoom <= MOST_ZOOM or not all(-1.0 <= pan <= 1.0 for pan in pans):
        raise Invalid("The picture cannot be moved or enlarged so far.")
    return place


@dataclass(frozen=True)
class View(Settings):
    """Of the Live lab: switches, colours, the moment k (None: play), where the map is looked at.

    Of Compare: from where to where its timeline goes. The space is that of the experiment.
    """

    CHECKED_FIRST: ClassVar[tuple[str, ...]] = ("space",)

    space: str = setting(DEFAULT.key, "space", Choice("The space", tuple(SPACES)), quiet=True)
    show: tuple[str, ...] = setting(
        ("circles", "trails", "held", "seen", "grid", *SHOWN_BESIDE),
        "show",
        Choices("switch", SHOWN, empty="nothing"),
    )
    colour: str = setting("plain", "colour", Choice("The colour", COLOURS))
    k: int | None = setting(None, "k", Maybe(WholeNumber("The moment k", 0, MOST_LENGTH)))
    place: tuple[float, ...] = setting(
        (0.0, 0.0, 1.0, 0.0, 0.0), "look", RoundedNumbers(len(_PLACE), 4), _checked_place
    )
    """Centre of the picture (x, y), zoom, and by how much it is moved (x, y)."""
    timeline: tuple[int, int] = setting((1, 200), "t", WholeRange("the timeline", MOST_LENGTH))

    @classmethod
    def from_browser(cls, sent: Mapping, space: str = DEFAULT.key) -> "View":
        """What the canvas reports, kept within what it can show; the default for nonsense."""
        plain = cls(space=space)
        reported = {name: sent[name] for name in ("show", "colour", "k") if name in sent}
        reported["place"] = _clamped_place(sent, space)
        if not isinstance(reported.get("show", ()), list | tuple):
            del reported["show"]
        view, _ = plain.accepting(reported)
        return view

    def for_browser(self) -> dict:
        """The same in the words of the canvas."""
        place = dict(zip(_PLACE, self.place, strict=True))
        return {"show": list(self.show), "colour": self.colour, "k": self.k, **place}


def _clamped_place(sent: Mapping, space: str) -> tuple[float, ...]:
    x, y, zoom, *pans = (
        float(sent[name]) if is_number(sent.get(name)) else plain
        for name, plain in zip(_PLACE, View.place, strict=True)
    )
    x, y = SPACES[space].clamped_centre(x, y)
    zoom = min(MOST_ZOOM, max(1.0, zoom))
    return x, y, zoom, *(min(1.0, max(-1.0, pan)) for pan in pans)


def clamped_timeline(
    window: tuple[int, int], before: tuple[int, int], length: int
) -> tuple[int, int]:
    """A range of at most `MOST_WIDE` observations: the end that was moved takes the other along."""
    beyond = max(0, window[1] - length)  # a chain that is shorter now: the same width, at its end
    first, last = max(1, window[0] - beyond), window[1] - beyond
    if last - first < MOST_WIDE:
        return first, last
    if first == before[0]:
        return last - MOST_WIDE + 1, last
    return first, first + MOST_WIDE - 1


def turned_timeline(window: tuple[int, int], pages: int, length: int) -> tuple[int, int]:
    """The range of the same width so many pages later, as far as there are observations."""
    width = window[1] - window[0] + 1
    first = max(1, min(window[0] + pages * width, length - width + 1))
    return first, first + width - 1
