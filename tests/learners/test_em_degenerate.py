"""EM on data that cannot support what was asked, or that have gaps."""

import numpy as np
import pytest

from rhmm import DegenerateWarning, Hyperbolic, RiemannianHMM
from rhmm.paper import paper_model
from tests.brute_force import MANIFOLDS, in_a_row, with_gaps
from tests.learners.fits import assert_a_model, two_states

everywhere = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)


@everywhere
def test_a_state_that_explains_nothing_keeps_its_parameters_and_warns(manifold):
    X = manifold.sample(in_a_row(manifold, [0.0])[0], 0.3, 30, rng=0)
    start = RiemannianHMM.from_parameters(
        manifold, [1, 0], [[1, 0], [0.3, 0.7]], in_a_row(manifold, [0.0, 3.0]), [0.3, 0.25]
    )
    model = RiemannianHMM(manifold, 2, init=start)
    with pytest.warns(DegenerateWarning, match="state 1 explains no observation; it keeps its"):
        model.fit(X)
    np.testing.assert_array_equal(model.means_[1], start.means_[1])
    assert model.sigmas_[1] == 0.25
    np.testing.assert_allclose(model.transmat_[1], [0.3, 0.7], rtol=1e-15)
    assert_a_model(model)


@everywhere
def test_a_state_that_collapses_onto_a_point_stops_at_min_sigma_and_warns(manifold):
    cloud = manifold.sample(in_a_row(manifold, [5.0])[0], 0.5, 30, rng=0)
    X = np.concatenate([np.repeat(in_a_row(manifold, [0.0]), 10, axis=0), cloud])
    model = RiemannianHMM(manifold, 2, min_sigma=0.02, random_state=0)
    with pytest.warns(
        DegenerateWarning, match=r"collapsed onto a point; its sigma is min_sigma=0.02"
    ):
        model.fit(X)
    assert model.sigmas_.min() == 0.02
    assert 0.4 < model.sigmas_.max() < 0.6
    assert_a_model(model)


@everywhere
@pytest.mark.parametrize("n", [1, 3])
def test_identical_points_give_a_finite_model(manifold, n):
    X = np.repeat(in_a_row(manifold, [0.8]), 6, axis=0)
    model = RiemannianHMM(manifold, n, random_state=0)
    with pytest.warns(DegenerateWarning):
        model.fit(X)
    assert_a_model(model)
    assert np.isfinite(model.monitor_.log_likelihood).all()
    np.testing.assert_allclose(manifold.dist(model.means_, X[0]), 0.0, atol=1e-9)


@everywhere
def test_fewer_distinct_points_than_states_give_a_finite_model(manifold):
    X = in_a_row(manifold, [0.0, 2.0] * 5)
    model = RiemannianHMM(manifold, 4, random_state=0)
    with pytest.warns(DegenerateWarning):
        model.fit(X)
    assert_a_model(model)
    assert np.isfinite(model.monitor_.log_likelihood).all()


@everywhere
def test_a_single_observation_and_a_single_state_give_a_finite_model(manifold):
    X = in_a_row(manifold, [0.8])
    with pytest.warns(DegenerateWarning, match="state 0 has collapsed onto a point"):
        model = RiemannianHMM(manifold, 1).fit(X)
    np.testing.assert_allclose(model.means_, X, rtol=1e-12)
    assert model.sigmas_.tolist() == [1e-3]
    assert model.transmat_.tolist() == [[1.0]]
    assert np.isfinite(model.score(X))


@everywhere
def test_a_single_state_is_the_centre_of_mass_and_its_sigma(manifold):
    X = manifold.sample(in_a_row(manifold, [0.5])[0], 0.7, 50, rng=0)
    model = RiemannianHMM(manifold, 1, tol=1e-10, random_state=0).fit(X)
    mean = manifold.mean(X)
    np.testing.assert_allclose(manifold.dist(model.means_[0], mean), 0.0, atol=1e-6)
    delta = np.mean(manifold.dist(X, mean) ** 2)
    np.testing.assert_allclose(manifold.delta(model.sigmas_[0]), delta, rtol=1e-7)
    assert model.monitor_.converged


def test_fewer_observations_than_states_are_refused():
    with pytest.raises(ValueError, match="X must hold at least n_components=3 observations, not 2"):
        RiemannianHMM(Hyperbolic(2), 3).fit([[0.1, 0.2], [0.3, 0.4]])


def test_sequences_of_one_observation_make_a_mixture():
    truth = two_states(Hyperbolic(2))
    X, states = truth.sample(200, random_state=0)
    model = RiemannianHMM(Hyperbolic(2), 2, random_state=0).fit(X, lengths=np.ones(200, int))
    share = model.align_to(truth).startprob_
    np.testing.assert_allclose(share, [np.mean(states == 0), np.mean(states == 1)], atol=0.01)


def test_with_a_third_missing_the_truth_is_still_recovered():
    truth = paper_model()
    X, _ = truth.sample(4000, random_state=0)
    holed = with_gaps(X, 0.3, np.random.default_rng(99))
    model = RiemannianHMM(Hyperbolic(2), 3, random_state=0).fit(holed).align_to(truth)
    assert np.linalg.norm(model.transmat_ - truth.transmat_) < 0.15
    assert model.manifold.dist(model.means_, truth.means_).max() < 0.15
    assert np.abs(model.sigmas_ / truth.sigmas_ - 1).max() < 0.1
