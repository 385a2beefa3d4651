"""Forecasts are what the chain with missing observations at its end says."""

import numpy as np
import pytest

from rhmm import Hyperbolic
from rhmm.paper import paper_model
from tests.emissions.models import wrapped_model

MODELS = [paper_model(), wrapped_model(Hyperbolic(2), "tied")]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.emission)


@every_model
def test_states_ahead_are_those_of_a_chain_whose_end_is_missing(model):
    X, _ = model.sample(20, random_state=0)
    longer = np.concatenate([X, np.full((4, 2), np.nan)])
    expected = model.predict_proba(longer)[20:]
    np.testing.assert_allclose(model.forecast(X, 4).states, expected, rtol=1e-12)


@every_model
def test_the_density_ahead_is_the_gain_in_likelihood_of_the_next_observation(model):
    X, _ = model.sample(25, random_state=0)
    found = model.forecast(X[:20], 5).log_density(X[20:])
    assert found.shape == (5, 5)
    for h in range(5):
        path = np.concatenate([X[:20], np.full((h, 2), np.nan), X[20 + h : 21 + h]])
        expected = model.score(path) - model.score(X[:20])
        assert found[h, h] == pytest.approx(expected, rel=1e-9)


def test_wrong_arguments_are_named():
    model = MODELS[0]
    X, _ = model.sample(3, random_state=0)
    with pytest.raises(ValueError, match="steps must be at least 1, not 0"):
        model.forecast(X, 0)
    with pytest.raises(ValueError, match=r"Y must be a batch of points, not an array of shape \(2"):
        model.forecast(X, 1).log_density([0.0, 0.0])
    with pytest.raises(ValueError, match=r"Y\[0\] is not a point"):
        model.forecast(X, 1).log_density([[2.0, 0.0]])
