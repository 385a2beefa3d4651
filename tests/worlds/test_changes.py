"""Events that change the parameters do what they say."""

import numpy as np
import pytest

from rhmm.worlds import (
    MoveMean,
    NewState,
    NewTransitions,
    Scale,
    SlowTurn,
    StateAway,
    Turn,
)
from tests.worlds.scenes import MANIFOLDS, paper_world, some_means, world_on


def after(world, count):
    world.take(count)
    return world.truth


def test_only_the_mean_that_moves_moves():
    begun = paper_world().truth
    truth = after(paper_world(MoveMean(at=50, state=1, mean=(0.1, -0.2))), 100)
    assert np.array_equal(truth.means[1], [0.1, -0.2])
    assert np.array_equal(truth.means[[0, 2]], begun.means[[0, 2]])
    assert np.array_equal(truth.transmat, begun.transmat)


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_a_turn_is_an_isometry_about_the_origin(manifold):
    means = some_means(manifold)
    truth = after(world_on(manifold, Turn(at=0, angle=50)), 50)
    to_origin, between = manifold.dist(manifold.origin, means), manifold.dist(means[0], means)
    assert np.allclose(manifold.dist(manifold.origin, truth.means), to_origin, rtol=1e-12)
    assert np.allclose(manifold.dist(truth.means[0], truth.means), between, rtol=1e-12)
    assert (manifold.dist(means, truth.means) > 0.01).all()
    back = after(world_on(manifold, Turn(at=0, angle=50), Turn(at=0, angle=-50)), 50)
    assert np.allclose(back.means, means, atol=1e-14)


def test_a_turn_by_90_degrees_takes_right_to_up():
    events = MoveMean(at=0, state=0, mean=(0.5, 0.0)), Turn(at=0, angle=90)
    assert np.allclose(after(paper_world(*events), 50).means[0], [0.0, 0.5])


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_scaling_multiplies_distances_to_the_origin(manifold):
    means = some_means(manifold)
    truth = after(world_on(manifold, Scale(at=0, factor=-0.9)), 50)
    distances = manifold.dist(manifold.origin, means)
    assert np.allclose(manifold.dist(manifold.origin, truth.means), 0.9 * distances)
    assert np.allclose(manifold.dist(means, truth.means), 1.9 * distances)


def test_a_slow_turn_is_spread_evenly_over_its_blocks():
    world = paper_world(SlowTurn(at=100, angle=80, length=400))
    angles = []
    for _ in range(12):
        x, y = after(world, 50).means[1]
        angles.append(np.degrees(np.arctan2(y, x)))
    begun = np.degrees(np.arctan2(0.82, 0.29))
    assert np.allclose(np.array(angles) - begun, [0, 0, *range(10, 90, 10), 80, 80])


def test_another_matrix_is_followed():
    cycle = np.roll(np.eye(3), 1, axis=1)
    world = paper_world(NewTransitions(at=100, transmat=cycle))
    states = world.take(300).states[100:]
    assert (np.diff(states) % 3 == 1).all()


def test_a_state_that_is_away_is_not_visited_and_comes_back():
    world = paper_world(StateAway(at=200, state=2, length=400))
    states = world.take(1_200).states
    assert not (states[200:600] == 2).any()
    assert (states[:200] == 2).mean() > 0.3
    assert (states[600:] == 2).mean() > 0.3


def test_the_rows_of_the_others_are_restricted_and_keep_their_proportions():
    truth = after(paper_world(StateAway(at=0, state=2, length=400)), 50)
    assert np.allclose(truth.transmat[:2, :2], [[4 / 7, 3 / 7], [0.25, 0.75]])
    assert (truth.transmat[:, 2] == 0).all()
    assert np.allclose(truth.startprob @ truth.transmat, truth.startprob)


def test_a_chain_that_can_go_nowhere_else_goes_to_all_others_alike():
    cycle = NewTransitions(at=0, transmat=np.roll(np.eye(3), 1, axis=1))
    truth = after(paper_world(cycle, StateAway(at=0, state=1, length=100)), 50)
    assert np.array_equal(truth.transmat[0], [0.5, 0.0, 0.5])


def test_a_new_state_takes_its_share_of_every_row():
    event = NewState(at=100, mean=(0.1, -0.6), sigma=0.3, share=0.25, stay=0.7)
    world = paper_world(event)
    part = world.take(20_100)
    truth, states = world.truth, part.states[100:]
    assert part.states[:100].max() == 2
    assert truth.n_states == 4
    assert np.allclose(truth.transmat[:3, 3], 0.25)
    assert np.allclose(truth.transmat[3], [0.1, 0.1, 0.1, 0.7])
    assert np.allclose(truth.transmat.sum(axis=1), 1.0)
    share = truth.startprob[3]
    assert (states == 3).mean() == pytest.approx(share, abs=4 * np.sqrt(share * 4 / 20_000))
    d2 = world.manifold.dist(part.X[100:][states == 3], [0.1, -0.6]) ** 2
    assert d2.mean() == pytest.approx(world.manifold.delta(0.3), rel=0.1)


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        (Turn, {"angle": "far"}, "angle must be a number"),
        (Turn, {"angle": np.nan}, "angle must be a finite number"),
        (Turn, {"angle": 3, "at": 20}, "at must be a multiple of 50"),
        (Turn, {"angle": 3, "at": -50}, "at must be at least 0"),
        (MoveMean, {"state": -1, "mean": (0, 0)}, "state must be at least 0"),
        (MoveMean, {"state": 1, "mean": (0, np.nan)}, "mean must hold finite numbers"),
        (SlowTurn, {"angle": 3, "length": 0}, "length must be at least 50"),
        (SlowTurn, {"angle": 3, "length": 75}, "length must be a multiple of 50"),
        (NewTransitions, {"transmat": (0.5, 0.5)}, "transmat must be square"),
        (NewTransitions, {"transmat": (0.5, 0.5, 0.5, 0.6)}, "row 1 of transmat must sum to 1"),
        (StateAway, {"state": 1.5, "length": 50}, "state must be a whole number"),
        (NewState, {"mean": (0, 0), "sigma": 0.0}, "sigma must be positive"),
        (NewState, {"mean": (0, 0), "sigma": (1.0, 2.0)}, "sigma must be one number"),
        (NewState, {"mean": (0, 0), "sigma": 1.0, "share": 1.0}, "share must be below 1"),
        (NewState, {"mean": (0, 0), "sigma": 1.0, "share": 0.0}, "share must be above 0"),
        (NewState, {"mean": (0, 0), "sigma": 1.0, "stay": -0.1}, "stay must be a finite number"),
    ],
)
def test_a_wrong_field_is_named(kind, fields, message):
    with pytest.raises(ValueError, match=message):
        kind(**fields)
