"""Observations of a stream, and the sequences that they belong to."""

import numpy as np
import pytest

from rhmm.parameters import stationary_law
from rhmm.streams.chunk import Chunk, begins_of, ends_of, lengths_until, start_law


def test_ends_and_beginnings_of_sequences():
    sequence = np.array([3, 3, 4, 7, 7])
    assert ends_of(sequence).tolist() == [2, 3, 5]
    assert begins_of(sequence).tolist() == [False, False, True, True, False]
    assert begins_of(sequence[:0]).tolist() == []


def test_missing_observations_do_not_hide_where_a_sequence_begins():
    observed = np.array([True, True, False, True])
    sequence = np.array([0, 0, 1, 1])
    chunk = Chunk(np.arange(4.0)[:, None], observed, begins_of(sequence), sequence)
    points, of_points = chunk.present
    assert points[:, 0].tolist() == [0.0, 1.0, 3.0]
    assert ends_of(of_points).tolist() == [2, 3]


@pytest.mark.parametrize(
    ("k", "expected"), [(3, [3]), (5, [5]), (6, [5, 1]), (9, [5, 4]), (10, [5, 4, 1])]
)
def test_lengths_of_the_first_observations(k, expected):
    assert lengths_until(k, 12, [5, 4, 3]).tolist() == expected


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_a_sequence_begins_with_the_law_that_the_chain_keeps(n):
    rng = np.random.default_rng(n)
    transmat = rng.dirichlet(np.full(n, 0.3), n) + 1e-9
    transmat /= transmat.sum(axis=1, keepdims=True)
    law = np.empty(n)
    start_law(transmat, law)
    np.testing.assert_allclose(law, law @ transmat, rtol=1e-12)
    np.testing.assert_allclose(law, stationary_law(transmat), atol=1e-9)
