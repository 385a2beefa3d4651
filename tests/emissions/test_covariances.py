"""Covariances of every kind: shapes, checks, and the likeliest ones."""

import numpy as np
import pytest

from rhmm.emissions import covariances
from tests.emissions.models import KINDS, random_covariances

every_kind = pytest.mark.parametrize("kind", KINDS)
N, DIM = 3, 4
ALL = np.ones(N, bool)


@pytest.fixture(name="sums")
def weighted_sums():
    """Scatter (N, D, D) and weight (N,) of points that belong to three states in part."""
    rng = np.random.default_rng(0)
    points, weights = rng.normal(size=(N, 50, DIM)), rng.random((N, 50))
    return np.einsum("it,itj,itk->ijk", weights, points, points), weights.sum(axis=1)


def expected_log_likelihood(kind, value, scatter, occupied, prior):
    """What EM maximises, by the textbook; the prior is of `weight` points of some variance."""
    weight, variance = prior
    full = covariances.matrices(kind, value, N, DIM)
    total = 0.0
    for i in range(N):
        inverse = np.linalg.inv(full[i])
        total -= 0.5 * occupied[i] * np.linalg.slogdet(full[i])[1]
        total -= 0.5 * np.trace(inverse @ scatter[i])
        if kind != "tied" or i == 0:
            total -= 0.5 * weight * np.linalg.slogdet(full[i])[1]
            total -= 0.5 * weight * variance * np.trace(inverse)
    return total


@every_kind
@pytest.mark.parametrize("prior", [(0.0, 1.0), (7.0, 0.3)])
def test_no_covariances_nearby_are_likelier_than_the_estimated_ones(kind, prior, sums):
    rng = np.random.default_rng(1)
    old = random_covariances(kind, N, DIM, rng)
    best = covariances.estimated(kind, old, *sums, ALL, *prior, least=1e-12)
    top = expected_log_likelihood(kind, best, *sums, prior)
    for _ in range(50):
        change = 1e-3 * rng.normal(size=best.shape)
        if kind in ("tied", "full"):
            change = 0.5 * (change + np.swapaxes(change, -1, -2))
        assert expected_log_likelihood(kind, best + change, *sums, prior) < top


@every_kind
def test_no_eigenvalue_is_below_the_least(kind, sums):
    scatter, occupied = sums
    flat = scatter * np.outer([1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0])
    old = random_covariances(kind, N, DIM, np.random.default_rng(1))
    new = covariances.estimated(kind, old, flat, occupied, ALL, 0.0, 1.0, least=0.01)
    eigenvalues = np.linalg.eigvalsh(covariances.matrices(kind, new, N, DIM))
    assert eigenvalues.min() >= 0.01 * (1 - 1e-12)


@pytest.mark.parametrize("kind", ["isotropic", "diag", "full"])
def test_a_state_that_is_not_alive_keeps_its_covariance(kind, sums):
    old = random_covariances(kind, N, DIM, np.random.default_rng(1))
    new = covariances.estimated(kind, old, *sums, np.array([True, False, True]), 0.0, 1.0, 1e-12)
    np.testing.assert_array_equal(new[1], old[1])
    assert (new[[0, 2]] != old[[0, 2]]).any()


@every_kind
def test_free_parameters_are_counted(kind):
    expected = {"isotropic": 3, "diag": 12, "tied": 10, "full": 30}
    assert covariances.n_free(kind, N, DIM) == expected[kind]


@every_kind
def test_variances_become_matrices_without_a_direction(kind):
    variances = np.array([0.5, 0.5, 0.5]) if kind == "tied" else np.array([0.5, 1.0, 2.0])
    value = covariances.from_variances(kind, variances, DIM)
    full = covariances.matrices(kind, value, N, DIM)
    np.testing.assert_allclose(full, variances[:, None, None] * np.eye(DIM))


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("isotropic", [1.0], r"must have shape \(3,\) if 'isotropic', not \(1,\)"),
        ("diag", np.ones((3, 3)), r"must have shape \(3, 4\)"),
        ("tied", np.eye(3), r"must have shape \(4, 4\)"),
        ("full", np.eye(4), r"must have shape \(3, 4, 4\)"),
        ("isotropic", [1.0, 0.0, 1.0], "must be positive definite"),
        ("tied", np.diag([1.0, 1.0, 1.0, -1.0]), "must be positive definite"),
        ("tied", np.eye(4) + np.eye(4, k=1), "must be symmetric"),
        ("tied", np.full((4, 4), np.nan), "must be finite"),
        ("tied", "round", "must be an array of numbers"),
    ],
)
def test_wrong_covariances_are_named(kind, value, message):
    with pytest.raises(ValueError, match=f"covariances {message}"):
        covariances.check(kind, value, N, DIM)
