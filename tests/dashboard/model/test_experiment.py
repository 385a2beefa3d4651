import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.model.experiment import Experiment
from dashboard.model.kinds import Invalid
from dashboard.model.methods import BASELINES
from dashboard.model.model_checks import indexed, normalised
from dashboard.model.presets import PRESETS
from dashboard.model.spaces.registry import SPACES
from rhmm.paper import paper_model


def test_the_default_is_the_papers_experiment():
    truth, paper = Experiment(), paper_model()

    np.testing.assert_array_equal(truth.transmat, paper.transmat_)
    np.testing.assert_array_equal(truth.means, paper.means_)
    np.testing.assert_array_equal(truth.sigmas, paper.sigmas_)
    np.testing.assert_array_equal(truth.startprob, paper.startprob_)
    assert (truth.length, truth.window) == (10_000, 200)


def first_row(*row):
    """The default A with another first row."""
    return {"transmat": (row, *Experiment().transmat[1:])}


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        (first_row(0.4, 0.3, 0.2), "transmat", "Row 1 of A sums to 0.9"),
        (first_row(0.4, 0.3, None), "transmat", "no number"),
        (first_row(0.4, 0.3, math.nan), "transmat", "no number"),
        (first_row(1.1, -0.1, 0.0), "transmat", "negative"),
        ({"transmat": ((1.0,),)}, "transmat", "A has 1 row for 3 states."),
        ({"transmat": ((1.0,),) * 3}, "transmat", "Row 1 of A has 1 entry for 3 states."),
        ({"sigmas": (1.0, 1.0)}, "sigmas", "σ has 2 entries for 3 states."),
        ({"means": ((0.0, 0.0), (0.8, 0.6), (0.1, 0.2))}, "means", "c₂ = (0.8, 0.6) is outside"),
        ({"means": ((0.0, 0.0), (0.9999, 0.0), (0.1, 0.2))}, "means", "too near the boundary"),
        ({"means": ((0.1, 0.2), (0.5, 0.0), (0.1, 0.2))}, "means", "c₁ and c₃ coincide"),
        ({"means": ((0.1, None), (0.5, 0.0), (0.1, 0.2))}, "means", "c₁ needs two numbers"),
        ({"means": ()}, "means", "1 to 8 states"),
        ({"sigmas": (0.0, 1.0, 1.0)}, "sigmas", "σ₁ = 0 must be above 0"),
        ({"sigmas": (0.2, None, 1.0)}, "sigmas", "σ₂ must be a number above 0"),
        ({"sigmas": (0.2, 1.0, 9.0)}, "sigmas", "σ₃ = 9 must be between"),
        ({"startprob": (0.5, 0.6, 0.0)}, "startprob", "π sums to 1.1"),
        ({"length": 499}, "length", "between 500 and 100,000"),
        ({"length": None}, "length", "whole number"),
        ({"seed": -1}, "seed", "between 0 and"),
        ({"window": 19}, "window", "between 20 and 5,000"),
        ({"window": 1000, "length": 500}, "window", "more than the T = 500"),
        ({"algorithms": ("magic",)}, "algorithms", "windowed, streaming, auto"),
        ({"algorithms": ()}, "algorithms", "at least one online algorithm"),
        ({"transition_update": "magic"}, "transition_update", "paper, convex"),
        ({"memory": "magic"}, "memory", "growing, fixed"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_in_a_sentence(changes, field, words):
    with pytest.raises(Invalid) as raised:
        replace(Experiment(), **changes)

    assert raised.value.field == field
    assert words in str(raised.value)
    assert str(raised.value).endswith(".")


def test_many_states_need_a_window_that_can_show_them():
    law = (0.125,) * 8
    eight = {
        "transmat": (law,) * 8,
        "means": tuple((i / 10, 0.0) for i in range(8)),
        "sigmas": (0.5,) * 8,
        "startprob": law,
    }

    assert replace(Experiment(), **eight, window=40).n_states == 8
    with pytest.raises(Invalid, match="at least 40"):
        replace(Experiment(), **eight, window=39)


@pytest.mark.parametrize(
    "query",
    [
        {"A": "x"},
        {"A": "1;1"},
        {"A": "0.5,0.5;1"},
        {"c": "0,0;2,0;0.5,0"},
        {"c": ""},
        {"sigma": "1,1"},
        {"sigma": "nan,1,1"},
        {"sigma": "inf,1,1"},
        {"pi": "1,2,3"},
        {"T": "12e3"},
        {"T": "99999999999999999999"},
        {"T": "1_000"},
        {"T": " 1000"},
        {"T": "１０００"},
        {"seed": "1_0"},
        {"sigma": "1_0e-1,1,1"},
        {"sigma": "1, 1,1"},
        {"seed": "-1"},
        {"delta": "200.5"},
        {"delta": "5001", "T": "100"},
        {"algorithm": "none"},
        {"update": "<script>"},
        {"memory": "200"},
        dict.fromkeys(("A", "c", "sigma", "pi", "T", "seed", "delta"), "�" * 5000),
    ],
)
def test_a_broken_link_opens_something_valid_and_says_so(query):
    experiment, problems = Experiment.from_query(query)

    assert experiment == Experiment()
    assert problems
    assert all(len(str(problem)) < 200 for problem in problems)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "A": st.sampled_from(["1", "0.5,0.5;0,1", "1,1;1,1", "x"]),
            "c": st.sampled_from(["0,0", "0,0;0.5,0", "0,0;2,0"]),
            "sigma": st.sampled_from(["1", "1,1", "-1,1"]),
            "pi": st.sampled_from(["1", "0,1", "nan"]),
            "T": st.sampled_from(["7", "500", "1000", "1e3"]),
            "seed": st.sampled_from(["5", "-5", "99999999999999999999"]),
            "delta": st.sampled_from(["3", "20", "60", "5000", "5001"]),
            "algorithm": st.sampled_from(["windowed", "none"]),
            "update": st.sampled_from(["convex", "none"]),
            "memory": st.sampled_from(["fixed", "none"]),
        },
    )
)
def test_whatever_the_link_what_it_opens_is_told_apart_from_what_it_asked(query):
    experiment, problems = Experiment.from_query(query)

    assert Experiment.from_query(experiment.to_query()) == (experiment, [])
    asked_and_shown = all(experiment.to_query()[key] == value for key, value in query.items())
    assert bool(problems) != asked_and_shown


def test_a_link_keeps_what_was_right_in_it():
    experiment, problems = Experiment.from_query({"seed": "7", "sigma": "nonsense"})

    assert experiment == replace(Experiment(), seed=7)
    assert [problem.field for problem in problems] == ["sigmas"]


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ({"T": "7"}, "length"),
        ({"delta": "5000"}, "window"),
        ({"algorithm": "none"}, "algorithms"),
        ({"algorithm": "windowed,none"}, "algorithms"),
        ({"sigma": "0,1,1"}, "sigmas"),
    ],
)
def test_each_part_of_a_link_is_judged_by_itself(bad, field):
    right = {"T": "1000", "seed": "7", "delta": "60", "algorithm": "windowed"}

    experiment, problems = Experiment.from_query(right | bad)

    rest = {key: value for key, value in right.items() if key not in bad}
    assert (experiment, []) == Experiment.from_query(rest)
    assert [problem.field for problem in problems] == [field]


def test_a_bad_truth_does_not_cost_the_rest_of_the_link():
    experiment, problems = Experiment.from_query({"seed": "7", "A": "1,0;0,1"})

    assert experiment == replace(Experiment(), seed=7)
    assert len(problems) == 1


def test_normalising_keeps_proportions():
    assert normalised((2.0, 1.0, 1.0)) == (0.5, 0.25, 0.25)
    assert normalised((None, -1.0, 3.0)) == (0.0, 0.0, 1.0)
    assert normalised((None, 0.0)) == (0.5, 0.5)


@given(st.lists(st.floats(0.0, 1e6), min_size=1, max_size=8))
def test_a_normalised_law_is_accepted(weights):
    law = normalised(weights)

    assert math.fsum(law) == pytest.approx(1.0, abs=1e-12)
    assert min(law) >= 0


def test_states_are_counted_from_one():
    assert indexed("c", 1) == "c₂"
    assert indexed("A", 0, 2) == "A₁₃"


@pytest.mark.parametrize(
    ("changes", "way"),
    [
        ({}, "windowed, paper's update, Δ=200; streaming, Δ=200"),
        (
            {"memory": "fixed"},
            "windowed, paper's update, Δ=200; streaming, fixed memory, Δ=200",
        ),
        (
            {"algorithms": ("windowed",), "transition_update": "convex", "window": 60},
            "windowed, convex update, Δ=60",
        ),
        ({"algorithms": ("auto",)}, "automatic memory"),
    ],
)
def test_one_line_says_what_is_on_screen(changes, way):
    assert replace(Experiment(), **changes).in_words() == (
        f"10,000 observations of a chain with 3 states, learned online ({way})."
    )


@pytest.mark.parametrize(
    ("changes", "variants", "options"),
    [
        ({}, ["paper", "streaming"], [("paper", 200), ("growing", 200)]),
        ({"memory": "fixed"}, ["paper", "fixed"], [("paper", 200), ("fixed", 200)]),
        (
            {"transition_update": "convex"},
            ["convex", "streaming"],
            [("convex", 200), ("growing", 200)],
        ),
        ({"algorithms": ("windowed",)}, ["paper"], [("paper", 200)]),
        (
            {"algorithms": ("auto",), "memory": "fixed", "transition_update": "convex"},
            ["auto"],
            [()],
        ),
    ],
)
def test_each_learner_gets_its_own_options_and_no_others(changes, variants, options):
    experiment = replace(Experiment(), **changes)

    assert [variant.key for variant in experiment.variants] == variants
    given = [tuple(experiment.options_of(key).values()) for key in experiment.algorithms]
    assert given == options


def test_the_effort_is_that_of_all_methods_together():
    one = Experiment(algorithms=("windowed",))
    both = Experiment(algorithms=("windowed", "streaming"))
    alone = Experiment(algorithms=("streaming",))
    baselines = sum(learner.effort(one.length, {}) for learner in BASELINES.values())

    assert one.effort == pytest.approx(9_800 * (3.0 + 0.1 * 200) + baselines)
    assert both.effort == pytest.approx(one.effort + alone.effort - baselines)


def test_more_states_and_slower_spaces_cost_more():
    two, plain = Experiment(**PRESETS["Two states"]), Experiment()
    matrices = Experiment(**SPACES["spd2"].truth)

    assert two.effort == plain.effort  # never less than estimated
    assert matrices.effort == pytest.approx(
        plain.effort * SPACES["spd2"].effort * matrices.n_states / 3
    )
