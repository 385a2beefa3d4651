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
