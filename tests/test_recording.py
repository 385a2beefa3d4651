import numpy as np

from rhmm import Euclidean, Hyperbolic
from rhmm.recording import Recording

POINTS = np.array([[0.1, 0.2], [np.nan, np.nan], [0.3, 0.0], [0.0, 0.5], [0.1, 0.1]])
RECORDING = Recording(Hyperbolic(2), POINTS, np.array([2, 3]), ("a", "b"))


def test_a_row_with_nan_is_not_observed():
    np.testing.assert_array_equal(RECORDING.observed, [True, False, True, True, True])


def test_sequences_are_found_by_their_number():
    np.testing.assert_array_equal(POINTS[RECORDING.sequence(0)], POINTS[:2])
    np.testing.assert_array_equal(POINTS[RECORDING.sequence(1)], POINTS[2:])


def test_a_table_of_states_counts_from_one_and_names_what_is_known():
    recording = Recording(
        Hyperbolic(2), POINTS, np.array([2, 3]), ("a", "b"), labels=np.array([0, -1, 1, 1, 0]),
        label_names=("rest", "run"), times=np.arange(5) / 2,
    )  # fmt: skip
    probabilities = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7], [1.0, 0.0]])

    table = recording.states_table(probabilities)

    assert list(table) == [
        "observation", "sequence", "time", "label", "state", "probability_1", "probability_2",
    ]  # fmt: skip
    assert table["state"].tolist() == [1, 1, 2, 2, 1]
    assert table["sequence"].tolist() == ["a", "a", "b", "b", "b"]
    assert table["label"].tolist() == ["rest", "", "run", "run", "rest"]
    np.testing.assert_array_equal(table["probability_2"], probabilities[:, 1])


def test_a_thinned_recording_has_blocks_of_every_sequence_and_all_that_is_known_of_them():
    length = 32 * 10
    points = np.arange(2.0 * length).reshape(length, 2)
    points[5] = np.nan
    recording = Recording(
        Euclidean(2), points, np.array([80, 240]), ("a", "b"),
        labels=np.arange(length) % 3, label_names=("x", "y", "z"), times=np.arange(length) / 2,
    )  # fmt: skip

    few = recording.thinned(150)

    kept = np.concatenate([np.arange(k, k + 32) for k in (0, 96, 192, 288)])
    np.testing.assert_array_equal(few.points, points[kept])
    np.testing.assert_array_equal(few.labels, recording.labels[kept])
    np.testing.assert_array_equal(few.times, recording.times[kept])
    assert few.lengths.tolist() == [32, 32, 32, 32]
    assert few.sequence_names == ("a", "b", "b", "b")
    halves = recording.thinned(200)
    assert halves.lengths.tolist() == [32, 16, 16, 32, 32, 32]  # a block goes over an end
    assert halves.sequence_names == ("a", "a", "b", "b", "b", "b")
    assert recording.thinned(length) is recording
