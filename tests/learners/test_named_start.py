"""States of a start get the names under which they fit what is known."""

import numpy as np
import pytest

from rhmm.learners.named_start import order_within


@pytest.mark.parametrize("n", [3, 5, 8])
def test_states_of_a_cycle_are_put_in_its_order(n):
    rng = np.random.default_rng(n)
    allowed = np.eye(n, dtype=bool) | np.eye(n, k=1, dtype=bool)
    allowed[-1, 0] = True
    transmat = np.where(allowed, 1.0, 0.02)
    transmat /= transmat.sum(axis=1, keepdims=True)
    shuffle = rng.permutation(n)
    order = order_within(allowed, transmat[np.ix_(shuffle, shuffle)])
    found = transmat[np.ix_(shuffle[order], shuffle[order])]
    np.testing.assert_allclose(found, transmat)
