"""EM on a sample, beside the model's own likelihood and EM's."""

import numpy as np
import pytest

from rhmm import Hyperbolic, RiemannianHMM
from rhmm.search import Sample, climbed
from tests.brute_force import MANIFOLDS
from tests.learners.chains import chain_on

everywhere = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
LENGTHS = [40, 1, 59]


def sampled(manifold, size=100, seed=0) -> np.ndarray:
    return chain_on(manifold).sample(size, random_state=seed)[0]


def start_on(manifold):
    truth = chain_on(manifold)
    return truth.transmat_, truth.means_, manifold.delta(truth.sigmas_)


def model_of(manifold, fit) -> RiemannianHMM:
    n = len(fit.delta)
    return RiemannianHMM.from_parameters(
        manifold, np.full(n, 1 / n), fit.transmat, fit.means, manifold.sigma(fit.delta)
    )


@everywhere
@pytest.mark.parametrize("steps", [0, 3])
def test_a_fit_tells_what_its_parameters_say_about_the_sample(manifold, steps):
    X = sampled(manifold)
    fit = climbed(Sample(manifold, X, np.cumsum(LENGTHS), 1e-6), *start_on(manifold), 0.1, steps)
    model = model_of(manifold, fit)
    assert fit.log_likelihood == pytest.approx(model.score(X, lengths=LENGTHS), rel=1e-8)
    gamma = model.predict_proba(X, lengths=LENGTHS)
    np.testing.assert_allclose(fit.gamma, gamma, atol=1e-6)
    np.testing.assert_allclose(fit.visits, gamma.sum(axis=0), atol=1e-4)


@everywhere
def test_climbing_comes_to_where_em_comes_to(manifold):
    """The weak prior moves it a little: one pseudo-observation among 400."""
    X = sampled(manifold, 400)
    sample = Sample(manifold, X, np.array([400]), 1e-6)
    fit = climbed(sample, *start_on(manifold), 0.1, 50)
    truth = chain_on(manifold)
    model = RiemannianHMM(manifold, 3, init=truth, tol=1e-3).fit(X)
    assert fit.log_likelihood == pytest.approx(model.score(X), abs=3.0)
    assert manifold.dist(fit.means, model.means_).max() < 0.1


def test_parameters_that_are_given_stay_as_they_are():
    given = start_on(Hyperbolic(2))
    before = [array.copy() for array in given]
    climbed(Sample(Hyperbolic(2), sampled(Hyperbolic(2)), np.array([100]), 1e-6), *given, 0.1, 3)
    for array, old in zip(given, before, strict=True):
        np.testing.assert_array_equal(array, old)


@pytest.mark.parametrize("modulus", [0.999, 1 - 1e-9])
def test_a_few_outliers_hardly_move_a_fit(modulus):
    manifold = Hyperbolic(2)
    X = sampled(manifold, 400)
    clean = climbed(Sample(manifold, X, np.array([400]), 1e-6), *start_on(manifold), 0.1, 20)
    spoiled = X.copy()
    angles = np.linspace(0.0, 6.0, 8)
    spoiled[::50] = modulus * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    sample = Sample(manifold, spoiled, np.array([400]), 1e-6)
    fit = climbed(sample, *start_on(manifold), 0.1, 20)
    assert manifold.dist(fit.means, clean.means).max() < 0.1
    np.testing.assert_allclose(fit.delta, clean.delta, rtol=0.2)
