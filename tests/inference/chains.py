"""Random chains that the tests of this folder share."""

import numpy as np
from hypothesis import strategies as st

CLOSE = {"rtol": 1e-10, "atol": 1e-10}

EVEN = np.full((2, 2), 0.5)
ROWS = np.zeros((3, 2))


@st.composite
def chains(draw):
    """A random model with log densities of any scale, as arguments of every recursion."""
    n = draw(st.integers(1, 3))
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    scale = draw(st.sampled_from([1.0, 30.0, 400.0, 1e3, 1e5]))
    zeros, missing = draw(st.sampled_from([0.0, 0.5])), draw(st.sampled_from([0.0, 0.3]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_chain(rng, n, lengths, scale, zeros, missing)


def random_chain(rng, n, lengths, scale=1.0, zeros=0.0, missing=0.0):
    rows = rng.dirichlet(np.ones(n), size=n + 1)
    rows[rng.random(rows.shape) < zeros] = 0.0
    rows[rows.sum(axis=1) == 0.0, rng.integers(n)] = 1.0
    rows /= rows.sum(axis=1, keepdims=True)
    log_density = -scale * rng.exponential(size=(sum(lengths), n))
    log_density[rng.random(len(log_density)) < missing] = np.nan
    return rows[0], rows[1:], log_density, lengths
