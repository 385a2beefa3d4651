"""EM does not depend on coordinates or names, and recovers the truth."""

import numpy as np
import pytest

from rhmm import SPD, Euclidean, Hyperbolic, RiemannianHMM
from rhmm.paper import paper_model
from tests.learners.fits import assert_same_parameters, quietly, two_states


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
        return np.ascontiguousarray(np.moveaxis(np.array(rows) / (1 - s), [0, 1], [-2, -1]))

    other = RiemannianHMM.from_parameters(
        SPD(2), truth.startprob_, truth.transmat_, phi(truth.means_), np.sqrt(2) * truth.sigmas_
    )
    np.testing.assert_allclose(other.predict_proba(phi(X)), truth.predict_proba(X), atol=1e-9)
    step = quietly(RiemannianHMM(Hyperbolic(2), 2, init=truth, n_iter=1), X)
    other_step = quietly(RiemannianHMM(SPD(2), 2, init=other, n_iter=1), phi(X))
    np.testing.assert_allclose(other_step.transmat_, step.transmat_, rtol=1e-8)
    centres, other_centres = centres_of_mass(truth, X), centres_of_mass(other, phi(X))
    np.testing.assert_allclose(SPD(2).dist(other_centres, phi(centres)), 0.0, atol=1e-7)


def centres_of_mass(model, X):
    """Where steps of the means lead under the posteriors of one model."""
    law, weights = model.law_, np.ascontiguousarray(model.predict_proba(X).T)
    view = law.view(X)
    for _ in range(20):
        law, view = law.maximised(X, weights, np.full(len(weights), True), view, 1e-6)
    return law.means


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
