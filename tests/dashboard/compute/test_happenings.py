import numpy as np
import pytest

from dashboard.compute.happenings import HAPPENINGS, event_asked_for, move_to
from dashboard.model.endless import Endless, Setup
from dashboard.model.experiment import Experiment
from dashboard.model.kinds import Invalid
from dashboard.model.spaces.registry import DEFAULT, SPACES


def world_of(space, **truth):
    experiment = Experiment(**{**SPACES[space].truth, **truth})
    return Setup.of(experiment, Endless()).opened()


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kind", HAPPENINGS)
@pytest.mark.parametrize("seed", range(5))
def test_what_a_button_asks_for_can_happen(space, kind, seed):
    world = world_of(space)
    event = event_asked_for(kind, SPACES[space], world.truth, np.random.default_rng(seed))

    added = world.add(event)

    assert added.name == kind
    assert np.isfinite(world.take(2_000).X).any()


def test_another_a_differs_clearly():
    truth = world_of(DEFAULT.key).truth
    for seed in range(20):
        event = event_asked_for("transitions", DEFAULT, truth, np.random.default_rng(seed))
        assert np.linalg.norm(np.array(event.transmat) - truth.transmat) > 0.2


def test_a_new_state_lies_away_from_the_others():
    truth = world_of(DEFAULT.key).truth
    event = event_asked_for("new-state", DEFAULT, truth, np.random.default_rng(0))

    assert DEFAULT.manifold.squared_distances(np.array([event.mean]), truth.means).min() > 0.5


@pytest.mark.parametrize("kind", ["transitions", "away"])
def test_a_single_state_can_neither_go_nor_have_another_a(kind):
    alone = {"transmat": ((1.0,),), "means": ((0.0, 0.0),), "sigmas": (0.3,), "startprob": (1.0,)}
    truth = world_of(DEFAULT.key, **alone).truth

    with pytest.raises(Invalid):
        event_asked_for(kind, DEFAULT, truth, np.random.default_rng(0))


def test_a_kind_that_nobody_knows_is_refused():
    with pytest.raises(Invalid):
        event_asked_for("earthquake", DEFAULT, world_of(DEFAULT.key).truth, None)


def test_a_mean_moves_to_a_point_of_the_space_alone():
    assert move_to(DEFAULT, 1, (0.5, 0.25)).mean == (0.5, 0.25)
    with pytest.raises(Invalid):
        move_to(DEFAULT, 1, (1.5, 0.0))
