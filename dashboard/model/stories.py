"""Experiments that each show one thing, prepared for a lecture."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from dashboard.model.experiment import Experiment
from dashboard.model.presets import PRESETS
from dashboard.model.view import View


class Opened(NamedTuple):
    """What a story opens."""

    experiment: Experiment
    view: View


@dataclass(frozen=True)
class Story:
    """One of them: its name, and what there is to see."""

    name: str
    about: str
    experiment: Experiment
    place: tuple[float, ...] = View.place

    def opened(self) -> Opened:
        """The experiment, and the view that it begins with."""
        view = View(space=self.experiment.space)
        return Opened(self.experiment, replace(view, place=self.place))


_INSIDE: dict[str, Any] = {
    "transmat": ((0.95, 0.025, 0.025), (0.025, 0.95, 0.025), (0.025, 0.025, 0.95)),
    "means": ((0.0, 0.0), (0.15, 0.1), (-0.5, -0.45)),
    "sigmas": (0.15, 1.2, 0.3),
    "startprob": (1.0, 0.0, 0.0),
}
"""A narrow state in the middle of a wide one."""


@cache
def stories() -> dict[str, Story]:
    """All of them by their names, in the order of a page."""
    rim = PRESETS["Near the boundary"]
    x, y = rim["means"][0]
    listed = (
        Story(
            "The collapse",
            "With Δ = 40 the paper’s update throws rows of Â onto one state; the streaming one, "
            "from the same 40 observations, does not.",
            Experiment(window=40),
        ),
        Story(
            "K-means fails",
            "A narrow state lies inside a wide one: the nearest centre says little, the chain "
            "says much.",
            Experiment(**_INSIDE),
        ),
        Story(
            "Near the rim",
            "Two means that look as if they touched are far apart: the map is centred on one of "
            "them by an isometry.",
            Experiment(**rim),
            (x, y, 1.0, 0.0, 0.0),
        ),
        Story(
            "Overlap",
            "The states overlap so much that even the true parameters leave one observation in "
            "seven wrong.",
            Experiment(**PRESETS["Overlapping"]),
        ),
        Story(
            "Bad start",
            "Thirty observations hardly show five states. The paper’s algorithm stays where it "
            "started; ours begins afresh when it has seen more.",
            Experiment(
                **{**PRESETS["Five states"], "transition_update": "convex"}, window=30, seed=2
            ),
        ),
    )
    return {story.name: story for story in listed}


def story_of(experiment: Experiment) -> str | None:
    """The name of the story that this experiment is of, if there is one."""
    return next((s.name for s in stories().values() if s.experiment == experiment), None)
