import pytest

from rhmm.sweeping import Configuration, grid, sweep
from tests.sweeping.tasks import TRUTH


def test_options_left_out_are_those_of_the_learner():
    assert Configuration("windowed") == Configuration(
        "windowed", length=10_000, window=200, transition_update="convex"
    )
    assert Configuration("streaming", window=60) == Configuration(
        "streaming", window=60, memory="growing", init="kmeans"
    )


def test_equal_configurations_are_one_key():
    assert len({Configuration("em", 500), Configuration("em", length=500)}) == 1
    assert Configuration("em", 500) != Configuration("em", 501)


def test_a_configuration_cannot_change():
    with pytest.raises(AttributeError):
        Configuration("em").length = 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "method must be one of"),
        ({"method": "em", "window": 20}, "window means nothing"),
        ({"method": "windowed", "memory": "fixed"}, "memory means nothing"),
        ({"method": "streaming", "transition_update": "paper"}, "transition_update means nothing"),
        ({"method": "streaming", "memory": "long"}, "memory must be one of"),
        ({"method": "streaming", "init": "warm"}, "init must be one of"),
        ({"method": "windowed", "transition_update": "clip"}, "transition_update must be one of"),
        ({"method": "windowed", "window": 1}, "window must be at least 2"),
        ({"method": "windowed", "window": "all"}, "window must be a whole number"),
        ({"method": "windowed", "window": 500, "length": 499}, "window must be at most length=499"),
        ({"method": "streaming", "window": 500, "length": 499}, "window must be at most length"),
        ({"method": "em", "length": 0}, "length must be at least 1"),
    ],
)
def test_a_wrong_option_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        Configuration(**options)


def test_a_grid_is_every_combination_that_means_something():
    combinations = grid(
        ["windowed", "streaming", "em"],
        [20, 60],
        transition_updates=["paper", "convex"],
        memories=["growing", "fixed"],
        inits=["kmeans", "cold"],
    )
    assert len(combinations) == len(set(combinations)) == 2 * 2 + 2 * 2 * 2 + 1
    assert len({c.name for c in combinations}) == len(combinations)
    assert len({c.family for c in combinations}) == 2 + 4 + 1


@pytest.mark.parametrize(
    ("configurations", "message"),
    [
        ([], "grid must hold at least one"),
        (["em"], "grid must hold Configurations"),
        ([Configuration("windowed", window=2)], "window must be at least the 3 states"),
        ([Configuration("em", length=2)], "length must be at least 3"),
        ([Configuration("streaming", 29, 20, init="cold")], "length must be at least 30"),
        ([{"method": "em"}], "grid must hold Configurations"),
        (Configuration("em"), "grid must be a list of Configurations"),
    ],
)
def test_a_grid_that_cannot_be_swept_is_refused_before_anything_runs(configurations, message):
    with pytest.raises(ValueError, match=message):
        sweep(TRUTH, configurations, 1)


@pytest.mark.parametrize(
    ("several", "name"),
    [((["em"], 200), "windows"), (("em",), "methods"), ((3,), "methods")],
)
def test_a_grid_is_made_of_lists(several, name):
    with pytest.raises(ValueError, match=f"{name} must be a list"):
        grid(*several)


def test_a_cold_start_asks_for_no_window():
    assert len(sweep(TRUTH, [Configuration("streaming", 100, init="cold")], 1)) == 1


def test_the_slowest_row_of_the_paper_is_expected_to_be_the_slowest():
    windows = [40, 200, 1000, 5000]
    efforts = [c.effort for c in grid(["ceiling", "streaming", "windowed"], windows)]
    assert max(efforts) == Configuration("windowed", window=5000).effort
    assert efforts[-4:] == sorted(efforts[-4:])
