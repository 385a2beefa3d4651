import math

import numpy as np
import pytest

from rhmm import Hyperbolic, Parameters
from rhmm.parameters import log_densities, parameters_from_labels, sigmas_from_delta
from tests import brute_force
from tests.in_time import printed_in_time


def start_from(labels, lengths, d2=None, missing=(), n=2, manifold=None, min_sigma=1e-3):
    """`parameters_from_labels` for labels of all times; those in `missing` are not observed."""
    manifold = manifold or Hyperbolic(2)
    labels = np.asarray(labels)
    observed = ~np.isin(np.arange(len(labels)), missing)
    d2 = np.full(len(labels), 0.1) if d2 is None else np.asarray(d2)
    centres = np.zeros((n, *manifold.point_shape))
    return parameters_from_labels(
        manifold, labels[observed], observed, np.cumsum(lengths), centres, d2[observed], min_sigma
    )


def test_transitions_are_counted_with_one_pseudo_count_shared_by_each_row():
    start = start_from([0, 0, 1, 0, 0], [5])
    np.testing.assert_allclose(start.transmat, np.array([[2.5, 1.5], [1.5, 0.5]]) / [[4], [2]])
    np.testing.assert_allclose(start.startprob, [0.75, 0.25])


def test_no_transition_is_counted_from_one_sequence_to_the_next():
    start = start_from([0, 1, 1, 0], [2, 2])
    np.testing.assert_allclose(start.transmat, np.array([[0.5, 1.5], [1.5, 0.5]]) / 2)
    np.testing.assert_allclose(start.startprob, [0.5, 0.5])


def test_a_missing_observation_breaks_both_of_its_transitions():
    start = start_from([0, 1, 0, 0, 0], [5], missing=[1])
    np.testing.assert_allclose(start.transmat, np.array([[2.5, 0.5], [0.5, 0.5]]) / [[3], [1]])


def test_a_missing_first_observation_says_nothing_about_the_start():
    np.testing.assert_allclose(start_from([0, 1, 1], [3], missing=[0]).startprob, [0.5, 0.5])


@pytest.mark.parametrize("manifold", brute_force.MANIFOLDS, ids=repr)
def test_sigma_comes_from_the_mean_squared_distance_of_each_cluster(manifold):
    d2 = [0.5, 2.0, 1.5, 3.0]
    sigmas = start_from([0, 1, 0, 1], [4], d2, manifold=manifold).sigmas
    np.testing.assert_allclose(manifold.delta(sigmas), [1.0, 2.5], rtol=1e-9)


def test_an_empty_cluster_gets_the_sigma_of_all_points():
    sigmas = start_from([0, 0, 0], [3], [1.0, 2.0, 3.0]).sigmas
    np.testing.assert_allclose(Hyperbolic(2).delta(sigmas), [2.0, 2.0], rtol=1e-9)


def test_the_parameters_of_a_single_point_are_finite():
    start = start_from([0], [1], [0.0])
    assert all(np.isfinite(part).all() for part in start)
    np.testing.assert_array_equal(start.sigmas, [1e-3, 1e-3])


@pytest.mark.parametrize("manifold", brute_force.MANIFOLDS, ids=repr)
def test_sigma_never_falls_below_its_floor(manifold):
    sigmas = sigmas_from_delta(manifold, np.array([0.0, 1e-300, 1e-12, 1.0]), 0.05)
    assert sigmas[:3].tolist() == [0.05] * 3
    np.testing.assert_allclose(manifold.delta(sigmas[3]), 1.0, rtol=1e-9)


@pytest.mark.parametrize("manifold", brute_force.MANIFOLDS, ids=repr)
def test_the_density_is_the_gaussian_of_the_distance_over_its_normaliser(manifold):
    d2, sigmas = np.array([[0.0, 4.0, 1e5], [0.25, 1.0, 9.0]]), np.array([0.3, 1.2])
    log_z = [math.log(brute_force.normaliser(manifold, sigma)) for sigma in sigmas]
    expected = (-d2 / (2 * sigmas[:, None] ** 2)).T - log_z
    np.testing.assert_allclose(log_densities(manifold, d2, sigmas), expected, rtol=1e-11)


def test_permuted_parameters_describe_the_same_model_under_new_names():
    parameters = Parameters(
        np.array([0.1, 0.2, 0.7]),
        np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.0, 0.4, 0.6]]),
        np.array([[0.0], [1.0], [2.0]]),
        np.array([3.0, 4.0, 5.0]),
    )
    order = [2, 0, 1]
    permuted = parameters.permuted(order)
    for i, old_i in enumerate(order):
        assert permuted.startprob[i] == parameters.startprob[old_i]
        assert permuted.means[i] == parameters.means[old_i]
        assert permuted.sigmas[i] == parameters.sigmas[old_i]
        for j, old_j in enumerate(order):
            assert permuted.transmat[i, j] == parameters.transmat[old_i, old_j]


@pytest.mark.parametrize("wrong", ["nan", "inf"])
def test_no_stationary_law_is_sought_of_a_matrix_that_is_not_finite(wrong):
    script = f"""
import numpy as np
from rhmm.parameters import stationary_law
transmat = np.full((3, 3), 1 / 3)
transmat[0, 0] = np.{wrong}
try:
    stationary_law(transmat)
except ValueError as error:
    print(error)
"""
    assert printed_in_time(script) == "transmat must be finite"
