"""Sensors that were put on again in another order."""

import numpy as np
import pytest

from rhmm import SPD, AutoMemoryRiemannianHMM, Hyperbolic
from rhmm.manifolds import LogEuclideanSPD
from rhmm.streams.rearranging import best_order, orders, rearranged_state
from tests.learners.chains import sensors

MATRICES = [SPD(3), LogEuclideanSPD(3)]


def learned(manifold, emission: str) -> AutoMemoryRiemannianHMM:
    online = AutoMemoryRiemannianHMM(manifold, 3, emission=emission, random_state=0)
    return online.partial_fit(sensors(manifold).sample(300, random_state=0)[0])


def test_a_ring_of_sensors_can_be_shifted_and_turned_round():
    assert orders(4).tolist() == [
        [0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2],
        [3, 2, 1, 0], [2, 1, 0, 3], [1, 0, 3, 2], [0, 3, 2, 1],
    ]  # fmt: skip
    assert orders(2).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("manifold", MATRICES, ids=repr)
def test_another_order_is_an_isometry(manifold):
    X, _ = sensors(manifold).sample(6, random_state=0)
    moved = manifold.rearranged(X, [1, 2, 0])
    assert moved[0, 0, 1] == X[0, 1, 2]
    assert np.allclose(manifold.dist(moved[:3], moved[3:]), manifold.dist(X[:3], X[3:]))


def test_points_without_sensors_have_no_order():
    with pytest.raises(ValueError, match="do not tell of sensors"):
        Hyperbolic(2).rearranged(np.zeros((1, 2)), [1, 0])


@pytest.mark.parametrize("emission", ["riemannian", "tied", "full", "student"])
@pytest.mark.parametrize("manifold", MATRICES, ids=repr)
def test_what_is_known_explains_the_same_in_another_order(manifold, emission):
    online, order = learned(manifold, emission), np.array([1, 2, 0])
    X, _ = sensors(manifold).sample(40, random_state=1)
    state, settings = online._bank.state, online._memory("growing")
    moved = rearranged_state(manifold, state, order, settings, 300)
    back = manifold.rearranged(X, np.argsort(order))
    for ours, theirs in zip(
        online._law(moved).scaled_densities(online._law(moved).view(back)),
        online._law(state).scaled_densities(online._law(state).view(X)),
        strict=True,
    ):
        assert np.allclose(ours, theirs, rtol=1e-6, atol=1e-9)
    assert np.allclose(moved.delta, state.delta)


@pytest.mark.parametrize("emission", ["riemannian", "tied"])
def test_observations_tell_in_which_order_their_sensors_are(emission):
    manifold = SPD(3)
    state = learned(manifold, emission)._bank.state
    X, _ = sensors(manifold).sample(25, random_state=1)
    for order in orders(3):
        found = best_order(manifold, state, manifold.rearranged(X, np.argsort(order)))
        assert found.order.tolist() == order.tolist()
        assert (found.gain > 1.0) == (order.tolist() != [0, 1, 2])


def test_one_observation_does_not_decide_about_the_order():
    manifold = SPD(3)
    state = learned(manifold, "riemannian")._bank.state
    X, _ = sensors(manifold).sample(25, random_state=1)
    X[7] = np.diag([1e-6, 1e6, 1.0])
    assert best_order(manifold, state, X).gain == 0.0
