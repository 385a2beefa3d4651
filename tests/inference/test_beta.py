"""The backward recursion against enumeration of all paths."""

import numpy as np
from hypothesis import given

from rhmm import inference
from tests import brute_force
from tests.inference.chains import CLOSE, chains


@given(chains())
def test_log_beta_is_the_likelihood_of_the_future(chain):
    expected = brute_force.each_sequence(brute_force.log_beta, *chain)
    np.testing.assert_allclose(inference.backward(*chain), np.concatenate(expected), **CLOSE)
