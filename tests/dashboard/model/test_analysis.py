from dataclasses import replace

import numpy as np
import pytest

from dashboard.model.analysis import (
    OFFERED,
    SHIPPED,
    Analysis,
    HeldFile,
    ReadOptions,
    shipped,
    streaming_window,
    thinned_size,
)
from dashboard.model.kinds import Invalid
from rhmm.datasets.dataset import Dataset
from rhmm.emissions import EMISSIONS
from rhmm.reading import Window
from tests.dashboard.made_recordings import of_matrices, of_the_disk


@pytest.mark.parametrize("key", OFFERED)
def test_every_recording_is_loaded_once_and_its_script_call_gives_the_same(key):
    import rhmm.datasets

    recording = shipped(key).recording
    again = eval(OFFERED[key].call, vars(rhmm.datasets))

    assert isinstance(recording, Dataset) == (key in SHIPPED)
    assert (again.points == recording.points).all()
    assert shipped(key) is shipped(key)
    assert OFFERED[key].states == len(recording.label_names)


def test_a_link_opens_the_same_analysis():
    analysis = Analysis(recording="weather", states="auto", method="streaming")

    again, problems = Analysis.from_query(analysis.to_query())

    assert (again, problems) == (analysis, [])
    assert analysis.n_states == "auto"
    assert Analysis().n_states == 5
    assert Analysis().to_query() == {}


def test_the_law_of_a_state_is_the_engines_for_both_methods():
    laws = {
        Analysis(shape=shape, tails=tails).emission
        for shape in ("riemannian", "tied", "diag", "full")
        for tails in ("light", "heavy")
    }
    assert laws < set(EMISSIONS)
    assert len(laws) == 8
    assert Analysis(tails="heavy", method="streaming").emission == "student"


def test_only_large_recordings_are_thinned():
    small, large = of_matrices(), of_matrices(200)
    assert thinned_size(small.recording) is None
    many = replace(large.recording, points=np.broadcast_to(np.eye(3), (200_000, 3, 3)))
    assert thinned_size(many) == 200_000 // 6


@pytest.mark.parametrize("states", ["0", "13", "many", "1.5"])
def test_other_numbers_of_states_are_refused(states):
    with pytest.raises(Invalid, match="The number of states"):
        Analysis(states=states)


def test_options_name_only_what_is_not_to_be_detected():
    options = ReadOptions(space="spd", label="", window=Window(50))

    assert options.said() == {"space": "spd", "label": "", "window": Window(50)}


def test_files_of_other_content_are_other_files():
    assert HeldFile.of("a.csv", b"1") != HeldFile.of("a.csv", b"2")
    assert HeldFile.of("a.csv", b"1") == HeldFile.of("a.csv", b"1")


def test_streaming_starts_from_a_quarter_of_few_observations():
    assert streaming_window(299, 3) == 74
    assert streaming_window(2_000, 3) == 200
    assert streaming_window(299, 90) == 90


def test_channels_have_names_or_numbers():
    assert shipped("watch").channels == ("ax", "ay", "az", "wx", "wy", "wz")
    assert of_matrices(20, size=3).channels == ("1", "2", "3")


def test_missing_observations_are_counted():
    assert of_the_disk(300).n_observed == 299
