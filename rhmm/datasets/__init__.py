"""Recordings that come with the package: signs of a hand, exercises, and the weather; and simulated
chains on every kind of space."""

from rhmm.datasets.chains import make_chain
from rhmm.datasets.dataset import Dataset
from rhmm.datasets.recordings import EMG_SESSIONS, load_emg, load_watch, load_weather

__all__ = ["EMG_SESSIONS", "Dataset", "load_emg", "load_watch", "load_weather", "make_chain"]
