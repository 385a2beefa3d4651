import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from rhmm.worlds import BLOCK
from rhmm.worlds.naming import Naming

FADING = math.exp(-0.1)


class Plain:
    """A confusion matrix that is matched anew after every block."""

    def __init__(self):
        self.agreement = np.zeros((1, 1))
        self.matching = np.zeros(1, np.int64)

    def judge(self, states, labels):
        shape = np.maximum(self.agreement.shape, (states.max() + 1, labels.max() + 1))
        counts = np.zeros(shape)
        np.add.at(counts, (states[labels >= 0], labels[labels >= 0]), 1.0)
        rows, columns = self.agreement.shape
        counts[:rows, :columns] += FADING * self.agreement
        self.agreement = counts
        matched, names = linear_sum_assignment(counts, maximize=True)
        self.matching = np.full(len(counts), -1)
        self.matching[matched] = names
        return (self.matching[states] == labels) & (labels >= 0)


def stream(seed, n_states, n_names, blocks):
    """States, and labels that follow them most of the time; at first there are none, then names
    change places, and some states and names come late."""
    rng = np.random.default_rng(seed)
    states = rng.integers(0, n_states, blocks * BLOCK)
    states[: blocks * BLOCK // 3] %= max(n_states - 1, 1)
    labels = (states + np.arange(len(states)) // (4 * BLOCK)) % n_names
    wrong = rng.random(len(states)) < 0.3
    labels[wrong] = rng.integers(-1, n_names, wrong.sum())
    labels[: 2 * BLOCK] = -1
    return states, labels


@pytest.mark.parametrize("together", [1, 3, 20])
@pytest.mark.parametrize(("n_states", "n_names"), [(3, 3), (2, 4), (4, 2), (1, 1), (3, 1)])
def test_names_are_those_of_the_best_assignment_after_every_block(n_states, n_names, together):
    states, labels = stream(n_states + 7 * n_names, n_states, n_names, 20)
    naming, plain = Naming(FADING), Plain()

    for begin in range(0, len(states), together * BLOCK):
        part = slice(begin, begin + together * BLOCK)
        right = naming.judge(states[part], labels[part])

        expected = [
            plain.judge(states[at : at + BLOCK], labels[at : at + BLOCK])
            for at in range(begin, min(part.stop, len(states)), BLOCK)
        ]
        np.testing.assert_array_equal(right, np.concatenate(expected))
        np.testing.assert_array_equal(naming.matching, plain.matching)


def test_a_name_shared_by_two_states_goes_to_one_of_them():
    states = np.tile([0, 1], BLOCK)
    naming = Naming(FADING)

    right = naming.judge(states, np.zeros(2 * BLOCK, np.int64))

    assert sorted(naming.matching) == [-1, 0]
    assert right.sum() == BLOCK
