"""Facts about the recordings, and that their files are the ones that the tool makes."""

import hashlib

import numpy as np
import pytest

from rhmm import SPD
from rhmm.datasets import EMG_SESSIONS, load_emg, load_watch, load_weather
from rhmm.datasets.dataset import DATA

LOADERS = {"emg": load_emg, "watch": load_watch, "weather": load_weather}

CHECKSUMS = {
    "emg_mg_s1.npz": "0fe37d16f6c4b25fb9b39c5941c971e006437acb4b1a7e53a43d9f6ee015e6ac",
    "emg_mg_s2.npz": "eb7121900c0b7ab13f6766d2c164e8dfb8ef2b5a952f4c2abc926cd6c7a8b8ce",
    "emg_rr_s1.npz": "4b574b56f28dd8ecde05cbbde331f8ed1cc9b893cd0a063615742cb1cdb8d841",
    "emg_rr_s2.npz": "ce860d204cf551f348edc2b9c78c870d90022ef244982310d06643757f2ffb29",
    "watch.npz": "7823253846f5594929cbd0c30672f8e25b5a0fadd82b415b0a9d014231aba13b",
    "weather.npz": "b5623ba2a8b2e000f0c01d758480a6ac7830035f6cb504b56fdd4f31f2fdd411",
}
"""What ``python -m rhmm.datasets.make`` prints."""


@pytest.fixture(params=LOADERS)
def dataset(request):
    return LOADERS[request.param]()


def test_the_files_are_those_that_the_tool_makes():
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in DATA.iterdir()}

    assert found == CHECKSUMS


def test_no_file_is_larger_than_a_megabyte():
    assert all(path.stat().st_size < 1_000_000 for path in DATA.iterdir())


@pytest.mark.parametrize(
    ("name", "size", "total", "sequences", "counts"),
    [
        ("emg", 8, 7_307, 24, [1_459, 1_465, 1_465, 1_463, 1_455]),
        ("watch", 6, 2_369, 140, [254, 389, 396, 363, 366, 294, 307]),
        ("weather", 5, 365, 12, [90, 92, 92, 91]),
    ],
)
def test_each_recording_has_its_size_and_labels(name, size, total, sequences, counts):
    dataset = LOADERS[name]()

    assert dataset.name == name
    assert dataset.manifold == SPD(size)
    assert dataset.points.shape == (total, size, size)
    assert len(dataset.lengths) == len(dataset.sequence_names) == sequences
    np.testing.assert_array_equal(np.bincount(dataset.labels), counts)


def test_every_observation_is_a_well_conditioned_point(dataset):
    assert dataset.manifold.belongs(dataset.points).all()
    assert dataset.observed.all()
    values = np.linalg.eigvalsh(dataset.points)
    assert (values[:, -1] / values[:, 0]).max() < 200


def test_the_arrays_fit_together(dataset):
    total = len(dataset.points)
    assert dataset.lengths.sum() == total
    assert dataset.labels.shape == dataset.times.shape == (total,)
    assert set(dataset.labels) == set(range(len(dataset.label_names)))
    assert len(dataset.channels) == dataset.manifold.size
    assert dataset.description
    assert dataset.source
    assert dataset.licence


def test_time_begins_at_zero_in_each_sequence_and_goes_on(dataset):
    for number in range(len(dataset.lengths)):
        times = dataset.times[dataset.sequence(number)]
        assert times[0] == 0
        assert (np.diff(times) > 0).all()


def test_a_cycle_of_signs_takes_25_seconds_each():
    dataset = load_emg()
    for number in range(len(dataset.lengths)):
        part = dataset.sequence(number)
        labels, times = dataset.labels[part], dataset.times[part]
        begins = times[np.searchsorted(labels, range(5))]
        np.testing.assert_array_equal(labels, np.sort(labels))
        np.testing.assert_allclose(begins, [0, 25, 50, 75, 100], atol=0.5)


def test_sessions_of_hand_signs_can_be_chosen():
    whole, one = load_emg(), load_emg(["rr_s1"])

    first = EMG_SESSIONS.index("rr_s1") * 6
    begin, end = whole.sequence(first).start, whole.sequence(first + 5).stop
    np.testing.assert_array_equal(one.points, whole.points[begin:end])
    assert one.sequence_names == whole.sequence_names[first : first + 6]


@pytest.mark.parametrize(
    ("sessions", "words"),
    [
        ("rr_s1", r"sessions must be a list such as \['rr_s1'\]"),
        (["x"], "sessions must be one of 'mg_s1'"),
        ([], "sessions must name at least one of mg_s1"),
    ],
)
def test_wrong_sessions_are_refused(sessions, words):
    with pytest.raises(ValueError, match=words):
        load_emg(sessions)


def test_an_exercise_is_one_recording():
    dataset = load_watch()
    for number, name in enumerate(dataset.sequence_names):
        (label,) = set(dataset.labels[dataset.sequence(number)])
        assert name.endswith(f": {dataset.label_names[label]}")


def test_the_electrodes_of_one_session_are_shifted_after_four_cycles():
    """With the shift undone, the mean of each sign is nearer to that of the cycles before."""
    dataset = load_emg(["mg_s1"])
    manifold, cut = dataset.manifold, dataset.sequence(4).start
    gaps = {}
    for shift in (-1, 0, 1):
        later = np.roll(dataset.points[cut:], shift, axis=(1, 2))
        gaps[shift] = sum(
            manifold.dist(
                manifold.mean(dataset.points[:cut][dataset.labels[:cut] == label]),
                manifold.mean(later[dataset.labels[cut:] == label]),
            )
            for label in range(5)
        )
    assert min(gaps[-1], gaps[1]) < 0.7 * gaps[0]
