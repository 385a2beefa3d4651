"""True models worth starting from. Each is a complete truth, see `experiment.TRUTH`."""

import math
from collections.abc import Mapping

from dashboard.model.experiment import Experiment
from rhmm.table import LENGTH as PAPER_LENGTH


def _ring(count: int, radius: float, turn: float = 0.0) -> tuple[tuple[float, float], ...]:
    angles = (turn + 2.0 * math.pi * i / count for i in range(count))
    return tuple((round(radius * math.cos(a), 3), round(radius * math.sin(a), 3)) for a in angles)


def _staying(stay: float, count: int) -> tuple[tuple[float, ...], ...]:
    """Stay with this probability, else go to any other state."""
    leave = round((1.0 - stay) / (count - 1), 12)
    return tuple(tuple(stay if i == j else leave for j in range(count)) for i in range(count))


PRESETS = {
    "Paper": Experiment().truth,
    "Overlapping": {
        "transmat": ((0.8, 0.1, 0.1), (0.15, 0.7, 0.15), (0.1, 0.2, 0.7)),
        "means": ((0.0, 0.0), (0.5, 0.2), (-0.2, 0.5)),
        "sigmas": (0.6, 0.8, 0.7),
        "startprob": (1.0, 0.0, 0.0),
    },
    "Sticky": {
        "transmat": _staying(0.97, 3),
        "means": ((0.0, -0.3), (0.45, 0.4), (-0.45, 0.4)),
        "sigmas": (0.6, 0.6, 0.6),
        "startprob": (1.0, 0.0, 0.0),
    },
    "Near the boundary": {
        "transmat": ((0.6, 0.2, 0.2), (0.2, 0.6, 0.2), (0.2, 0.2, 0.6)),
        "means": ((0.0, 0.97), (0.1, 0.96), (0.93, -0.25)),
        "sigmas": (0.7, 0.7, 0.9),
        "startprob": (1.0, 0.0, 0.0),
    },
    "Two states": {
        "transmat": ((0.9, 0.1), (0.2, 0.8)),
        "means": ((-0.45, 0.0), (0.45, 0.0)),
        "sigmas": (0.5, 0.8),
        "startprob": (0.5, 0.5),
    },
    "Five states": {
        "transmat": _staying(0.6, 5),
        "means": ((0.0, 0.0), *_ring(4, 0.75, math.pi / 4)),
        "sigmas": (0.3, 0.5, 0.6, 0.7, 0.8),
        "startprob": (0.2,) * 5,
    },
}


def preset_of(truth: Mapping) -> str | None:
    """The name of the preset that this truth is, if it is one."""
    return next((name for name, preset in PRESETS.items() if preset == truth), None)


def is_the_papers(experiment: Experiment) -> bool:
    """Whether the data are those of the paper's experiment, but for the seed."""
    return experiment.truth == PRESETS["Paper"] and experiment.length == PAPER_LENGTH
