"""On flat space rhmm is the Gaussian HMM of hmmlearn, digit for digit."""

import warnings

import numpy as np
import pytest
from hmmlearn.hmm import GaussianHMM

from rhmm import ConvergenceWarning, Euclidean, RiemannianHMM
from rhmm.emissions.covariances import matrices
from tests.brute_force import random_model
from tests.emissions.models import random_covariances

DIM, N = 3, 4
LENGTHS = [250, 1, 100, 149]
CLOSE = {"rtol": 1e-8, "atol": 1e-8}


@pytest.fixture(scope="module")
def ours():
    return random_model(Euclidean(DIM), N, np.random.default_rng(0))


@pytest.fixture(scope="module", name="X")
def observations(ours):
    return ours.sample(500, random_state=1)[0]


@pytest.fixture(params=["log", "scaling"])
def theirs(ours, request):
    """The same model in hmmlearn, with every prior off: its M step is maximum likelihood."""
    model = GaussianHMM(
        N,
        covariance_type="spherical",
        startprob_prior=1,
        transmat_prior=1,
        means_weight=0,
        covars_prior=0,
        covars_weight=1,
        n_iter=1,
        init_params="",
        implementation=request.param,
    )
    model.n_features = DIM
    model.startprob_, model.transmat_ = ours.startprob_.copy(), ours.transmat_.copy()
    model.means_ = ours.means_.copy()
    model.covars_ = ours.sigmas_**2
    return model


every_length = pytest.mark.parametrize("lengths", [None, LENGTHS], ids=["one", "several"])


@every_length
def test_the_log_likelihood_is_the_same(ours, theirs, X, lengths):
    np.testing.assert_allclose(ours.score(X, lengths=lengths), theirs.score(X, lengths), rtol=1e-10)


@every_length
def test_posteriors_are_the_same(ours, theirs, X, lengths):
    gamma = theirs.predict_proba(X, lengths)
    np.testing.assert_allclose(ours.predict_proba(X, lengths=lengths), gamma, **CLOSE)
    np.testing.assert_array_equal(ours.predict(X, lengths=lengths), gamma.argmax(axis=1))


@every_length
def test_the_most_probable_path_is_the_same(ours, theirs, X, lengths):
    log_probability, path = ours.decode(X, lengths=lengths)
    expected, their_path = theirs.decode(X, lengths, algorithm="viterbi")
    np.testing.assert_allclose(log_probability, expected, rtol=1e-10)
    np.testing.assert_array_equal(path, their_path)


@every_length
def test_one_step_of_em_is_the_same(ours, theirs, X, lengths):
    model = RiemannianHMM(Euclidean(DIM), N, init=ours, n_iter=1)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, lengths=lengths)
    theirs.fit(X, lengths)
    np.testing.assert_allclose(model.startprob_, theirs.startprob_, **CLOSE)
    np.testing.assert_allclose(model.transmat_, theirs.transmat_, **CLOSE)
    np.testing.assert_allclose(model.means_, theirs.means_, **CLOSE)
    variances = theirs.covars_[::DIM, 0, 0]  # each comes DIM times, once for each coordinate
    np.testing.assert_allclose(model.sigmas_, np.sqrt(variances), **CLOSE)
    assert np.abs(model.means_ - ours.means_).max() > 1e-3  # the step went somewhere


def test_twenty_steps_of_em_are_the_same(ours, theirs, X):
    theirs.n_iter, theirs.monitor_.n_iter, theirs.tol = 20, 20, 0.0
    theirs.fit(X)
    model = RiemannianHMM(Euclidean(DIM), N, init=ours, n_iter=20, tol=0.0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X)
    np.testing.assert_allclose(
        model.monitor_.log_likelihood[:-1], theirs.monitor_.history, rtol=1e-9
    )
    np.testing.assert_allclose(model.means_, theirs.means_, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("prior", "stickiness"),
    [(3.0, 0.0), (1.0, 20.0), (np.random.default_rng(5).uniform(1.0, 9.0, (N, N)), 5.0)],
    ids=["flat", "sticky", "matrix"],
)
def test_priors_of_the_transitions_are_the_same(ours, theirs, X, prior, stickiness):
    theirs.transmat_prior = prior + stickiness * np.eye(N)
    theirs.n_iter = theirs.monitor_.n_iter = 20
    theirs.monitor_.tol = -np.inf  # it judges without the prior
    theirs.fit(X, LENGTHS)
    model = RiemannianHMM(
        Euclidean(DIM), N, transmat_prior=prior, stickiness=stickiness, init=ours, n_iter=20,
        tol=0.0,
    )  # fmt: skip
    with pytest.warns(ConvergenceWarning):
        model.fit(X, lengths=LENGTHS)
    np.testing.assert_allclose(model.transmat_, theirs.transmat_, **CLOSE)
    np.testing.assert_allclose(model.means_, theirs.means_, **CLOSE)
    assert np.abs(model.transmat_ - ours.transmat_).max() > 1e-2


@pytest.mark.parametrize(
    ("frozen", "params"),
    [
        (("sigmas",), "stm"),
        (("transmat", "sigmas"), "sm"),
        (("startprob", "transmat"), "mc"),
        (("startprob", "transmat", "means", "sigmas"), ""),
    ],
)  # hmmlearn's variances are wrong where its means are left out
def test_frozen_parameters_are_those_that_hmmlearn_leaves_out(ours, theirs, X, frozen, params):
    theirs.params = params
    theirs.n_iter = theirs.monitor_.n_iter = 5
    theirs.monitor_.tol = -np.inf
    theirs.fit(X)
    model = RiemannianHMM(Euclidean(DIM), N, frozen=frozen, init=ours, n_iter=5, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    np.testing.assert_allclose(model.startprob_, theirs.startprob_, **CLOSE)
    np.testing.assert_allclose(model.transmat_, theirs.transmat_, **CLOSE)
    np.testing.assert_allclose(model.means_, theirs.means_, **CLOSE)
    if "c" in params:
        np.testing.assert_allclose(model.sigmas_**2, theirs.covars_[::DIM, 0, 0], **CLOSE)
    for name in frozen:
        np.testing.assert_array_equal(getattr(model, name + "_"), getattr(ours, name + "_"))


# Other emissions than the paper's


@pytest.fixture(params=["diag", "tied", "full"])
def pair(ours, request):
    """The same model here and in hmmlearn, with covariances of one kind and no prior."""
    kind = request.param
    covariances = random_covariances(kind, N, DIM, np.random.default_rng(2), scale=0.7)
    mine = RiemannianHMM.from_parameters(
        Euclidean(DIM), ours.startprob_, ours.transmat_, ours.means_,
        emission=kind, covariances=covariances,
    )  # fmt: skip
    model = GaussianHMM(
        N,
        covariance_type=kind,
        startprob_prior=1,
        transmat_prior=1,
        means_weight=0,
        covars_prior=0,
        covars_weight={"diag": 1, "tied": 0, "full": DIM}[kind],
        n_iter=20,
        tol=0.0,
        init_params="",
    )
    model.n_features = DIM
    model.startprob_, model.transmat_ = ours.startprob_.copy(), ours.transmat_.copy()
    model.means_, model.covars_ = ours.means_.copy(), covariances
    return mine, model


@every_length
def test_answers_are_the_same_with_every_kind_of_covariance(pair, X, lengths):
    mine, model = pair
    np.testing.assert_allclose(mine.score(X, lengths=lengths), model.score(X, lengths), rtol=1e-10)
    gamma = model.predict_proba(X, lengths)
    np.testing.assert_allclose(mine.predict_proba(X, lengths=lengths), gamma, **CLOSE)
    np.testing.assert_array_equal(mine.decode(X, lengths=lengths)[1], model.decode(X, lengths)[1])


@every_length
def test_twenty_steps_of_em_are_the_same_with_every_kind_of_covariance(pair, X, lengths):
    start, theirs = pair
    model = RiemannianHMM(
        Euclidean(DIM), N, emission=start.emission, shrinkage=0, init=start, n_iter=20, tol=0.0
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(X, lengths=lengths)
    theirs.fit(X, lengths)
    assert theirs.monitor_.iter == 20
    full = matrices(model.emission, model.covariances_, N, DIM)  # as hmmlearn shows all kinds
    np.testing.assert_allclose(full, theirs.covars_, **CLOSE)
    np.testing.assert_allclose(model.means_, theirs.means_, **CLOSE)
    np.testing.assert_allclose(model.transmat_, theirs.transmat_, **CLOSE)
    np.testing.assert_allclose(model.startprob_, theirs.startprob_, **CLOSE)
    assert np.abs(model.covariances_ - start.covariances_).max() > 1e-2
