"""Candidates for a start: what they say about the first observations, and the names of states."""

import numpy as np
import pytest

from rhmm import Hyperbolic, RiemannianHMM
from rhmm.streams.start import Candidate, candidates, in_order_of, recognised
from tests.learners.chains import MANIFOLDS, chain_on, stream

every_manifold = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
ORDER = np.array([2, 0, 1])


def found(manifold, size=200, **options):
    points, rng = stream(manifold, size), np.random.default_rng(0)
    given = {"cold": False, "race": False, **options}
    return points, candidates(manifold, points, rng, 3, manifold.delta(1e-3), **given)


def model_of(manifold, candidate) -> RiemannianHMM:
    flat = np.full(3, 1 / 3)
    sigmas = manifold.sigma(candidate.delta)
    return RiemannianHMM.from_parameters(
        manifold, flat, candidate.transmat, candidate.means, sigmas
    )


def permuted(candidate, order) -> Candidate:
    return Candidate(
        candidate.transmat[np.ix_(order, order)],
        *(getattr(candidate, name)[order] for name in ("means", "delta", "visits", "alpha")),
        candidate.log_likelihood,
    )


def assert_equal(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


@every_manifold
@pytest.mark.parametrize("options", [{}, {"race": True}, {"race": True, "cold": True}], ids=str)
def test_a_candidate_tells_what_its_parameters_say_about_the_points(manifold, options):
    points, several = found(manifold, **options)
    for candidate in several:
        model = model_of(manifold, candidate)
        assert candidate.log_likelihood == pytest.approx(model.score(points), rel=1e-8)
        np.testing.assert_allclose(candidate.alpha, model.filter_proba(points)[-1], atol=1e-7)
        visits = model.predict_proba(points).sum(axis=0)
        np.testing.assert_allclose(candidate.visits, visits, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "count"), [({}, 1), ({"race": True}, 8), ({"race": True, "cold": True}, 16)]
)
def test_one_candidate_goes_on_alone_and_several_race(options, count):
    assert len(found(Hyperbolic(2), **options)[1]) == count


@every_manifold
def test_the_likeliest_candidate_is_nearly_as_likely_as_the_truth(manifold):
    points, (best,) = found(manifold)
    assert best.log_likelihood > chain_on(manifold).score(points) - 20.0


def test_cold_candidates_have_points_for_means():
    points, several = found(Hyperbolic(2), 30, race=True, cold=True)
    for candidate in several:
        for mean in candidate.means:
            assert (mean == points).all(axis=1).any()
        np.testing.assert_array_equal(candidate.transmat, np.full((3, 3), 1 / 3))


@every_manifold
def test_states_are_named_as_in_the_means_that_are_given(manifold):
    _, (candidate,) = found(manifold)
    for order in (ORDER, np.argsort(ORDER)):
        renamed = in_order_of(manifold, candidate.means, permuted(candidate, order))
        assert_equal(renamed, candidate)


@every_manifold
def test_states_are_recognised_by_their_parameters(manifold):
    _, (candidate,) = found(manifold, 400)
    known = candidate.transmat, candidate.means, candidate.delta
    assert_equal(recognised(manifold, *known, permuted(candidate, ORDER)), candidate)


def test_states_whose_means_have_jumped_far_are_recognised_by_duration_and_width():
    rng = np.random.default_rng(0)
    plane = MANIFOLDS[0]
    transmat = np.array([[0.98, 0.01, 0.01], [0.25, 0.5, 0.25], [0.45, 0.45, 0.1]])
    known = Candidate(
        transmat, rng.normal(size=(3, 2)), np.array([0.1, 1.0, 9.0]), np.full(3, 100.0),
        np.full(3, 1 / 3), 0.0,
    )  # fmt: skip
    jumped = known._replace(means=known.means[[1, 2, 0]] + [50.0, -30.0])
    renamed = recognised(plane, known.transmat, known.means, known.delta, permuted(jumped, ORDER))
    assert_equal(renamed, jumped)
