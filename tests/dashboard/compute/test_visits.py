import itertools

import numpy as np

from dashboard.compute.visits import visits


def test_visits_are_runs_of_a_state_that_end_with_their_sequence():
    found = visits(np.array([0, 0, 1, 1, 1, 1, 0]), np.array([4, 3]))

    assert found.state.tolist() == [0, 1, 1, 0]
    assert found.length.tolist() == [2, 2, 2, 1]
    assert found.of(1).tolist() == [2, 2]


def test_visits_are_those_that_grouping_finds():
    rng = np.random.default_rng(0)
    states, lengths = rng.integers(3, size=60), [1, 20, 39]
    pieces = np.split(states, np.cumsum(lengths)[:-1])
    expected = [(s, len(list(g))) for piece in pieces for s, g in itertools.groupby(piece)]

    found = visits(states, np.array(lengths))

    assert list(zip(found.state.tolist(), found.length.tolist(), strict=True)) == expected
