import numpy as np

from rhmm import Hyperbolic
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
