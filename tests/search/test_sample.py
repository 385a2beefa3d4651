"""What a search looks at: blocks from everywhere in the data."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rhmm import Euclidean
from rhmm.search.sample import BLOCK, thinned
from tests.brute_force import steps_of

LINE = Euclidean(1)


def numbered(lengths, missing=()):
    """Observations that tell their own time, so that a sample shows where it comes from."""
    X = np.arange(sum(lengths), dtype=float)[:, None]
    observed = np.ones(len(X), bool)
    observed[list(missing)] = False
    return X, observed, np.array(lengths)


def test_few_observations_are_all_taken():
    X, observed, lengths = numbered([30, 20], missing=[3, 31])
    sample = thinned(LINE, X, observed, lengths, 1e-6, 1000)
    assert sample.points[:, 0].tolist() == [t for t in range(50) if t not in (3, 31)]
    assert sample.ends.tolist() == [29, 48]
    assert 28 not in steps_of(sample)


@given(st.lists(st.integers(1, 400), min_size=1, max_size=6), st.integers(1, 300))
def test_sequences_of_a_sample_follow_each_other_in_the_data(lengths, most):
    X, observed, lengths = numbered(lengths)
    sample = thinned(LINE, X, observed, lengths, 1e-6, most)
    times = sample.points[:, 0].astype(int)
    assert len(times) <= 2 * most + BLOCK
    assert sample.ends[-1] == len(times)
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    for t in steps_of(sample):
        assert times[t + 1] == times[t] + 1
        assert sequence[times[t + 1]] == sequence[times[t]]


def test_a_sample_comes_from_everywhere():
    X, observed, lengths = numbered([10_000])
    times = thinned(LINE, X, observed, lengths, 1e-6, 1000).points[:, 0]
    assert 900 <= len(times) <= 1100
    assert np.diff(times).max() < 400
    assert times[-1] > 9_600
