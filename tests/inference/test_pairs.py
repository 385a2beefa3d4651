"""Pair posteriors against enumeration of all paths."""

import numpy as np
from hypothesis import given

from rhmm import inference
from tests import brute_force
from tests.inference.chains import CLOSE, chains


@given(chains())
def test_pair_posteriors_are_the_share_of_paths_through_both_states(chain):
    expected = np.concatenate(brute_force.each_sequence(brute_force.pairs, *chain))
    np.testing.assert_allclose(inference.pair_posteriors(*chain), expected, **CLOSE)
    np.testing.assert_allclose(inference.smoothing(*chain).zeta_sum, expected.sum(axis=0), **CLOSE)
