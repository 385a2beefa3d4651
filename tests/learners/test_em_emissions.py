"""EM with every emission: it climbs, recovers the truth, and models answer as the paper's do."""

import numpy as np
import pytest

from rhmm import (
    SPD,
    ConvergenceWarning,
    DegenerateWarning,
    Euclidean,
    Hyperbolic,
    LogEuclideanSPD,
    RiemannianHMM,
)
from rhmm.scoring import accuracy
from tests import brute_force
from tests.brute_force import in_a_row, with_gaps
from tests.emissions.models import WRAPPED, spread_of, wrapped_model
from tests.learners.fits import quietly

MANIFOLDS = [Euclidean(2), Hyperbolic(2), SPD(2), LogEuclideanSPD(2)]
everywhere = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
every_kind = pytest.mark.parametrize("kind", WRAPPED)


def model_on(manifold, kind, **options):
    if isinstance(manifold, LogEuclideanSPD):
        like = wrapped_model(SPD(manifold.size), kind, **options)
        return RiemannianHMM.from_parameters(
            manifold, like.startprob_, like.transmat_, like.means_, **spread_of(like)
        )  # fmt: skip
    return wrapped_model(manifold, kind, **options)


@everywhere
@every_kind
def test_a_fit_recovers_the_model_behind_a_sample(manifold, kind):
    truth = model_on(manifold, kind)
    X, states = truth.sample(3_000, random_state=0)
    model = RiemannianHMM(manifold, 2, emission=kind, random_state=0).fit(X).align_to(truth)
    assert accuracy(states, model.predict(X), 2) > accuracy(states, truth.predict(X), 2) - 0.002
    assert model.score(X) > truth.score(X) - 3.0
    assert manifold.dist(model.means_, truth.means_).max() < 0.06
    np.testing.assert_allclose(model.covariances_, truth.covariances_, atol=0.012)
    np.testing.assert_allclose(model.transmat_, truth.transmat_, atol=0.04)


@everywhere
@every_kind
@pytest.mark.parametrize("shrinkage", [0.0, 20.0])
def test_likelihood_and_prior_never_fall(manifold, kind, shrinkage):
    X, _ = model_on(manifold, kind, distances=(0.0, 1.0), scale=0.6).sample(200, random_state=0)
    start = RiemannianHMM.from_parameters(
        manifold, [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], X[[0, 1]], [1.0, 1.0]
    )
    model = RiemannianHMM(
        manifold, 2, emission=kind, shrinkage=shrinkage, init=start, n_iter=40, tol=0.0
    )
    monitor = quietly(model, X).monitor_
    objective = np.add(monitor.log_likelihood, monitor.log_prior)
    assert np.diff(objective).min() > -1e-9 * abs(objective[-1])
    assert objective[-1] > objective[0] + 10.0
    assert np.any(monitor.log_prior) == (shrinkage > 0.0)


@everywhere
@every_kind
def test_answers_are_those_of_brute_force_also_with_gaps_and_lengths(manifold, kind):
    model, lengths = model_on(manifold, kind, distances=(0.0, 0.8)), [4, 1, 3]
    X = with_gaps(model.sample(8, random_state=0)[0], 0.3, np.random.default_rng(0))
    assert np.isnan(X).any()
    chain = (model.startprob_, model.transmat_, model.log_density(X), lengths)
    gamma = brute_force.each_sequence(brute_force.smoother, *chain)
    np.testing.assert_allclose(model.predict_proba(X, lengths=lengths), np.concatenate(gamma))
    total = sum(brute_force.each_sequence(brute_force.log_likelihood, *chain))
    np.testing.assert_allclose(model.score(X, lengths=lengths), total)
    best = sum(brute_force.each_sequence(brute_force.best_weight, *chain))
    np.testing.assert_allclose(model.decode(X, lengths=lengths)[0], best)
    filtered = model.filter_proba(X, lengths=lengths)
    np.testing.assert_allclose(filtered[[3, 4, 7]], np.concatenate(gamma)[[3, 4, 7]])


@every_kind
def test_missing_observations_are_left_out_of_the_fit(kind):
    truth = wrapped_model(Hyperbolic(2), kind)
    X, states = truth.sample(1_500, random_state=0)
    gaps = with_gaps(X, 0.2, np.random.default_rng(0))
    model = RiemannianHMM(Hyperbolic(2), 2, emission=kind, random_state=0)
    model = model.fit(gaps, lengths=[700, 800]).align_to(truth)
    assert accuracy(states, model.predict(X), 2) > accuracy(states, truth.predict(X), 2) - 0.004
    np.testing.assert_allclose(model.covariances_, truth.covariances_, atol=0.02)


def test_long_thin_clusters_are_told_apart_that_the_paper_s_emission_mixes_up():
    covariances = np.diag([0.6, 0.05]) ** 2
    truth = RiemannianHMM.from_parameters(
        Hyperbolic(2), [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.0, 0.1], [0.0, -0.1]],
        emission="tied", covariances=covariances,
    )  # fmt: skip
    X, states = truth.sample(2_000, random_state=0)
    reached = {}
    for emission in ("riemannian", "tied", "full"):
        model = RiemannianHMM(Hyperbolic(2), 2, emission=emission, random_state=0)
        reached[emission] = accuracy(states, quietly(model, X).predict(X), 2)
    ceiling = accuracy(states, truth.predict(X), 2)
    assert min(reached["tied"], reached["full"]) > ceiling - 0.01
    assert reached["riemannian"] < ceiling - 0.1


# Degenerate data


@everywhere
@every_kind
def test_identical_points_give_a_finite_model(manifold, kind):
    X = np.repeat(model_on(manifold, kind).means_[1:], 6, axis=0)
    model = RiemannianHMM(manifold, 2, emission=kind, random_state=0)
    quietly(model, X)
    assert np.isfinite(model.monitor_.log_likelihood).all()
    np.testing.assert_allclose(manifold.dist(model.means_, X[0]), 0.0, atol=1e-7)
    RiemannianHMM.from_parameters(
        manifold, model.startprob_, model.transmat_, model.means_, **spread_of(model)
    )  # fmt: skip


@everywhere
def test_points_on_one_line_have_a_covariance_without_shrinkage(manifold):
    like = SPD(2) if isinstance(manifold, LogEuclideanSPD) else manifold
    X = in_a_row(like, np.random.default_rng(0).normal(size=40))
    model = RiemannianHMM(manifold, 1, emission="full", shrinkage=0.0, min_sigma=0.01)
    quietly(model, X)
    eigenvalues = np.linalg.eigvalsh(model.covariances_[0])
    np.testing.assert_allclose(eigenvalues[:-1], 1e-4, rtol=1e-6)
    assert eigenvalues[-1] > 0.5


def test_shrinkage_weighs_as_much_as_one_observation_for_each_dimension():
    """Two points have one direction: λ = 3τ², to which three observations of τ² are added."""
    X, _ = wrapped_model(SPD(2), "full", scale=0.3).sample(2, random_state=0)
    model = quietly(RiemannianHMM(SPD(2), 1, emission="full", random_state=0), X)
    eigenvalues = np.linalg.eigvalsh(model.covariances_[0])
    assert eigenvalues[-1] / eigenvalues[0] == pytest.approx(1 + 2 * 3 / 3, rel=0.02)


@every_kind
def test_a_state_that_explains_nothing_keeps_its_mean_and_warns(kind):
    start = wrapped_model(Hyperbolic(2), kind, distances=(0.0, 3.0))
    X = Hyperbolic(2).sample([0.0, 0.0], 0.2, 30, rng=0)
    start = RiemannianHMM.from_parameters(
        Hyperbolic(2), [1, 0], [[1, 0], [0.3, 0.7]], start.means_, **spread_of(start)
    )  # fmt: skip
    model = RiemannianHMM(Hyperbolic(2), 2, emission=kind, init=start)
    with pytest.warns(DegenerateWarning, match="state 1 explains no observation"):
        model.fit(X)
    np.testing.assert_array_equal(model.means_[1], start.means_[1])
    if kind != "tied":
        np.testing.assert_array_equal(model.covariances_[1], start.covariances_[1])


# Starts and arguments


@every_kind
def test_a_fit_goes_on_from_a_model_of_any_emission(kind):
    X, _ = wrapped_model(Hyperbolic(2), kind).sample(300, random_state=0)
    fitted = RiemannianHMM(Hyperbolic(2), 2, emission=kind, random_state=0).fit(X)
    again = RiemannianHMM(Hyperbolic(2), 2, emission=kind, init=fitted, n_iter=0).fit(X)
    np.testing.assert_array_equal(again.covariances_, fitted.covariances_)
    assert again.score(X) == fitted.score(X)
    papers = RiemannianHMM(Hyperbolic(2), 2, init=fitted).fit(X)
    there = quietly(RiemannianHMM(Hyperbolic(2), 2, emission=kind, init=papers), X)
    assert there.score(X) > fitted.score(X) - 1.0


def test_shrinkage_does_not_depend_on_the_unit():
    truth = wrapped_model(Euclidean(3), "full", scale=0.5)
    X, _ = truth.sample(60, random_state=0)
    shapes = []
    for unit in (1.0, 1024.0):
        start = RiemannianHMM.from_parameters(
            truth.manifold, truth.startprob_, truth.transmat_, unit * truth.means_, [unit, unit]
        )
        model = RiemannianHMM(Euclidean(3), 2, emission="full", init=start)
        shapes.append(quietly(model, unit * X).covariances_ / unit**2)
    np.testing.assert_allclose(shapes[1], shapes[0], rtol=1e-6)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("emission", "round", "emission must be one of"),
        ("shrinkage", -1.0, "shrinkage must be a finite number of at least 0"),
        ("shrinkage", "some", "shrinkage must be a number"),
        ("degrees", 0.0, "degrees must be a finite number of at least 0.1"),
        ("degrees", "many", "degrees must be a number"),
    ],
)
def test_a_wrong_option_is_named(option, value, message):
    model = RiemannianHMM(Hyperbolic(2), 1, **{option: value})
    with pytest.raises(ValueError, match=message):
        model.fit([[0.0, 0.0], [0.1, 0.1]])


@every_kind
def test_the_same_seed_gives_the_same_fit(kind):
    X, _ = wrapped_model(Hyperbolic(2), kind).sample(200, random_state=0)
    first, second = (
        RiemannianHMM(Hyperbolic(2), 2, emission=kind, random_state=5).fit(X) for _ in range(2)
    )
    np.testing.assert_array_equal(first.covariances_, second.covariances_)


def test_a_fit_that_is_cut_short_keeps_its_covariances_and_warns():
    X, _ = wrapped_model(Hyperbolic(2), "tied", distances=(0.0, 0.5)).sample(200, random_state=0)
    model = RiemannianHMM(Hyperbolic(2), 2, emission="tied", n_iter=1, tol=0.0, random_state=0)
    with pytest.warns(ConvergenceWarning, match="EM"):
        model.fit(X)
    np.testing.assert_allclose(model.score(X), model.monitor_.log_likelihood[-1], rtol=1e-12)
