"""Experiments on small recordings of the disk, in place of one that ships."""

from dashboard.model import source
from dashboard.model.analysis import HeldRecording
from dashboard.model.experiment import Experiment
from tests.dashboard.made_recordings import of_the_disk


def on_a_small_recording(monkeypatch, labelled: bool = True) -> Experiment:
    """300 observations in two sequences, one of them missing; with labels or without."""
    held: HeldRecording = of_the_disk(labelled=labelled)
    monkeypatch.setattr(source, "shipped", lambda key: held)
    # figures are kept under the experiment: the two must differ
    return Experiment(recording="disk", window=60 if labelled else 50)
