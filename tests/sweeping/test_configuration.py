"""What a sweep varies, and the grids that are made of it."""

import pytest

from rhmm.learners.registry import LEARNERS
from rhmm.sweeping import Configuration, grid, sweep
from tests.sweeping.tasks import TRUTH


def test_options_left_out_are_those_of_the_learner():
    assert Configuration("windowed") == Configuration(
        "windowed", length=10_000, window=200, transition_update="convex"
    )
    assert Configuration("streaming", window=60) == Configuration(
        "streaming", window=60, memory="growing", init="kmeans"
    )


def test_equal_configurations_are_the_same_key_of_a_dictionary():
    assert len({Configuration("em", 500), Configuration("em", length=500)}) == 1
    assert Configuration("em", 500) != Configuration("em", 501)


def test_a_configuration_cannot_change():
    with pytest.raises(AttributeError):
        Configuration("em").length = 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": "magic"}, "learner must be one of 'windowed', .*, not 'magic'"),
        ({"learner": ["em"]}, "learner must be one of"),
        ({"learner": "em", "window": 20}, "window means nothing to learner='em'"),
        ({"learner": "windowed", "memory": "fixed"}, "memory means nothing"),
        ({"learner": "streaming", "transition_update": "paper"}, "transition_update means nothing"),
        ({"learner": "streaming", "memory": "long"}, "memory must be one of"),
        ({"learner": "streaming", "init": "warm"}, "init must be one of"),
        ({"learner": "windowed", "transition_update": "clip"}, "transition_update must be one of"),
        ({"learner": "windowed", "window": 1}, "window must be at least 2"),
        ({"learner": "windowed", "window": "all"}, "window must be a whole number"),
        (
            {"learner": "windowed", "window": 500, "length": 499},
            "length must be at least 500 for windowed, convex update, Δ=500 with one state",
        ),
        (
            {"learner": "streaming", "window": 500, "length": 499},
            "length must be at least 500 for streaming, Δ=500 with one state, not 499",
        ),
        ({"learner": "auto", "length": 49}, "length must be at least 50 for automatic memory"),
        ({"learner": "streaming", "length": 29, "init": "cold"}, "length must be at least 30"),
        ({"learner": "em", "length": 0}, "length must be at least 1"),
    ],
)
def test_a_wrong_option_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        Configuration(**options)


def test_an_option_of_none_has_its_default():
    assert Configuration("windowed", window=None) == Configuration("windowed", window=200)


def test_a_configuration_gives_its_learner_and_its_options():
    configuration = Configuration("streaming", 500, window=60)
    assert configuration.entry is LEARNERS["streaming"]
    assert configuration.settings == {
        "init": "kmeans",
        "memory": "growing",
        "window": 60,
        "emission": "riemannian",
    }
    assert configuration.window == 60
    assert Configuration("auto").window is None


def test_changed_gives_another_configuration_and_leaves_the_first():
    first = Configuration("streaming", 500, window=60)
    changed = first.changed(length=800, memory="fixed")
    assert changed == Configuration("streaming", 800, window=60, memory="fixed")
    assert first == Configuration("streaming", 500, window=60)


@pytest.mark.parametrize(
    ("configuration", "name"),
    [
        (Configuration("windowed", window=40), "windowed, convex update, Δ=40"),
        (Configuration("windowed", transition_update="paper"), "windowed, paper's update, Δ=200"),
        (Configuration("streaming"), "streaming, Δ=200"),
        (
            Configuration("streaming", init="cold", memory="fixed"),
            "streaming, cold start, fixed memory, Δ=200",
        ),
        (Configuration("auto"), "automatic memory"),
        (Configuration("auto", init="cold"), "automatic memory, cold start"),
        (Configuration("kmeans"), "K-means"),
        (Configuration("em"), "EM"),
        (Configuration("ceiling"), "true parameters (the ceiling)"),
    ],
)
def test_its_name_says_everything_but_the_length(configuration, name):
    assert configuration.name == name


def test_a_grid_is_every_combination_that_means_something():
    combinations = grid(
        ["windowed", "streaming", "em"],
        window=[20, 60],
        transition_update=["paper", "convex"],
        memory=["growing", "fixed"],
        init=["kmeans", "cold"],
    )
    assert len(combinations) == len(set(combinations)) == 2 * 2 + 2 * 2 * 2 + 1
    assert len({c.name for c in combinations}) == len(combinations)
    assert len({c.family for c in combinations}) == 2 + 4 + 1


@pytest.mark.parametrize(
    ("configurations", "message"),
    [
        ([], "grid must hold at least one"),
        (["em"], "grid must hold Configurations"),
        ([Configuration("windowed", window=2)], "window must be at least n_components=3"),
        ([Configuration("em", length=2)], "length must be at least 3"),
        ([Configuration("auto", 50)], "at least 60 for automatic memory with 3 states, not 50"),
        ([{"learner": "em"}], "grid must hold Configurations"),
        (Configuration("em"), "grid must be a list of Configurations"),
    ],
)
def test_a_grid_that_cannot_be_swept_is_refused_before_anything_runs(configurations, message):
    with pytest.raises(ValueError, match=message):
        sweep(TRUTH, configurations, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"learners": ["windowed"], "window": 200}, "window must be a list, not 200"),
        ({"learners": ["windowed"], "window": "200"}, "window must be a list"),
        ({"learners": "em"}, "learners must be a list"),
        ({"learners": 3}, "learners must be a list"),
        ({"learners": ["em"], "windows": [20]}, "windows is not an option of any learner"),
        ({"learners": ["magic"]}, "learner must be one of"),
    ],
)
def test_a_wrong_argument_of_a_grid_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        grid(**arguments)


def test_options_that_a_grid_leaves_out_have_their_defaults():
    assert grid(["windowed", "em"], length=500) == [
        Configuration("windowed", 500),
        Configuration("em", 500),
    ]


def test_a_chain_shorter_than_the_window_is_enough_for_a_cold_start():
    assert len(sweep(TRUTH, [Configuration("streaming", 100, init="cold")], 1)) == 1


def test_the_slowest_row_of_the_paper_is_expected_to_be_the_slowest():
    windows = [40, 200, 1000, 5000]
    efforts = [c.effort for c in grid(["ceiling", "streaming", "windowed"], window=windows)]
    assert max(efforts) == Configuration("windowed", window=5000).effort
    assert efforts[-4:] == sorted(efforts[-4:])


def test_a_family_is_named_by_all_but_the_window_wherever_that_stands():
    shaped = Configuration("streaming", 500, window=60, emission="tied", init="cold")
    assert shaped.name == "streaming, cold start, Δ=60, tied"
    assert shaped.family_name == "streaming, cold start, tied"
    assert Configuration("em", 500).family_name == "EM"
