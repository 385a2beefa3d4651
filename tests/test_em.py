import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rhmm import (
    SPD,
    ConvergenceWarning,
    DegenerateWarning,
    Euclidean,
    Hyperbolic,
    RiemannianHMM,
    RiemannianKMeans,
)
from rhmm.paper import paper_model
from tests import brute_force
from tests.brute_force import MANIFOLDS, in_a_row, random_model, squared_distance, with_gaps

everywhere = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)


def quietly(model, X, lengths=None):
    """Fit without a word about convergence or degenerate data, where neither is the point."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DegenerateWarning)
        return model.fit(X, lengths)


def two_states(manifold, distance=4.0, sigmas=(0.4, 0.6)):
    return RiemannianHMM.from_parameters(
        manifold,
        [0.5, 0.5],
        [[0.9, 0.1], [0.2, 0.8]],
        in_a_row(manifold, [0.0, distance]),
        sigmas,
    )


def assert_same_parameters(left, right, rtol):
    for ours, theirs in zip(left.parameters_, right.parameters_, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol)


def assert_a_model(model):
    """Its parameters are finite and those of a model: `from_parameters` checks the rest."""
    RiemannianHMM.from_parameters(model.manifold, *model.parameters_)


# One step is the maximum of the expected log-likelihood


@everywhere
def test_one_step_solves_the_papers_equations(manifold):
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
        pull = np.tensordot(gamma[:, i], manifold.log(mean, X), axes=1)
        np.testing.assert_allclose(pull, 0.0, atol=1e-7)
        delta = gamma[:, i] @ [squared_distance(manifold, x, mean) for x in X] / gamma[:, i].sum()
        np.testing.assert_allclose(manifold.delta(new.sigmas_[i]), delta, rtol=1e-7)


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


def test_too_few_iterations_are_said_aloud():
    X, _ = paper_model().sample(500, random_state=0)
    model = RiemannianHMM(Hyperbolic(2), 3, n_iter=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"EM \(2 iterations\) did not converge"):
        model.fit(X)
    assert model.monitor_.n_iter == 2
    assert not model.monitor_.converged


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
def test_no_iteration_gives_the_start_from_kmeans(manifold):
    X, _ = two_states(manifold).sample(50, random_state=0)
    start = RiemannianHMM(manifold, 2, n_iter=0, random_state=3).fit(X)  # asked for: no warning
    clusters = RiemannianKMeans(manifold, 2, n_init=5, random_state=3).fit(X)
    np.testing.assert_array_equal(start.means_, clusters.cluster_centers_)
    counts = np.full((2, 2), 0.5)
    np.add.at(counts, (clusters.labels_[:-1], clusters.labels_[1:]), 1.0)
    np.testing.assert_allclose(start.transmat_, counts / counts.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(start.startprob_[clusters.labels_[0]], 0.75)
    for i, centre in enumerate(clusters.cluster_centers_):
        members = X[clusters.labels_ == i]
        delta = np.mean([squared_distance(manifold, x, centre) for x in members])
        np.testing.assert_allclose(manifold.delta(start.sigmas_[i]), delta, rtol=1e-9)
    assert start.monitor_.n_iter == 0


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
        RiemannianHMM(Hyperbolic(2), 2, init=init)


# Data that cannot support what was asked


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
    model = RiemannianHMM(manifold, 1, random_state=0).fit(X)
    mean = manifold.mean(X)
    np.testing.assert_allclose(manifold.dist(model.means_[0], mean), 0.0, atol=1e-7)
    delta = np.mean(manifold.dist(X, mean) ** 2)
    np.testing.assert_allclose(manifold.delta(model.sigmas_[0]), delta, rtol=1e-7)
    assert model.monitor_.converged


def test_fewer_observations_than_states_are_refused_in_the_words_of_the_model():
    with pytest.raises(ValueError, match="X must hold at least n_components=3 observations, not 2"):
        RiemannianHMM(Hyperbolic(2), 3).fit([[0.1, 0.2], [0.3, 0.4]])


def test_sequences_of_one_observation_make_a_mixture():
    truth = two_states(Hyperbolic(2))
    X, states = truth.sample(200, random_state=0)
    model = RiemannianHMM(Hyperbolic(2), 2, random_state=0).fit(X, lengths=np.ones(200, int))
    share = model.align_to(truth).startprob_
    np.testing.assert_allclose(share, [np.mean(states == 0), np.mean(states == 1)], atol=0.01)


def test_missing_observations_cost_information_and_nothing_else():
    truth = paper_model()
    X, _ = truth.sample(4000, random_state=0)
    holed = with_gaps(X, 0.3, np.random.default_rng(99))
    model = RiemannianHMM(Hyperbolic(2), 3, random_state=0).fit(holed).align_to(truth)
    assert np.linalg.norm(model.transmat_ - truth.transmat_) < 0.15
    assert model.manifold.dist(model.means_, truth.means_).max() < 0.15
    assert np.abs(model.sigmas_ / truth.sigmas_ - 1).max() < 0.1


# Invariance


def move_disk(X):
    z = X[..., 0] + 1j * X[..., 1]
    a = 0.4 - 0.3j
    w = np.exp(0.7j) * (z - a) / (1 - np.conj(a) * z)  # rotation after a Möbius translation
    return np.stack([w.real, w.imag], axis=-1)


def rotate_ball(X):
    rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    return X @ rotation.T


def congruence(X):
    a = np.random.default_rng(1).normal(size=X.shape[-2:])
    return a @ X @ a.T


@pytest.mark.parametrize(
    ("manifold", "isometry"),
    [
        (Euclidean(3), lambda X: np.add(rotate_ball(X), [1.0, -2.0, 3.0])),
        (Hyperbolic(2), move_disk),
        (Hyperbolic(3), rotate_ball),
        (SPD(2), congruence),
        (SPD(3), congruence),
        (SPD(3), np.linalg.inv),
    ],
    ids=["rigid motion", "Möbius", "rotation", "congruence 2", "congruence 3", "inverse"],
)
def test_an_isometry_of_the_data_moves_the_means_and_nothing_else(manifold, isometry):
    X, _ = two_states(manifold, 1.5).sample(150, random_state=0)
    tight = {"tol": 1e-9, "n_iter": 500, "random_state": 0}
    still = quietly(RiemannianHMM(manifold, 2, **tight), X)
    moved = quietly(RiemannianHMM(manifold, 2, **tight), isometry(X))
    np.testing.assert_allclose(moved.score(isometry(X)), still.score(X), rtol=1e-8)
    expected = RiemannianHMM.from_parameters(
        manifold, still.startprob_, still.transmat_, isometry(still.means_), still.sigmas_
    )
    moved = moved.align_to(expected)
    np.testing.assert_allclose(moved.transmat_, still.transmat_, atol=1e-4)
    np.testing.assert_allclose(moved.sigmas_, still.sigmas_, atol=1e-4)
    np.testing.assert_allclose(manifold.dist(moved.means_, expected.means_), 0.0, atol=1e-4)


def test_renaming_the_states_of_the_start_renames_the_result():
    order = [2, 0, 1]
    X, _ = paper_model().sample(1000, random_state=0)
    start = RiemannianHMM(Hyperbolic(2), 3, n_iter=0, random_state=0).fit(X)
    straight = RiemannianHMM(Hyperbolic(2), 3, init=start).fit(X)
    renamed = RiemannianHMM(Hyperbolic(2), 3, init=start.permuted(order)).fit(X)
    assert_same_parameters(renamed, straight.permuted(order), rtol=1e-8)


def test_the_disk_and_unit_determinant_matrices_learn_the_same_up_to_the_scale_of_distance():
    """d_SPD = √2 d_disk under Φ, so posteriors of one step agree when σ_SPD = √2 σ_disk and the
    normalising factors, which differ by one flat dimension, are equal for all states."""
    truth = two_states(Hyperbolic(2), 1.5, sigmas=(0.5, 0.5))
    X, _ = truth.sample(100, random_state=0)

    def phi(x):
        s = (x**2).sum(axis=-1)
        rows = [[1 + s + 2 * x[..., 0], 2 * x[..., 1]], [2 * x[..., 1], 1 + s - 2 * x[..., 0]]]
        return np.moveaxis(np.array(rows) / (1 - s), [0, 1], [-2, -1])

    other = RiemannianHMM.from_parameters(
        SPD(2), truth.startprob_, truth.transmat_, phi(truth.means_), np.sqrt(2) * truth.sigmas_
    )
    np.testing.assert_allclose(other.predict_proba(phi(X)), truth.predict_proba(X), atol=1e-9)
    step = quietly(RiemannianHMM(Hyperbolic(2), 2, init=truth, n_iter=1), X)
    other_step = quietly(RiemannianHMM(SPD(2), 2, init=other, n_iter=1), phi(X))
    np.testing.assert_allclose(SPD(2).dist(other_step.means_, phi(step.means_)), 0.0, atol=1e-7)
    np.testing.assert_allclose(other_step.transmat_, step.transmat_, rtol=1e-8)


# Consistency


@pytest.mark.parametrize("manifold", [Hyperbolic(3), SPD(2), SPD(3)], ids=repr)
def test_em_recovers_the_truth_within_statistical_error(manifold):
    truth = two_states(manifold, 5.0)  # nearly no overlap: each state is learned from its own
    X, states = truth.sample(4000, random_state=0)
    model = RiemannianHMM(manifold, 2, random_state=0).fit(X).align_to(truth)
    sizes = np.bincount(states)
    delta = manifold.delta(truth.sigmas_)
    assert (manifold.dist(model.means_, truth.means_) < 3 * np.sqrt(delta / sizes)).all()
    delta_error = np.abs(manifold.delta(model.sigmas_) - delta)
    assert (delta_error < 4 * np.sqrt(manifold.var_d2(truth.sigmas_) / sizes)).all()
    a = truth.transmat_
    assert (np.abs(model.transmat_ - a) < 4 * np.sqrt(a * (1 - a) / sizes[:, None])).all()
