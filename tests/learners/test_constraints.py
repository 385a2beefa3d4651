"""Priors, forbidden transitions, labels and frozen parameters: what EM is told besides X."""

import numpy as np
import pytest
from sklearn.base import clone

from rhmm import SPD, Euclidean, Hyperbolic, RiemannianHMM
from rhmm.emissions import Prior, RiemannianGaussians
from rhmm.learners.baum_welch import Iterate, expected
from rhmm.learners.constraints import Constraints
from tests import brute_force
from tests.brute_force import with_gaps
from tests.emissions.models import WRAPPED, wrapped_model
from tests.learners.fits import quietly, two_states

MANIFOLDS = [Euclidean(2), Hyperbolic(2), SPD(2)]
everywhere = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
CYCLE = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], bool)


def sampled(manifold, size=200):
    return two_states(manifold).sample(size, random_state=0)


# Priors


@everywhere
@pytest.mark.parametrize("emission", ["riemannian", *WRAPPED])
def test_likelihood_and_priors_never_fall(manifold, emission):
    X, _ = two_states(manifold, distance=1.0).sample(120, random_state=0)
    model = RiemannianHMM(
        manifold, 2, emission=emission, transmat_prior=2.0, stickiness=5.0, shrinkage=8.0,
        prior_sigma=0.2, n_init=1, n_iter=30, tol=0.0, random_state=0,
    )  # fmt: skip
    monitor = quietly(model, X).monitor_
    objective = np.add(monitor.log_likelihood, monitor.log_prior)
    assert np.diff(objective).min() > -1e-9 * abs(objective[-1])
    assert all(monitor.log_prior)


@everywhere
def test_no_sigma_nearby_is_likelier_under_its_prior(manifold):
    X = manifold.sample(two_states(manifold).means_[0], 0.5, 40, rng=0)
    law = RiemannianGaussians(manifold, manifold.mean(X)[None], np.array([1.0]), Prior(10.0, 0.04))
    best, view = law.maximised(X, np.ones((1, 40)), np.array([True]), law.view(X), 1e-6)

    def objective(sigma):
        other = RiemannianGaussians(manifold, best.means, np.array([sigma]), law.prior)
        return other.log_densities(view).sum() + other.log_prior()

    top = objective(best.sigmas[0])
    assert top > max(objective(1.01 * best.sigmas[0]), objective(0.99 * best.sigmas[0]))
    assert (
        best.sigmas[0]
        < RiemannianGaussians(manifold, best.means, np.ones(1))
        .maximised(X, np.ones((1, 40)), np.array([True]), view, 1e-6)[0]
        .sigmas[0]
    )


def test_a_heavy_prior_decides_the_spread():
    X, _ = sampled(Hyperbolic(2))
    for emission in ("riemannian", "tied", "student"):
        model = RiemannianHMM(
            Hyperbolic(2), 2, emission=emission, shrinkage=1e7, prior_sigma=0.7, random_state=0
        )
        np.testing.assert_allclose(quietly(model, X).sigmas_, 0.7, rtol=1e-3)


def test_stickiness_makes_states_last():
    X, _ = two_states(Euclidean(1), distance=0.5).sample(100, random_state=0)
    start = two_states(Euclidean(1), distance=0.5)
    stays = [
        np.diagonal(quietly(RiemannianHMM(Euclidean(1), 2, init=start, stickiness=s), X).transmat_)
        for s in (0.0, 1e3)
    ]
    assert (stays[1] > stays[0]).all()
    assert stays[1].min() > 0.95


# Forbidden transitions


@pytest.mark.parametrize("emission", ["riemannian", "full"])
def test_a_forbidden_transition_stays_forbidden(emission):
    truth = RiemannianHMM.from_parameters(
        Hyperbolic(2), [1, 0, 0], [[0.8, 0.2, 0], [0, 0.8, 0.2], [0.2, 0, 0.8]],
        wrapped_model(Hyperbolic(2), "isotropic", distances=(0.0, 2.0, 4.0)).means_, [0.3] * 3,
    )  # fmt: skip
    X, states = truth.sample(1_500, random_state=0)
    for seed in range(3):  # each finds its states in another order
        model = RiemannianHMM(
            Hyperbolic(2), 3, emission=emission, allowed=CYCLE, transmat_prior=2.0,
            random_state=seed,
        ).fit(X)  # fmt: skip
        assert (model.transmat_[~CYCLE] == 0.0).all()
        np.testing.assert_allclose(np.diagonal(model.transmat_), 0.8, atol=0.08)
        order = model.order_like(truth)
        np.testing.assert_array_equal(np.sort(order), [0, 1, 2])
        assert (model.predict(X) == order[states]).mean() > 0.98
        assert (
            model.n_parameters
            == RiemannianHMM(Hyperbolic(2), 3, emission=emission).n_parameters - 3
        )


def test_a_start_loses_its_forbidden_transitions():
    X, _ = sampled(Euclidean(1))
    allowed = np.array([[False, True], [True, True]])
    model = quietly(
        RiemannianHMM(Euclidean(1), 2, init=two_states(Euclidean(1)), allowed=allowed, n_iter=0), X
    )
    np.testing.assert_array_equal(model.transmat_[0], [0.0, 1.0])


# Labels


@everywhere
def test_posteriors_are_those_of_all_paths_through_the_labels(manifold):
    model, lengths = two_states(manifold, distance=0.5), np.array([5, 3])
    X = with_gaps(model.sample(8, random_state=0)[0], 0.3, np.random.default_rng(0))
    observed = ~np.isnan(X.reshape(8, -1)).any(axis=1)
    labels = np.array([-1, 0, -1, -1, 1, 1, -1, -1])
    labels[np.argmin(observed)] = 1  # one that is missing too
    law = model.law_
    present = Iterate(model.startprob_, model.transmat_, law)
    found = expected(present, law.view(X[observed]), observed, lengths, Constraints(labels=labels))
    log_density = np.nan_to_num(model.log_density(X), nan=0.0)
    for t in np.flatnonzero(labels >= 0):
        log_density[t, 1 - labels[t]] = -np.inf
    chain = (model.startprob_, model.transmat_, log_density, lengths)
    gamma = np.concatenate(brute_force.each_sequence(brute_force.smoother, *chain))
    np.testing.assert_allclose(found.gamma, gamma, atol=1e-12)
    total = sum(brute_force.each_sequence(brute_force.log_likelihood, *chain))
    assert found.log_likelihood == pytest.approx(total, rel=1e-10)


@pytest.mark.parametrize("emission", ["riemannian", "tied"])
def test_states_are_named_as_the_labels_say(emission):
    X, states = sampled(Hyperbolic(2), 300)
    for swap in (False, True):
        named = 1 - states if swap else states
        labels = np.where(np.arange(300) % 20 == 0, named, -1)
        model = RiemannianHMM(Hyperbolic(2), 2, emission=emission, random_state=0)
        model.fit(X, labels=labels)
        assert (model.predict(X) == named).mean() > 0.99


def test_with_all_labels_transitions_are_counted():
    X, states = two_states(Euclidean(1), distance=0.2).sample(200, random_state=0)
    model = RiemannianHMM(Euclidean(1), 2, random_state=0).fit(X, labels=states)
    counts = np.zeros((2, 2))
    np.add.at(counts, (states[:-1], states[1:]), 1.0)
    np.testing.assert_allclose(model.transmat_, counts / counts.sum(axis=1, keepdims=True))
    for i in range(2):
        np.testing.assert_allclose(model.means_[i], X[states == i].mean(axis=0))
        np.testing.assert_allclose(model.sigmas_[i], X[states == i].std())


def test_labels_tell_apart_what_the_data_alone_cannot():
    """Two states at one place that differ only in how long they last."""
    truth = RiemannianHMM.from_parameters(
        Euclidean(1), [0.5, 0.5], [[0.95, 0.05], [0.05, 0.95]], [[0.0], [0.0]], [1.0, 1.2]
    )
    X, states = truth.sample(600, random_state=0)
    labels = np.where(np.arange(600) % 4 == 0, states, -1)
    model = quietly(RiemannianHMM(Euclidean(1), 2, random_state=0), X, labels=labels)
    known = quietly(RiemannianHMM(Euclidean(1), 2, random_state=0), X, labels=states)
    np.testing.assert_allclose(model.transmat_, known.transmat_, atol=0.05)


# Frozen parameters


@pytest.mark.parametrize("emission", ["tied", "student-full"])
def test_frozen_parameters_of_other_emissions_stay(emission):
    start = wrapped_model(Hyperbolic(2), emission)
    X, _ = start.sample(200, random_state=1)
    for frozen in (("means",), ("covariances",), ("means", "covariances", "transmat")):
        model = RiemannianHMM(
            Hyperbolic(2), 2, emission=emission, init=start, frozen=frozen, n_iter=5, tol=0.0
        )
        quietly(model, X)
        for name in ("means", "covariances", "transmat", "startprob"):
            same = np.array_equal(getattr(model, name + "_"), getattr(start, name + "_"))
            assert same == (name in frozen)
        path = np.add(model.monitor_.log_likelihood, model.monitor_.log_prior)
        assert np.diff(path).min() > -1e-9 * abs(path[-1])


def test_sigmas_are_learned_around_frozen_means():
    start = two_states(Euclidean(2), distance=1.0)
    X, _ = start.sample(50, random_state=0)
    model = quietly(RiemannianHMM(Euclidean(2), 2, init=start, frozen=("means",), n_iter=1), X)
    gamma = start.predict_proba(X)
    d2 = ((X[:, None] - start.means_) ** 2).sum(axis=2)
    expected_sigmas = np.sqrt((gamma * d2).sum(axis=0) / gamma.sum(axis=0) / 2)
    np.testing.assert_allclose(model.sigmas_, expected_sigmas, rtol=1e-10)


def test_frozen_parameters_are_not_counted_as_free():
    start = two_states(Hyperbolic(2))
    model = RiemannianHMM(Hyperbolic(2), 2, init=start, frozen=("means", "startprob"))
    assert model.n_parameters == 2 + 2  # A and σ


# Arguments


@pytest.mark.parametrize(
    ("options", "labels", "message"),
    [
        ({"transmat_prior": 0.5}, None, "transmat_prior must hold finite numbers of at least 1"),
        ({"transmat_prior": np.ones((3, 3))}, None, "transmat_prior must be one number, or one"),
        ({"transmat_prior": "many"}, None, "transmat_prior must be an array of numbers"),
        ({"stickiness": -1.0}, None, "stickiness must be a finite number of at least 0"),
        ({"prior_sigma": 0.0}, None, "prior_sigma must be positive"),
        ({"allowed": CYCLE}, None, "allowed must be True or False for each of 2 × 2"),
        ({"allowed": [[True, True], [False, False]]}, None, "allowed must let state 1 go"),
        ({"allowed": [[1, 1], [1, 1]]}, None, "allowed must be True or False"),
        ({"allowed": [[True], [True, True]]}, None, "allowed must be True or False"),
        ({"frozen": ("means",)}, None, "frozen parameters keep the values of init"),
        ({"frozen": "means"}, None, "frozen must hold names among startprob, transmat, means, sig"),
        ({"frozen": ("covariances",)}, None, "frozen must hold names among"),
        ({"frozen": 3}, None, "frozen must hold names among"),
        ({}, [0, 1, 2], "labels must be from 0 to 1, or -1"),
        ({}, [0, 1], "labels must be 3 whole numbers"),
        ({}, [0.0, 1.0, 1.0], "labels must be 3 whole numbers"),
        ({}, [[0], [1, 1]], "labels must be 3 whole numbers"),
        ({"allowed": [[True, False], [True, True]]}, [0, 1, 1], "labels go from 0 to 1 at obs"),
        ({"n_components": "auto"}, [0, 1, 1], "labels must be None where n_components is 'auto'"),
        (
            {"n_components": "auto", "allowed": CYCLE},
            None,
            "allowed must be None where n_components is 'auto'",
        ),
        (
            {"n_components": "auto", "transmat_prior": np.ones((2, 2))},
            None,
            "transmat_prior must be one number where n_components is 'auto'",
        ),
    ],
)
def test_wrong_arguments_are_named(options, labels, message):
    model = RiemannianHMM(**{"manifold": Euclidean(1), "n_components": 2} | options)
    with pytest.raises(ValueError, match=f"^{message}"):
        model.fit([[0.0], [1.0], [2.0]], labels=labels)


def test_a_clone_has_the_same_constraints():
    given = {
        "allowed": np.eye(2, dtype=bool),
        "frozen": ("means",),
        "transmat_prior": np.ones((2, 2)),
    }
    model = RiemannianHMM(Euclidean(1), 2, init=two_states(Euclidean(1)), **given)
    copy = clone(model).get_params()
    for name, value in given.items():
        np.testing.assert_array_equal(copy[name], value)
        assert model.get_params()[name] is value
