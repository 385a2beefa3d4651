import pytest

from dashboard.model.endless import Endless, Setup
from dashboard.model.experiment import Experiment
from dashboard.model.scenarios import scenario_of, scenarios
from dashboard.model.spaces.registry import SPACES


@pytest.mark.parametrize("space", SPACES)
def test_every_scenario_can_happen_to_every_preset(space):
    for preset in SPACES[space].presets.values():
        experiment = Experiment(**preset, window=60)
        for scenario in scenarios(experiment.n_states).values():
            Setup.of(experiment, Endless(events=scenario.events)).opened()


def test_a_scenario_is_found_again_by_its_events():
    for name, scenario in scenarios(3).items():
        assert scenario_of(scenario.events, 3) == name
    assert scenario_of(scenarios(3)["All weathers"].events[:2], 3) is None
