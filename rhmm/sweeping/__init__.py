"""Sweeps: the same truth learned in many ways with many seeds, on one machine or a cluster."""

from rhmm.sweeping.configuration import Configuration, grid
from rhmm.sweeping.executors import open_executor
from rhmm.sweeping.record import load_runs, save_runs
from rhmm.sweeping.rows import fingerprint
from rhmm.sweeping.run import Run, Task, run_once
from rhmm.sweeping.schedule import compute_runs, sweep
from rhmm.sweeping.summary import Band, Summary, enough_window, noise_floor, summarise

__all__ = [
    "Band",
    "Configuration",
    "Run",
    "Summary",
    "Task",
    "compute_runs",
    "enough_window",
    "fingerprint",
    "grid",
    "load_runs",
    "noise_floor",
    "open_executor",
    "run_once",
    "save_runs",
    "summarise",
    "sweep",
]
