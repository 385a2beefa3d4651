"""What holds in every space that a visitor can choose."""

from dataclasses import replace

import numpy as np
import pytest

from dashboard.model import truth
from dashboard.model.experiment import Experiment, window_for
from dashboard.model.kinds import Invalid
from dashboard.model.model_checks import MOST_STATES
from dashboard.model.spaces.registry import DEFAULT, SPACES

MODELS = [
    pytest.param(space, model, id=f"{space.key}: {name}")
    for space in SPACES.values()
    for name, model in space.presets.items()
]
every_space = pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
every_model = pytest.mark.parametrize(("space", "model"), MODELS)


@every_model
def test_a_preset_is_an_experiment_whose_link_opens_it(space, model):
    experiment = Experiment(**model)

    assert experiment.truth == model
    assert Experiment.from_query(experiment.to_query()) == (experiment, [])
    assert ("space" in experiment.to_query()) == (space is not DEFAULT)


@every_space
def test_the_default_truth_opens_by_the_name_of_the_space_alone(space):
    experiment, problems = Experiment.from_query({"space": space.key, "T": "700"})

    assert problems == []
    assert experiment == Experiment(**space.truth, length=700)


@every_model
def test_points_come_back_from_what_is_typed(space, model):
    points = space.points(model["means"])

    assert points.shape == (len(model["means"]), *space.manifold.point_shape)
    assert space.manifold.belongs(points).all()
    np.testing.assert_array_equal(space.coords(points), model["means"])


@every_space
def test_no_points_have_the_shape_of_points(space):
    assert space.points([]).shape == (0, *space.manifold.point_shape)
    chart = space.chart_for(space.truth["means"], space.truth["sigmas"])
    assert chart.places(space.points([])).shape == (0, 2)


@every_space
@pytest.mark.parametrize("typed", [(), (0.5,), (None, 0.0, 0.5), ("0", 1, 1), (1e999,) * 3])
def test_what_is_no_point_is_refused_with_a_sentence(space, typed):
    with pytest.raises(Invalid, match=r"^c₁ .*\.$"):
        space.check(typed, "c₁")


@every_model
def test_a_drag_lands_where_it_was_dropped(space, model):
    chart = space.chart_for(model["means"], model["sigmas"])
    left, bottom, right, top = chart.extent
    for near in model["means"]:
        for u, v in [(0.3, -0.2), (0.2 * left, 0.3 * top), (0.4 * right, 0.1 * bottom)]:
            dropped = chart.from_map(u, v, near)
            assert space.check(dropped, "c") == dropped
            np.testing.assert_allclose(chart.places(space.points([dropped]))[0], (u, v), atol=1e-4)


@every_model
def test_a_mean_that_is_dropped_where_it_was_stays(space, model):
    chart = space.chart_for(model["means"], model["sigmas"])
    places = chart.places(space.points(model["means"]))
    for mean, (u, v) in zip(model["means"], places, strict=True):
        np.testing.assert_allclose(chart.from_map(u, v, mean), mean, rtol=1e-4, atol=1e-5)


@every_model
def test_means_are_on_the_map(space, model):
    chart = space.chart_for(model["means"], model["sigmas"])
    left, bottom, right, top = chart.extent
    x, y = chart.places(space.points(model["means"])).T
    assert ((left < x) & (x < right) & (bottom < y) & (y < top)).all()


@every_model
def test_a_mean_dragged_onto_the_outline_of_its_ball_is_sigma_away(space, model):
    chart, points = space.chart_for(model["means"], model["sigmas"]), space.points(model["means"])
    outlines = chart.outlines(points, np.array(model["sigmas"]))
    for mean, point, sigma, outline in zip(
        model["means"], points, model["sigmas"], outlines, strict=True
    ):
        ends = space.points([chart.from_map(u, v, mean) for u, v in outline[::6]])
        distances = space.manifold.dist(ends, np.broadcast_to(point, ends.shape))
        np.testing.assert_allclose(distances, sigma, rtol=1e-3)


@every_space
def test_a_new_state_can_be_added_up_to_the_most(space):
    now = Experiment(**space.truth)
    while now.n_states < MOST_STATES:
        more = truth.with_new_state(now.truth)
        now = replace(now, **more, window=window_for(len(more["means"]), now.window))
    assert now.space == space.key


@every_space
def test_what_is_half_typed_is_drawn_as_it_was(space):
    blank = (None,) * len(space.coordinates)
    typed = space.truth | {"means": (blank, *space.truth["means"][1:])}

    means, _ = truth.drawable(typed, space.truth)

    assert means == space.truth["means"]
    assert list(truth.problems(typed)) == ["means"]


@every_space
def test_what_is_half_typed_in_another_space_is_drawn_as_its_default(space):
    blank = (None,) * len(space.coordinates)
    typed = space.truth | {"means": (blank, *space.truth["means"][1:])}
    for other in SPACES.values():
        means, _ = truth.drawable(typed, other.truth)
        assert means == space.truth["means"]


@every_space
def test_the_table_of_states_has_a_column_for_each_coordinate(space):
    rows = truth.state_rows(space.truth)

    assert len(rows[0]) == len(truth.state_columns(space))
    assert truth.from_state_rows(rows)["means"] == space.truth["means"]


def test_a_link_to_an_unknown_space_opens_the_default_and_names_what_is_left_out():
    experiment, problems = Experiment.from_query({"space": "torus", "c": "1,2,3", "seed": "5"})

    assert experiment == Experiment(seed=5)
    assert [problem.field for problem in problems] == ["space", ""]
    assert str(problems[1]) == "So c cannot be used either: these go together."


def test_means_of_another_space_are_refused_and_the_default_of_this_one_is_shown():
    link = Experiment().to_query() | {"space": "spd2"}

    experiment, problems = Experiment.from_query(link)

    assert experiment.truth == SPACES["spd2"].truth
    assert [problem.field for problem in problems] == ["means", ""]
    assert str(problems[1]).startswith("So A and sigma cannot be used either")


def test_todays_links_name_no_space():
    assert list(Experiment().to_query()) == [
        "A", "c", "sigma", "pi", "T", "seed", "delta", "algorithm", "update", "memory",
    ]  # fmt: skip
    assert Experiment().to_query()["c"] == "0,0;0.29,0.82;-0.29,0.82"
