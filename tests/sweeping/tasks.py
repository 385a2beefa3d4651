"""What tests send to worker processes, and the small sweep that they share."""

import os
import signal
import time
from pathlib import Path

from rhmm import Run
from rhmm.paper import paper_model
from rhmm.sweeping import grid

TRUTH = paper_model()
GRID = grid(["windowed", "streaming", "em", "kmeans", "ceiling"], [20, 60], length=400)


def without_times(runs: list[Run]) -> list[Run]:
    return [run._replace(seconds=0.0) for run in runs]


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
