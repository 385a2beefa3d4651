"""Which parameters an emission takes."""

import numpy as np
import pytest

from rhmm import Hyperbolic, RiemannianHMM
from rhmm.emissions import EMISSIONS, n_parameters

ONE_STATE = {
    "manifold": Hyperbolic(2),
    "startprob": [1.0],
    "transmat": [[1.0]],
    "means": [[0.0, 0.0]],
}
STUDENT = {"emission": "student", "covariances": [1.0]}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"emission": "round"}, "emission must be one of 'riemannian', 'isotropic', 'diag'"),
        ({}, "sigmas must be given for emission='riemannian', and no covariances"),
        ({"sigmas": [1.0], "covariances": [1.0]}, "sigmas must be given for emission='riemannian'"),
        ({"emission": "tied"}, "covariances must be given for emission='tied', and no sigmas"),
        ({"emission": "tied", "sigmas": [1.0]}, "covariances must be given for emission='tied'"),
        ({"emission": "tied", "covariances": [1.0]}, r"covariances must have shape \(2, 2\)"),
        ({"sigmas": [1.0], "degrees": 3.0}, "degrees must be None for emission='riemannian'"),
        ({"emission": "student", "covariances": [1.0]}, "degrees must be one number"),
        ({**STUDENT, "degrees": [3.0, 4.0]}, "degrees must be a number"),
        ({**STUDENT, "degrees": -1.0}, "degrees must be a finite number of at least 0.1"),
    ],
)
def test_parameters_that_do_not_fit_the_emission_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        RiemannianHMM.from_parameters(**ONE_STATE | given)


def test_a_model_keeps_its_own_copy_of_the_covariances():
    value = np.eye(2)
    model = RiemannianHMM.from_parameters(**ONE_STATE, emission="tied", covariances=value)
    value[:] = 9.0
    np.testing.assert_array_equal(model.covariances_, np.eye(2))


def test_the_paper_s_emission_has_no_covariances():
    model = RiemannianHMM.from_parameters(**ONE_STATE, sigmas=[1.0])
    with pytest.raises(AttributeError, match="emission='riemannian' has sigmas_, and no cov"):
        _ = model.covariances_


def test_free_parameters_of_every_emission_are_counted():
    counts = [n_parameters(Hyperbolic(2), emission, 3) for emission in EMISSIONS]
    spreads = (3, 3, 6, 3, 9, 4, 7, 4, 10)
    assert counts == [8 + 6 + spread for spread in spreads]  # π and A, means, spreads
    assert RiemannianHMM(Hyperbolic(2), 3, emission="full").n_parameters == 2 + 6 + 15
    known = RiemannianHMM(Hyperbolic(2), 3, emission="student", degrees=3.0)
    assert known.n_parameters == RiemannianHMM(Hyperbolic(2), 3).n_parameters


def test_only_heavy_tails_have_degrees_of_freedom():
    model = RiemannianHMM.from_parameters(**ONE_STATE, **STUDENT, degrees=3)
    assert model.degrees_ == 3.0
    model = RiemannianHMM.from_parameters(**ONE_STATE, sigmas=[1.0])
    with pytest.raises(AttributeError, match="emission='riemannian' has no degrees_"):
        _ = model.degrees_
