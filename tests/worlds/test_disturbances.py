"""Events that spoil observations do what they say."""

import numpy as np
import pytest

from rhmm.worlds import Missing, Outliers, StuckSensor
from tests.worlds.scenes import MANIFOLDS, paper_world, world_on


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_outliers_lie_at_their_distance_for_as_long_as_the_burst_lasts(manifold):
    world = world_on(manifold, Outliers(at=100, share=0.2, length=1_000, distance=7.0))
    X, truth = world.take(1_300).X, world.truth
    far = np.abs(manifold.dist(manifold.mean(truth.means), X) - 7.0) < 1e-6
    assert not far[:100].any()
    assert not far[1_100:].any()
    assert far.sum() == pytest.approx(200, abs=4 * np.sqrt(1_000 * 0.2 * 0.8))


def test_a_share_is_missing_for_so_long():
    missing = np.isnan(paper_world(Missing(at=100, share=0.3, length=1_000)).take(1_300).X)
    rows = missing.all(axis=1)
    assert np.array_equal(rows, missing.any(axis=1))
    assert not rows[:100].any()
    assert not rows[1_100:].any()
    assert rows.sum() == pytest.approx(300, abs=4 * np.sqrt(1_000 * 0.3 * 0.7))


def test_a_stuck_sensor_repeats_the_latest_observation_that_was_there():
    hole, stuck = Missing(at=100, share=1.0, length=50), StuckSensor(at=150, length=150)
    part = paper_world(hole, stuck).take(400)
    assert (part.X[150:300] == part.X[99]).all()
    assert not (part.X[300] == part.X[99]).any()
    assert len(set(part.states[150:300])) == 3


def test_a_sensor_that_is_stuck_from_the_beginning_repeats_its_first_observation():
    part = paper_world(StuckSensor(at=0, length=100)).take(150)
    assert (part.X[:100] == part.X[0]).all()
    assert part.log_density[0] != 0
    assert (part.log_density[1:100] == 0).all()


def test_the_ceiling_learns_nothing_from_disturbed_observations():
    part = paper_world(StuckSensor(at=500, length=500)).take(1_000)
    assert (part.ceiling[520:] == part.ceiling[520]).all()


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        (Missing, {"share": 0, "length": 50}, "share must be above 0"),
        (Missing, {"share": 1.5, "length": 50}, "share must be above 0 and at most 1"),
        (Missing, {"share": 0.5, "length": 30}, "length must be at least 50"),
        (StuckSensor, {"length": 120}, "length must be a multiple of 50"),
        (Outliers, {"share": 0.1, "length": 50, "distance": 0.0}, "distance must be above 0"),
        (Outliers, {"share": 0.1, "length": 50, "distance": 21}, "distance must be above 0 and at"),
    ],
)
def test_a_wrong_field_is_named(kind, fields, message):
    with pytest.raises(ValueError, match=message):
        kind(**fields)
