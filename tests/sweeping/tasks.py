"""What tests send to worker processes, and the small sweep that they share."""

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from rhmm import RiemannianHMM, Run
from rhmm.paper import paper_model
from rhmm.sweeping import grid

TRUTH = paper_model()
GRID = grid(["windowed", "streaming", "em", "kmeans", "ceiling"], window=[20, 60], length=400)


OTHER = RiemannianHMM.from_parameters(
    TRUTH.manifold, TRUTH.startprob_, TRUTH.transmat_, TRUTH.means_, [0.2, 1.0, np.nextafter(1, 2)]
)
"""The truth with the last digit of one σ changed."""


def without_times(runs: list[Run]) -> list[Run]:
    return [replace(run, seconds=0.0) for run in runs]


def die_the_first_time(marker: Path) -> str:
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail() -> None:
    raise KeyError("no such thing")


def print_something() -> int:
    print("this is not an answer", flush=True)
    return os.getpid()


def wait_for(marker: Path) -> int:
    while not marker.exists():
        time.sleep(0.01)
    return os.getpid()
