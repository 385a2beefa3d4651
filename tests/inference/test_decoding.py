"""Viterbi's path against enumeration of all paths."""

import numpy as np
from hypothesis import given

from rhmm import inference
from tests import brute_force
from tests.inference.chains import CLOSE, chains


@given(chains())
def test_viterbi_finds_the_heaviest_path(chain):
    start, transition, log_density, lengths = chain
    best = sum(brute_force.each_sequence(brute_force.best_weight, *chain))
    log_probability, path = inference.viterbi(*chain)
    np.testing.assert_allclose(log_probability, best, **CLOSE)
    ends = np.cumsum(lengths)
    weight = sum(
        brute_force.weight_of(path[e - k : e], start, transition, log_density[e - k : e])
        for e, k in zip(ends, lengths, strict=True)
    )
    np.testing.assert_allclose(weight, best, **CLOSE)
