from dataclasses import replace

import pytest

from dashboard.model.experiment import Experiment
from dashboard.model.presets import PRESETS, preset_of


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_valid_and_recognised(name):
    experiment = replace(Experiment(), **PRESETS[name])

    assert preset_of(experiment.truth) == name


def test_a_truth_of_ones_own_is_no_preset():
    assert preset_of(Experiment().truth | {"sigmas": (0.2, 1.0, 1.1)}) is None
