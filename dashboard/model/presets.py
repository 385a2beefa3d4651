"""True models worth starting from, see `Space.presets`."""

from collections.abc import Mapping

from dashboard.model.experiment import Experiment
from dashboard.model.spaces.registry import DEFAULT, SPACES
from rhmm.paper import LENGTH as PAPER_LENGTH

PRESETS = DEFAULT.presets
"""Those of the default space."""


def preset_of(truth: Mapping) -> str | None:
    """The name of the preset that this truth is, if it is one."""
    presets = SPACES[truth["space"]].presets
    return next((name for name, preset in presets.items() if preset == truth), None)


def is_the_papers(experiment: Experiment) -> bool:
    """Whether the data are those of the paper's experiment, but for the seed."""
    if experiment.is_recorded:
        return False
    papers = SPACES[experiment.space].papers_preset
    is_its_model = papers is not None and preset_of(experiment.truth) == papers
    return is_its_model and experiment.length == PAPER_LENGTH
