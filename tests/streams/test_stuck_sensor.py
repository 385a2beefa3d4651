"""Repetitions of a stuck sensor count as missing; those of data on a grid do not."""

import numpy as np
import pytest

from rhmm import (
    Euclidean,
    Hyperbolic,
    RiemannianHMM,
    StreamingRiemannianHMM,
    WindowedRiemannianHMM,
)
from rhmm.paper import paper_model
from rhmm.scoring import accuracy
from rhmm.streams.stuck_sensor import StuckSensor

LIMIT = 8


def seen(X) -> np.ndarray:
    observed = np.ones(len(X), bool)
    StuckSensor(X.shape[1]).drop(X, observed)
    return observed


def test_a_long_run_of_one_value_counts_only_at_its_beginning():
    X = np.random.default_rng(0).normal(size=(1_000, 2))
    X[300:800] = X[300]
    observed = seen(X)
    assert observed[: 300 + LIMIT].all()
    assert not observed[300 + LIMIT : 800].any()
    assert observed[800:].all()


def test_holes_do_not_end_a_run():
    X, observed = np.zeros((40, 1)), np.ones(40, bool)
    observed[5:10] = False
    StuckSensor(1).drop(X, observed)
    assert observed.sum() == LIMIT


def test_pieces_are_judged_as_the_whole():
    X = np.repeat(np.random.default_rng(0).normal(size=(40, 2)), 25, axis=0)
    sensor, observed = StuckSensor(2), np.ones(len(X), bool)
    for part in np.array_split(np.arange(len(X)), 37):
        piece = observed[part]
        sensor.drop(X[part], piece)
        observed[part] = piece
    assert np.array_equal(observed, seen(X))


def sticky_on_a_grid():
    """Three states that last 50 observations, seen through a grid coarser than their spread."""
    A = np.full((3, 3), 0.01) + 0.97 * np.eye(3)
    truth = RiemannianHMM.from_parameters(
        Euclidean(1), np.full(3, 1 / 3), A, [[-3.0], [0.0], [3.0]], [0.2, 0.4, 0.6]
    )
    X, states = truth.sample(10_000, random_state=0)
    return np.round(X), states


def test_data_on_a_grid_soon_count_as_observed():
    X, _ = sticky_on_a_grid()
    observed = seen(X)
    assert (~observed).sum() < 500
    assert observed[len(X) // 2 :].mean() > 0.99


def test_a_chain_seen_through_a_grid_is_learned():
    X, states = sticky_on_a_grid()
    for options in ({"memory": "growing"}, {"memory": "fixed", "window": 1_000}):
        online = StreamingRiemannianHMM(Euclidean(1), 3, random_state=0, **options).fit(X)
        model = online.to_hmm()
        assert accuracy(states, model.predict(X), 3) > 0.97
        assert np.diagonal(model.transmat_).min() > 0.93


@pytest.mark.parametrize("kind", [StreamingRiemannianHMM, WindowedRiemannianHMM])
def test_predictions_drop_what_learning_would_drop(kind):
    online = kind(Hyperbolic(2), 3, random_state=0)
    online.partial_fit(paper_model().sample(700, random_state=0)[0])
    y = np.array([0.05, 0.6])
    for _ in range(12):
        predicted = online.predict_proba_one(y)
        np.testing.assert_array_equal(online.predict_proba_one(y), predicted)
        learned = online.partial_fit_predict_proba(y[None])[0]
        np.testing.assert_allclose(predicted, learned, rtol=0, atol=1e-7)
