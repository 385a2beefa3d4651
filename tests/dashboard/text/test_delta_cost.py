from dataclasses import replace

import numpy as np
import pytest

from dashboard.model.methods import VARIANTS
from dashboard.model.plan import Plan, Sweep
from dashboard.text import formatting
from dashboard.text.delta_cost import delta_cost
from rhmm.sweeping import noise_floor, run_once
from tests.dashboard.made_runs import ONE_STATE, SMALL, all_runs, configured, of_variant

STREAMING = VARIANTS["streaming"]


def with_accuracies(experiment, by_window, ceiling=0.9):
    """Runs of the streaming algorithm with these accuracies."""
    out = []
    for window, accuracies in by_window.items():
        c = configured("streaming", experiment.length, window)
        run = run_once(experiment.source.true_model(), c, 0)
        out += [
            replace(run, seed=seed, accuracy=accuracy, ceiling=ceiling, transition_error=0.123)
            for seed, accuracy in enumerate(accuracies)
        ]
    return out


@pytest.mark.parametrize(
    ("changes", "variants"),
    [
        ({}, ["paper", "streaming"]),
        ({"algorithms": ("streaming",), "memory": "fixed"}, ["fixed"]),
        ({"transition_update": "convex"}, ["convex", "streaming"]),
    ],
)
def test_every_algorithm_has_a_cost_of_its_own_at_the_experiments_delta(changes, variants, swept):
    experiment = replace(SMALL, **changes)
    assert [variant.key for variant in experiment.variants] == variants

    for variant in experiment.variants:
        check_cost(delta_cost(experiment, variant, swept), variant.key, swept)


def check_cost(cost, variant, swept):
    """The cost is that of this variant's runs with Δ = 60."""

    mine = of_variant(swept, variant, 60)
    seconds = np.mean([run.seconds for run in mine])
    assert cost.accuracy == formatting.percent(np.mean([run.accuracy for run in mine]))
    assert cost.error == f"{np.mean([run.transition_error for run in mine]):.4f}"
    assert cost.time == formatting.microseconds(1e6 * seconds / 500)
    assert cost.memory == formatting.size(max(run.nbytes for run in mine))
    assert "Δ = 60" in cost.words
    assert "over 3 runs" in cost.words
    assert f"{noise_floor(SMALL.source.true_model(), 60):.3f}" in cost.words


@pytest.mark.parametrize(
    ("by_window", "sentence"),
    [
        ({40: [0.5], 60: [0.6], 100: [0.895]}, "Δ = 100 would be enough to be within 1 %"),
        ({40: [0.895], 60: [0.9]}, "Even Δ = 40, the smallest that was run, is within 1 %"),
        ({40: [0.5], 60: [0.6]}, "None of the values of Δ up to 60 that were run comes within 1 %"),
        ({40: [0.5], 60: [0.6]}, "it identifies 30.0 percentage points fewer hidden states"),
        ({60: [0.8996]}, "it identifies as many hidden states as"),
        ({60: [0.95]}, "it identifies as many hidden states as"),
        ({60: [0.6]}, "over one run"),
        ({60: [0.6, 0.7]}, "over 2 runs"),
    ],
)
def test_the_costs_sentences_follow_the_numbers(by_window, sentence):
    cost = delta_cost(SMALL, STREAMING, with_accuracies(SMALL, by_window))

    assert sentence in cost.words


def test_there_is_no_cost_before_the_first_run(swept):
    others = [run for run in swept if run.configuration.window != 60]
    assert delta_cost(SMALL, STREAMING, []) is None
    assert delta_cost(SMALL, STREAMING, others) is None


def test_an_error_above_that_of_chance_is_not_praised(swept):
    mine = of_variant(swept, "streaming", 60)
    for factor, praised in ((0.5, True), (2.0, False)):
        error = factor * noise_floor(SMALL.source.true_model(), 60)
        off = [replace(run, transition_error=error) for run in mine]
        cost = delta_cost(SMALL, STREAMING, off)
        assert f"{error:.3f}" in cost.words
        assert ("keeps falling" in cost.words) == praised


@pytest.mark.parametrize("algorithm", ["streaming", "windowed"])
def test_one_state_has_a_cost_that_promises_nothing_about_its_transitions(algorithm):
    alone = replace(SMALL, **ONE_STATE, algorithms=(algorithm,))
    sweep = Sweep.of(alone, Plan(windows=(40,), learners=("paper",), runs=1))
    cost = delta_cost(alone, alone.variants[0], all_runs(sweep))

    assert cost.accuracy == "100.00 %"
    assert "as many hidden states" in cost.words
    assert "nothing to learn in A" in cost.words
    assert "keeps falling" not in cost.words


def test_a_learner_without_delta_has_a_cost_that_gives_no_advice_about_it(swept):
    cost = delta_cost(SMALL, VARIANTS["auto"], swept)

    mine = of_variant(swept, "auto", None)
    assert cost.accuracy == formatting.percent(np.mean([run.accuracy for run in mine]))
    assert cost.memory == formatting.size(max(run.nbytes for run in mine))
    assert cost.words.startswith("Automatic memory, which has no Δ: over 3 runs it identifies ")
    assert "within 1 %" not in cost.words


def test_a_fixed_memory_is_not_said_to_grow(swept):
    experiment = replace(SMALL, memory="fixed")
    error = 0.5 * noise_floor(experiment.source.true_model(), 60)
    mine = [replace(run, transition_error=error) for run in of_variant(swept, "fixed", 60)]

    assert "keeps falling" not in delta_cost(experiment, VARIANTS["fixed"], mine).words


def test_visitors_with_other_seeds_share_the_answer(swept):
    mine, others = (delta_cost(replace(SMALL, seed=seed), STREAMING, swept) for seed in (1, 2))

    assert mine is not None
    assert mine is others
