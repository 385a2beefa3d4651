"""Fits and checks that tests of EM share."""

import warnings

import numpy as np

from rhmm import ConvergenceWarning, DegenerateWarning, RiemannianHMM
from tests.brute_force import in_a_row


def quietly(model, X, lengths=None, **arguments):
    """Fit and ignore warnings of convergence and degenerate data: other tests are about them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DegenerateWarning)
        return model.fit(X, lengths=lengths, **arguments)


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
