"""EM on several threads: the same digits whatever their number."""

import numpy as np
import pytest

from rhmm import SPD, Hyperbolic, RiemannianHMM
from rhmm.datasets import make_chain
from rhmm.paper import paper_model
from rhmm.threads import spans, spans_of_sequences
from tests.learners.fits import quietly


def fitted(manifold, X, lengths, n_jobs, **options) -> RiemannianHMM:
    model = RiemannianHMM(manifold, 3, n_iter=3, random_state=0, n_jobs=n_jobs, **options)
    return quietly(model, X, lengths)


def assert_equal_fits(one: RiemannianHMM, other: RiemannianHMM) -> None:
    assert one.monitor_.log_likelihood == other.monitor_.log_likelihood
    for mine, others in zip(one.parameters_, other.parameters_, strict=True):
        np.testing.assert_array_equal(mine, others)


@pytest.mark.parametrize("emission", ["riemannian", "full", "student"])
@pytest.mark.parametrize("lengths", [[12_000], [1_500] * 8, [1, 11_000, 999]])
def test_any_number_of_threads_gives_the_same_digits(lengths, emission):
    X = paper_model().sample(12_000, random_state=0)[0]
    alone = fitted(Hyperbolic(2), X, lengths, None, emission=emission)
    for n_jobs in (1, 2, 3, -1):
        assert_equal_fits(alone, fitted(Hyperbolic(2), X, lengths, n_jobs, emission=emission))


def test_matrices_give_the_same_digits_on_two_threads():
    chain = make_chain("spd2", 9_000)
    lengths = [3_000] * 3
    alone = fitted(SPD(2), chain.points, lengths, None)
    assert_equal_fits(alone, fitted(SPD(2), chain.points, lengths, 2))


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5, "all"])
def test_a_wrong_number_of_threads_is_refused(n_jobs):
    X = paper_model().sample(50, random_state=0)[0]
    with pytest.raises(ValueError, match="n_jobs must be"):
        RiemannianHMM(Hyperbolic(2), 3, n_jobs=n_jobs).fit(X)


@pytest.mark.parametrize("size", [1, 4_095, 8_192, 10_000, 10**6])
def test_spans_follow_each_other_and_are_about_equal(size):
    found = spans(size)
    assert [first for first, _ in found[1:]] == [last for _, last in found[:-1]]
    assert found[0][0] == 0
    assert found[-1][1] == size
    sizes = [last - first for first, last in found]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("lengths", [[1], [5_000], [1_500] * 8, [1] * 9_000, [10**5, 1, 1]])
def test_spans_of_sequences_hold_each_of_them_once(lengths):
    found = spans_of_sequences(np.cumsum(lengths))
    assert [k for first, last in found for k in range(first, last)] == list(range(len(lengths)))
    assert all(sum(lengths[first:last]) >= 4_096 for first, last in found[:-1])
