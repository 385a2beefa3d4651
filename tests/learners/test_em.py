"""Expectation–maximisation: its steps, its likelihood, its start and its callback."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import hard
from rhmm import (
    ConvergenceWarning,
    DegenerateWarning,
    Hyperbolic,
    RiemannianHMM,
    RiemannianKMeans,
)
from rhmm.emissions import RiemannianGaussians
from rhmm.learners import baum_welch
from rhmm.learners.baum_welch import Iterates
from rhmm.paper import paper_model
from tests import brute_force
from tests.brute_force import MANIFOLDS, random_model, squared_distance, with_gaps
from tests.learners.fits import assert_a_model, assert_same_parameters, quietly, two_states

everywhere = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)


# One step is the maximum of the expected log-likelihood, but for means, which go most of the way


@everywhere
def test_one_step_solves_the_papers_equations_of_the_chain_and_the_spread(manifold):
    rng = np.random.default_rng(0)
    old = random_model(manifold, 2, rng)
    X = with_gaps(old.sample(11, random_state=1)[0], 0.3, rng)
    lengths = [5, 6]
    new = quietly(RiemannianHMM(manifold, 2, init=old, n_iter=1), X, lengths)
    chain = old.startprob_, old.transmat_, brute_force.log_density(old, X), lengths
    gamma = np.concatenate(brute_force.each_sequence(brute_force.smoother, *chain))
    zeta = np.concatenate(brute_force.each_sequence(brute_force.pairs, *chain)).sum(axis=0)
    np.testing.assert_allclose(new.startprob_, (gamma[0] + gamma[5]) / 2, rtol=1e-9)
    expected = zeta / zeta.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(new.transmat_, expected, rtol=1e-9)
    seen = ~np.isnan(X.reshape(len(X), -1)).any(axis=1)
    gamma, X = gamma[seen], X[seen]
    for i, mean in enumerate(new.means_):
        delta = gamma[:, i] @ [squared_distance(manifold, x, mean) for x in X] / gamma[:, i].sum()
        np.testing.assert_allclose(manifold.delta(new.sigmas_[i]), delta, rtol=1e-7)


@everywhere
def test_steps_under_the_same_weights_lead_to_the_centres_of_mass(manifold):
    rng = np.random.default_rng(0)
    old = random_model(manifold, 2, rng)
    X, law, alive = old.sample(11, random_state=1)[0], old.law_, np.full(2, True)
    weights, view, before = rng.random((2, 11)), law.view(X), np.inf
    for _ in range(40):
        law, view = law.maximised(X, weights, alive, view, 1e-6)
        assert ((weights * view.d2).sum(axis=1) <= before * (1.0 + 1e-9)).all()
        before = (weights * view.d2).sum(axis=1)
    for mean, w in zip(law.means, weights, strict=True):
        pull = np.tensordot(w, manifold.log(mean, X), axes=1)
        np.testing.assert_allclose(pull, 0.0, atol=1e-7)


# The likelihood


@settings(max_examples=150)
@given(
    st.sampled_from(MANIFOLDS),
    st.integers(1, 3),
    st.lists(st.integers(1, 8), min_size=1, max_size=4).filter(lambda lengths: sum(lengths) >= 6),
    st.sampled_from([0.0, 0.3]),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_the_log_likelihood_never_falls(manifold, n, lengths, missing, from_kmeans, seed):
    rng = np.random.default_rng(seed)
    X, _ = random_model(manifold, 3, rng).sample(sum(lengths), rng)
    X = with_gaps(X, missing, rng)
    X[:n] = X[0] if missing else X[:n]  # at least n observations, some of them equal
    init = None if from_kmeans else random_model(manifold, n, rng)
    model = RiemannianHMM(manifold, n, init=init, n_iter=30, random_state=0, min_sigma=0.05)
    path = quietly(model, X, lengths).monitor_.log_likelihood
    assert np.isfinite(path).all()
    assert (np.diff(path) >= -1e-9 * (1 + np.abs(path[1:]))).all()
    assert_a_model(model)


@everywhere
def test_the_monitor_holds_every_set_of_parameters_with_its_log_likelihood(manifold):
    X, _ = two_states(manifold, 1.5).sample(60, random_state=0)
    monitor = quietly(RiemannianHMM(manifold, 2, n_iter=7, tol=0.0, random_state=0), X).monitor_
    assert monitor.n_iter == 7
    assert len(monitor.parameters) == len(monitor.log_likelihood) == 8
    for parameters, expected in zip(monitor.parameters, monitor.log_likelihood, strict=True):
        model = RiemannianHMM.from_parameters(manifold, *parameters)
        np.testing.assert_allclose(model.score(X), expected, rtol=1e-8)
    assert len({parameters.sigmas[0] for parameters in monitor.parameters}) == 8


def test_the_result_is_the_last_of_the_path():
    X, _ = two_states(Hyperbolic(2)).sample(100, random_state=0)
    model = RiemannianHMM(Hyperbolic(2), 2, random_state=0).fit(X)
    last = model.monitor_.parameters[-1]
    for ours, theirs in zip(model.parameters_, last, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert model.monitor_.converged
    assert not model.monitor_.cancelled
    np.testing.assert_allclose(model.score(X), model.monitor_.log_likelihood[-1], rtol=1e-12)


def test_it_stops_at_the_first_step_that_gains_less_than_tol():
    X, _ = paper_model().sample(500, random_state=0)
    for tol in (1.0, 1e-2, 1e-6):
        model = RiemannianHMM(Hyperbolic(2), 3, tol=tol, n_iter=1000, random_state=0).fit(X)
        gains = np.diff(model.monitor_.log_likelihood)
        assert (gains[:-1] >= tol).all()
        assert gains[-1] < tol


def test_too_few_iterations_are_warned_of():
    X, _ = paper_model().sample(500, random_state=0)
    model = RiemannianHMM(Hyperbolic(2), 3, n_iter=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"EM \(2 iterations\) did not converge"):
        model.fit(X)
    assert model.monitor_.n_iter == 2
    assert not model.monitor_.converged


# A likelihood that falls


@pytest.fixture
def maximise_badly(monkeypatch):
    """The third M-step gives back the parameters before the second, which are less likely."""
    laws, chains = [], []
    law_step, chain_step = RiemannianGaussians.maximised, baum_welch.maximised_chain

    def badly(law, points, weights, alive, view, *settings):
        laws.append((law, view))
        return laws[1] if len(laws) == 3 else law_step(law, points, weights, alive, view, *settings)

    def chain_badly(posterior, lengths, old):
        chains.append(chain_step(posterior, lengths, old))
        return chains[0] if len(chains) == 3 else chains[-1]

    monkeypatch.setattr(RiemannianGaussians, "maximised", badly)
    monkeypatch.setattr(baum_welch, "maximised_chain", chain_badly)


def test_a_likelihood_that_falls_ends_the_fit_with_a_warning(maximise_badly):
    X, _ = paper_model().sample(500, random_state=0)
    model = RiemannianHMM(Hyperbolic(2), 3, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"EM stopped: step 3 lost .* in log-likelihood"):
        model.fit(X)
    path = model.monitor_.log_likelihood
    assert path[3] < path[2]
    assert path[3] == path[1]
    assert model.monitor_.n_iter == 3
    assert not model.monitor_.converged


def test_a_likelihood_that_falls_by_rounding_has_converged(monkeypatch):
    expect = baum_welch.expected

    def rounded(*arguments):
        posterior = expect(*arguments)
        steps.append(None)
        return posterior._replace(log_likelihood=-1e4 - 1e-8 * len(steps))

    steps = []
    monkeypatch.setattr(baum_welch, "expected", rounded)
    X, _ = paper_model().sample(500, random_state=0)
    model = RiemannianHMM(Hyperbolic(2), 3, random_state=0).fit(X)  # no warning
    assert np.diff(model.monitor_.log_likelihood).tolist() == pytest.approx([-1e-8], rel=1e-3)
    assert model.monitor_.converged


# Callback and cancellation


def test_the_callback_sees_the_start_and_every_step():
    seen = []
    X, _ = paper_model().sample(500, random_state=0)
    model = RiemannianHMM(
        Hyperbolic(2),
        3,
        random_state=0,
        callback=lambda monitor: seen.append((monitor.n_iter, monitor.log_likelihood[-1])),
    ).fit(X)
    assert seen == list(enumerate(model.monitor_.log_likelihood))


@pytest.mark.parametrize("stop_at", [0, 3])
def test_stop_iteration_cancels_and_keeps_the_parameters_so_far(stop_at):
    def stop(monitor):
        if monitor.n_iter == stop_at:
            raise StopIteration

    X, _ = paper_model().sample(500, random_state=0)
    whole = RiemannianHMM(Hyperbolic(2), 3, random_state=0).fit(X)
    stopped = RiemannianHMM(Hyperbolic(2), 3, random_state=0, callback=stop).fit(X)  # no warning
    assert stopped.monitor_.cancelled
    assert not stopped.monitor_.converged
    assert stopped.monitor_.n_iter == stop_at
    for ours, theirs in zip(stopped.parameters_, whole.monitor_.parameters[stop_at], strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_any_other_exception_of_the_callback_comes_through():
    def fail(monitor):
        raise RuntimeError("from the callback")

    with pytest.raises(RuntimeError, match="from the callback"):
        RiemannianHMM(Hyperbolic(2), 1, callback=fail).fit([[0.1, 0.2], [0.3, 0.4]])


# Where it starts


@everywhere
def test_no_iteration_gives_a_start_that_is_likelier_than_kmeans(manifold):
    X, _ = two_states(manifold).sample(50, random_state=0)
    start = RiemannianHMM(manifold, 2, n_iter=0, random_state=3).fit(X)  # asked for: no warning
    clusters = RiemannianKMeans(manifold, 2, n_init=5, random_state=3).fit(X)
    by_clusters = RiemannianHMM.from_parameters(manifold, *clusters.to_parameters())
    assert start.score(X) > by_clusters.score(X) - 1.0
    assert start.monitor_.n_iter == 0


def test_a_model_of_many_states_is_not_lost_in_a_wrong_optimum():
    """K-means of least inertia alone is lost on six of twelve such models."""
    lost = 0
    for seed in range(4):
        truth = hard.random_model(8, seed)
        X, _ = truth.sample(10_000, random_state=1000 + seed)
        model = RiemannianHMM(Hyperbolic(2), 8, n_iter=20, random_state=seed)
        lost += quietly(model, X).score(X) < truth.score(X)
    assert lost == 0


def test_another_model_can_be_the_start_and_is_left_alone():
    truth = paper_model()
    X, _ = truth.sample(300, random_state=0)
    before = [part.copy() for part in truth.parameters_]
    model = RiemannianHMM(Hyperbolic(2), 3, init=truth).fit(X)
    np.testing.assert_array_equal(model.monitor_.parameters[0].means, truth.means_)
    np.testing.assert_allclose(model.monitor_.log_likelihood[0], truth.score(X), rtol=1e-12)
    assert model.score(X) > truth.score(X)
    for part, copy in zip(truth.parameters_, before, strict=True):
        np.testing.assert_array_equal(part, copy)


@everywhere
def test_a_converged_model_is_a_fixed_point(manifold):
    X, _ = two_states(manifold).sample(200, random_state=0)
    model = quietly(RiemannianHMM(manifold, 2, tol=0.0, n_iter=200, random_state=0), X)
    again = quietly(RiemannianHMM(manifold, 2, init=model, n_iter=1), X)
    assert_same_parameters(again, model, rtol=1e-6)


def test_a_start_below_the_floor_of_sigma_is_lifted_to_it_first():
    narrow = two_states(Hyperbolic(2), sigmas=(0.01, 0.6))
    X, _ = narrow.sample(100, random_state=0)
    with pytest.warns(DegenerateWarning, match="state 0 has collapsed"):
        model = RiemannianHMM(Hyperbolic(2), 2, init=narrow, min_sigma=0.1).fit(X)
    assert model.monitor_.parameters[0].sigmas.tolist() == [0.1, 0.6]
    assert (np.diff(model.monitor_.log_likelihood) >= -1e-9).all()


def test_zeros_of_the_start_stay_zeros():
    left_to_right = RiemannianHMM.from_parameters(
        Hyperbolic(2), [1, 0], [[0.9, 0.1], [0, 1]], [0.0 + 0j, 0.5 + 0j], [0.5, 0.5]
    )
    X, _ = left_to_right.sample(60, random_state=0)
    model = RiemannianHMM(Hyperbolic(2), 2, init=left_to_right).fit(X)
    assert model.startprob_.tolist() == [1.0, 0.0]
    assert model.transmat_[1].tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    "init",
    [paper_model(), RiemannianHMM(Hyperbolic(3), 2), "kmeans"],
    ids=["other states", "other manifold", "no model"],
)
def test_a_start_that_does_not_fit_is_named(init):
    with pytest.raises(ValueError, match=r"init must be a model of 2 states on Hyperbolic\(2\)"):
        RiemannianHMM(Hyperbolic(2), 2, init=init).fit([[0.1, 0.2], [0.3, 0.4]])


# The path for figures


def test_the_iterates_are_the_path_in_arrays():
    X, _ = paper_model().sample(300, random_state=0)
    monitor = RiemannianHMM(Hyperbolic(2), 3, random_state=0).fit(X).monitor_
    path = Iterates.of(monitor)
    assert path.step.tolist() == list(range(monitor.n_iter + 1))
    assert path.log_likelihood.tolist() == monitor.log_likelihood
    for row, parameters in enumerate(monitor.parameters):
        for name, value in parameters._asdict().items():
            assert np.array_equal(getattr(path, name)[row], value)


def test_permuted_iterates_are_those_of_the_permuted_parameters():
    order = [2, 0, 1]
    X, _ = paper_model().sample(300, random_state=0)
    monitor = RiemannianHMM(Hyperbolic(2), 3, random_state=0).fit(X).monitor_
    path = Iterates.of(monitor).permuted(order)
    for row, parameters in enumerate(monitor.parameters):
        for name, value in parameters.permuted(order)._asdict().items():
            assert np.array_equal(getattr(path, name)[row], value)
