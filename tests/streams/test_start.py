"""The best start: what it says about the first observations, and the names of its states."""

import numpy as np
import pytest

from rhmm import Hyperbolic, RiemannianHMM
from rhmm.search import Fit, Sample
from rhmm.streams.start import best_start, in_agreement, in_order_of, recognised
from tests.learners.chains import MANIFOLDS, chain_on, stream

every_manifold = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
ORDER = np.array([2, 0, 1])


def found(manifold, size=200, cold=False):
    points, rng = stream(manifold, size), np.random.default_rng(0)
    sample = Sample(manifold, points, np.array([size]), float(manifold.delta(1e-3)))
    return points, best_start(sample, 3, rng, cold=cold)


def model_of(manifold, fit) -> RiemannianHMM:
    flat = np.full(3, 1 / 3)
    sigmas = manifold.sigma(fit.delta)
    return RiemannianHMM.from_parameters(manifold, flat, fit.transmat, fit.means, sigmas)


def permuted(fit, order) -> Fit:
    return fit._replace(
        transmat=fit.transmat[np.ix_(order, order)],
        gamma=fit.gamma[:, order],
        **{name: getattr(fit, name)[order] for name in ("means", "delta")},
    )


def assert_equal(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


@every_manifold
@pytest.mark.parametrize("cold", [False, True])
def test_a_start_tells_what_its_parameters_say_about_the_points(manifold, cold):
    points, fit = found(manifold, cold=cold)
    model = model_of(manifold, fit)
    assert fit.log_likelihood == pytest.approx(model.score(points), rel=1e-8)
    np.testing.assert_allclose(fit.latest, model.filter_proba(points)[-1], atol=1e-7)
    np.testing.assert_allclose(fit.gamma, model.predict_proba(points), atol=1e-6)


@every_manifold
def test_the_best_start_is_nearly_as_likely_as_the_truth(manifold):
    points, best = found(manifold)
    assert best.log_likelihood > chain_on(manifold).score(points) - 20.0


def test_a_cold_start_has_points_for_means():
    points, fit = found(Hyperbolic(2), 30, cold=True)
    for mean in fit.means:
        assert (mean == points).all(axis=1).any()
    np.testing.assert_array_equal(fit.transmat, np.full((3, 3), 1 / 3))


@every_manifold
def test_states_are_named_as_in_the_means_that_are_given(manifold):
    _, fit = found(manifold)
    for order in (ORDER, np.argsort(ORDER)):
        renamed = in_order_of(manifold, fit.means, permuted(fit, order))
        assert_equal(renamed, fit)


@every_manifold
def test_states_are_recognised_by_their_parameters(manifold):
    _, fit = found(manifold, 400)
    known = fit.transmat, fit.means, fit.delta
    assert_equal(recognised(manifold, *known, permuted(fit, ORDER)), fit)


def test_states_whose_means_have_jumped_far_are_recognised_by_duration_and_width():
    rng = np.random.default_rng(0)
    plane = MANIFOLDS[0]
    transmat = np.array([[0.98, 0.01, 0.01], [0.25, 0.5, 0.25], [0.45, 0.45, 0.1]])
    known = Fit(
        transmat, rng.normal(size=(3, 2)), np.array([0.1, 1.0, 9.0]), 1.0, np.ones((100, 3)),
        0.0,
    )  # fmt: skip
    jumped = known._replace(means=known.means[[1, 2, 0]] + [50.0, -30.0])
    renamed = recognised(plane, known.transmat, known.means, known.delta, permuted(jumped, ORDER))
    assert_equal(renamed, jumped)


@every_manifold
def test_states_that_explain_the_same_points_get_the_same_names(manifold):
    _, fit = found(manifold)
    assert_equal(in_agreement(fit.gamma, permuted(fit, ORDER)), fit)
    noisy = 0.7 * fit.gamma + 0.1
    assert_equal(in_agreement(noisy, permuted(fit, ORDER)), fit)
