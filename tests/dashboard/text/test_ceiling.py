import pytest

from dashboard.compute.runs import empty_run
from dashboard.model.experiment import Experiment
from dashboard.model.methods import CEILING
from dashboard.text import ceiling
from tests.dashboard.made_runs import with_method


def test_every_sample_is_named_beside_the_same_definition(paper):
    words = {
        ceiling.of_this_chain(paper): "this very chain of 3,000 observations",
        ceiling.of_simulated_chain(20_000): "one simulated chain of 20,000 observations",
        ceiling.over_seeds("5 seeds"): "the mean over the chains of 5 seeds",
    }

    for said, sample in words.items():
        assert said.startswith(ceiling.MEANING)
        assert sample in said
        assert ceiling.BY_CHANCE in said


@pytest.mark.parametrize(
    ("above", "words"),
    [
        ([], ceiling.BY_CHANCE),
        (["em"], "Here EM does."),
        (["windowed", "em"], "Here Windowed and EM do."),
    ],
)
def test_methods_that_beat_the_ceiling_of_this_chain_are_named(paper, above, words):
    best = paper.method(CEILING).accuracy
    run = paper
    for method in paper.methods:
        if method.key != CEILING:
            lift = 0.001 if method.key in above else -0.001
            run = with_method(run, method.key, accuracy=best + lift)

    assert ceiling.of_this_chain(run).endswith(words)


def test_nothing_is_said_of_a_ceiling_that_is_not_known_yet():
    assert ceiling.of_this_chain(empty_run(Experiment())) == ""
