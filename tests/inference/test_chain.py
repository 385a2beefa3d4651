"""Wrong arguments are named, and right ones are left alone."""

import numpy as np
import pytest

from rhmm import inference
from tests.inference.chains import EVEN, ROWS, random_chain


def test_the_arguments_are_left_as_they_were():
    chain = random_chain(np.random.default_rng(3), 3, [20], missing=0.2)
    copies = [np.copy(argument) for argument in chain]
    inference.smoothing(*chain)
    inference.viterbi(*chain)
    inference.backward(*chain)
    for argument, copy in zip(chain, copies, strict=True):
        np.testing.assert_array_equal(argument, copy)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 0.6], EVEN, ROWS), "start must sum to 1, not 1.1"),
        (([1.5, -0.5], EVEN, ROWS), "start must hold finite, non-negative probabilities"),
        (([np.nan, 1.0], EVEN, ROWS), "start must hold finite, non-negative probabilities"),
        (([], EVEN, ROWS), "start must be a non-empty array of 1 dimension"),
        (("ab", EVEN, ROWS), "start must be an array of probabilities"),
        (([0.5, 0.5], [[1.0, 0.0], [0.5, 0.4]], ROWS), "row 1 of transition must sum to 1"),
        (([0.5, 0.5], [[1.0]], ROWS), r"transition must have shape \(2, 2\) to match start"),
        (([0.5, 0.5], EVEN, np.zeros((3, 3))), r"log_density must have shape \(T, 2\)"),
        (([0.5, 0.5], EVEN, np.zeros(3)), r"log_density must have shape \(T, 2\)"),
        (([0.5, 0.5], EVEN, [["a", "b"]]), "log_density must be an array of numbers"),
        (([0.5, 0.5], EVEN, ROWS, [2, 2]), "lengths must add up to the 3 observations, not 4"),
        (([0.5, 0.5], EVEN, ROWS, [3, 0]), "lengths must be a list of positive whole numbers"),
        (([0.5, 0.5], EVEN, ROWS, [1.5, 1.5]), "lengths must be a list of positive whole numbers"),
        (([0.5, 0.5], EVEN, ROWS, 3), "lengths must be a list of positive whole numbers"),
        (([0.5, 0.5], EVEN, ROWS, "three"), "lengths must be whole numbers"),
    ],
)
@pytest.mark.parametrize(
    "recursion",
    [inference.smoothing, inference.viterbi, inference.backward],
    ids=lambda f: f.__name__,
)
def test_a_wrong_argument_is_named(recursion, arguments, message):
    with pytest.raises(ValueError, match=message):
        recursion(*arguments)


@pytest.mark.parametrize(
    "row", [[np.inf, 0.0], [0.0, np.nan], [np.nan, -np.inf]], ids=["infinite", "half", "no density"]
)
@pytest.mark.parametrize(
    "recursion",
    [inference.filtering, inference.smoothing, inference.viterbi, inference.backward],
    ids=lambda f: f.__name__,
)
def test_a_row_that_is_no_log_density_is_named(recursion, row):
    with pytest.raises(ValueError, match=r"log_density\[1\]"):
        recursion([0.5, 0.5], EVEN, [[0.0, 0.0], row])
