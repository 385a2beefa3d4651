"""What every manifold promises, checked on all of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from rhmm import SPD, Euclidean, Hyperbolic, LogEuclideanSPD, Manifold
from tests.manifolds.cases import every_manifold

ROUNDING = {"rel": 1e-11, "abs": 1e-12}

few_examples = settings(max_examples=30)  # of each of many manifolds


def assert_same_points(manifold: Manifold, x, y, within: float = 1e-11):
    assert np.max(manifold.dist(x, y)) < within


# Distances


@every_manifold
@few_examples
@given(data=st.data())
def test_distance_is_symmetric_and_never_negative(case, data):
    x, y = data.draw(case.points(2))
    distance = case.manifold.dist(x, y)
    assert distance >= 0.0
    assert distance == pytest.approx(case.manifold.dist(y, x), **ROUNDING)


@every_manifold
@few_examples
@given(data=st.data())
def test_distance_to_itself_is_exactly_zero(case, data):
    (x,) = data.draw(case.points(1))
    assert case.manifold.dist(x, x) == 0.0


@every_manifold
def test_distinct_points_are_apart(case):
    x, y = case.some_points(2)
    assert case.manifold.dist(x, y) > 0.1


@every_manifold
@few_examples
@given(data=st.data())
def test_a_detour_is_never_shorter(case, data):
    x, y, z = data.draw(case.points(3))
    dist = case.manifold.dist
    assert dist(x, z) <= dist(x, y) + dist(y, z) + 1e-12


@every_manifold
@few_examples
@given(data=st.data())
def test_isometries_keep_distances(case, data):
    points = data.draw(case.points(2))
    x, y = points
    moved_x, moved_y = data.draw(case.isometries())(points)
    moved_distance = case.manifold.dist(moved_x, moved_y)
    assert moved_distance == pytest.approx(case.manifold.dist(x, y), abs=1e-11)


# Geodesics, exp and log


@every_manifold
@few_examples
@given(data=st.data())
def test_a_geodesic_starts_and_ends_where_it_should(case, data):
    x, z = data.draw(case.points(2))
    assert_same_points(case.manifold, case.manifold.geodesic(x, z, [0.0, 1.0]), np.stack([x, z]))


@every_manifold
@few_examples
@given(data=st.data(), tau=st.floats(-0.5, 1.5), later=st.floats(-0.5, 1.5))
def test_a_geodesic_has_constant_speed(case, data, tau, later):
    x, z = data.draw(case.points(2))
    first, second = case.manifold.geodesic(x, z, [tau, later])
    travelled = abs(later - tau) * case.manifold.dist(x, z)
    assert case.manifold.dist(first, second) == pytest.approx(travelled, abs=1e-11)


@every_manifold
@few_examples
@given(data=st.data(), tau=st.floats(-0.5, 1.5))
def test_a_geodesic_is_the_same_walked_backwards(case, data, tau):
    x, z = data.draw(case.points(2))
    there, back = case.manifold.geodesic(x, z, tau), case.manifold.geodesic(z, x, 1.0 - tau)
    assert_same_points(case.manifold, there, back)


@every_manifold
@few_examples
@given(data=st.data(), tau=st.floats(0.0, 1.0))
def test_isometries_map_geodesics_to_geodesics(case, data, tau):
    points, isometry = data.draw(case.points(2)), data.draw(case.isometries())
    x, z = points
    moved_x, moved_z = isometry(points)
    between = case.manifold.geodesic(x, z, tau)
    assert_same_points(
        case.manifold, isometry(between), case.manifold.geodesic(moved_x, moved_z, tau), 1e-10
    )


@every_manifold
@few_examples
@given(data=st.data())
def test_exp_undoes_log(case, data):
    x, y = data.draw(case.points(2))
    assert_same_points(case.manifold, case.manifold.exp(x, case.manifold.log(x, y)), y)


@every_manifold
@few_examples
@given(data=st.data())
def test_log_undoes_exp(case, data):
    x, y = data.draw(case.points(2))
    v = case.manifold.log(x, y) * data.draw(st.floats(-1.0, 1.0))
    back = case.manifold.log(x, case.manifold.exp(x, v))
    assert case.manifold.norm(x, back - v) < 1e-11


@every_manifold
@few_examples
@given(data=st.data())
def test_the_logarithm_is_as_long_as_the_distance(case, data):
    x, y = data.draw(case.points(2))
    v = case.manifold.log(x, y)
    assert case.manifold.norm(x, v) == pytest.approx(case.manifold.dist(x, y), **ROUNDING)


@every_manifold
@few_examples
@given(data=st.data(), tau=st.floats(-1.0, 1.0))
def test_a_geodesic_follows_the_logarithm(case, data, tau):
    x, z = data.draw(case.points(2))
    along = case.manifold.exp(x, tau * case.manifold.log(x, z))
    assert_same_points(case.manifold, along, case.manifold.geodesic(x, z, tau))


@every_manifold
def test_the_norm_is_that_of_a_vector_space(case):
    x, y, z = case.some_points(3)
    u, v = case.manifold.log(x, y), case.manifold.log(x, z)
    norm = case.manifold.norm
    assert norm(x, -2.5 * u) == pytest.approx(2.5 * norm(x, u), rel=1e-12)
    parallelogram = norm(x, u + v) ** 2 + norm(x, u - v) ** 2
    assert parallelogram == pytest.approx(2 * norm(x, u) ** 2 + 2 * norm(x, v) ** 2, rel=1e-12)


# Centres of mass


@every_manifold
@few_examples
@given(data=st.data())
def test_forces_balance_at_the_mean(case, data):
    points = data.draw(case.points(5))
    weights = np.array(data.draw(st.lists(st.floats(0.01, 1.0), min_size=5, max_size=5)))
    mean = case.manifold.mean(points, weights)
    force = np.tensordot(weights, case.manifold.log(mean, points), axes=1) / weights.sum()
    assert case.manifold.norm(mean, force) < 1e-8


@every_manifold
def test_no_other_point_has_a_smaller_sum_of_squares(case):
    points = case.some_points(7)
    weights = np.linspace(0.5, 2.0, 7)
    mean = case.manifold.mean(points, weights)
    least = weights @ case.manifold.dist(points, mean) ** 2
    for other in case.manifold.geodesic(mean, case.some_points(20, seed=1), 0.1):
        assert weights @ case.manifold.dist(points, other) ** 2 > least


@every_manifold
@few_examples
@given(data=st.data())
def test_the_mean_of_two_points_lies_on_their_geodesic(case, data):
    x, z = data.draw(case.points(2))
    weight = data.draw(st.floats(0.0, 1.0))
    mean = case.manifold.mean([x, z], [1.0 - weight, weight])
    assert_same_points(case.manifold, mean, case.manifold.geodesic(x, z, weight), 1e-8)


@every_manifold
@few_examples
@given(data=st.data())
def test_isometries_move_the_mean_along(case, data):
    points, isometry = data.draw(case.points(4)), data.draw(case.isometries())
    moved = isometry(case.manifold.mean(points))
    assert_same_points(case.manifold, moved, case.manifold.mean(isometry(points)), 1e-8)


@every_manifold
@pytest.mark.parametrize("scale", [1e-100, 1e-3, 1e3, 1e100])
def test_only_ratios_of_weights_matter(case, scale):
    points, weights = case.some_points(6), np.arange(1.0, 7.0)
    mean = case.manifold.mean(points, weights)
    assert_same_points(case.manifold, case.manifold.mean(points, scale * weights), mean, 1e-8)


@every_manifold
def test_a_whole_weight_is_a_repeated_point_and_zero_a_missing_one(case):
    x, y, z = case.some_points(3)
    weighted = case.manifold.mean([x, y, z], [3, 2, 0])
    assert_same_points(case.manifold, weighted, case.manifold.mean([x, x, x, y, y]), 1e-8)


@every_manifold
@pytest.mark.parametrize("count", [1, 3])
def test_equal_points_are_their_own_mean(case, count):
    (x,) = case.some_points(1)
    assert_same_points(case.manifold, case.manifold.mean([x] * count), x, 1e-14)


@every_manifold
def test_the_order_of_the_points_does_not_matter(case):
    points = case.some_points(50)
    forwards, backwards = case.manifold.mean(points), case.manifold.mean(points[::-1])
    assert_same_points(case.manifold, forwards, backwards, 1e-8)


# Batches


def one_by_one(function, *arrays):
    """`function` of each tuple of single points, over arrays already of equal leading shape."""
    return np.array([function(*rows) for rows in zip(*arrays, strict=True)])


@every_manifold
@pytest.mark.parametrize("verb", ["dist", "log"])
def test_a_batch_is_its_points(case, verb):
    x, y = case.some_points(70, seed=1), case.some_points(70, seed=2)
    verb = getattr(case.manifold, verb)
    assert_allclose(verb(x, y), one_by_one(verb, x, y), rtol=1e-11, atol=1e-13)


@every_manifold
def test_a_batch_of_steps_is_its_steps(case):
    x, y = case.some_points(70, seed=1), case.some_points(70, seed=2)
    tau = np.linspace(0.0, 1.0, 70)
    manifold = case.manifold
    v = manifold.log(x, y)
    assert_allclose(manifold.exp(x, v), one_by_one(manifold.exp, x, v), atol=1e-13)
    assert_allclose(manifold.norm(x, v), one_by_one(manifold.norm, x, v), rtol=1e-13)
    geodesics = one_by_one(manifold.geodesic, x, y, tau)
    assert_allclose(manifold.geodesic(x, y, tau), geodesics, atol=1e-13)


@every_manifold
def test_leading_axes_broadcast(case):
    manifold, shape = case.manifold, case.manifold.point_shape
    x = case.some_points(3).reshape(3, 1, *shape)
    y = case.some_points(4, seed=1)
    table = manifold.dist(x, y)
    assert table.shape == (3, 4)
    assert table[2, 1] == pytest.approx(manifold.dist(x[2, 0], y[1]), rel=1e-12)
    assert manifold.log(x, y).shape == (3, 4, *shape)
    assert manifold.exp(x, manifold.log(x, y)).shape == (3, 4, *shape)
    assert manifold.norm(x, manifold.log(x, y)).shape == (3, 4)
    assert manifold.belongs(x).shape == (3, 1)
    assert manifold.project(x).shape == (3, 1, *shape)
    tau = np.linspace(0.0, 1.0, 5).reshape(5, 1, 1)
    walk = manifold.geodesic(x, y, tau)
    assert walk.shape == (5, 3, 4, *shape)
    assert_allclose(walk[3, 2, 1], manifold.geodesic(x[2, 0], y[1], tau[3, 0, 0]), atol=1e-13)


@every_manifold
def test_one_point_against_many_works_both_ways(case):
    points = case.some_points(40)
    expected = np.array([case.manifold.dist(points[0], y) for y in points])
    assert_allclose(case.manifold.dist(points[0], points), expected, atol=1e-12)
    assert_allclose(case.manifold.dist(points, points[0]), expected, atol=1e-12)


@every_manifold
def test_single_points_give_scalars(case):
    x, y = case.some_points(2)
    assert np.ndim(case.manifold.dist(x, y)) == 0
    assert np.ndim(case.manifold.norm(x, case.manifold.log(x, y))) == 0
    assert case.manifold.log(x, y).shape == case.manifold.point_shape


@every_manifold
def test_an_empty_batch_gives_an_empty_result(case):
    manifold, shape = case.manifold, case.manifold.point_shape
    (x,) = case.some_points(1)
    nothing = np.empty((0, *shape))
    assert manifold.dist(nothing, x).shape == manifold.dist(x, nothing).shape == (0,)
    assert manifold.dist(nothing, nothing).shape == (0,)
    assert manifold.log(x, nothing).shape == (0, *shape)
    assert manifold.exp(x, nothing).shape == (0, *shape)
    assert manifold.geodesic(nothing, x, 0.5).shape == (0, *shape)
    assert manifold.norm(x, nothing).shape == (0,)
    assert manifold.belongs(nothing).shape == (0,)
    assert manifold.project(nothing).shape == (0, *shape)


@every_manifold
def test_lists_and_any_memory_layout_are_accepted(case):
    x, y = case.some_points(30), case.some_points(30, seed=1)
    expected = case.manifold.dist(x, y)
    assert_array_equal(case.manifold.dist(x.tolist(), y.tolist()), expected)
    assert_array_equal(case.manifold.dist(np.asfortranarray(x), y), expected)
    assert_array_equal(case.manifold.dist(x[::2], y[::2]), expected[::2])
    x.flags.writeable = y.flags.writeable = False
    assert_array_equal(case.manifold.dist(x, y), expected)
    assert_array_equal(case.manifold.mean(x), case.manifold.mean(x.copy()))


@every_manifold
def test_arguments_are_never_written_to(case):
    manifold = case.manifold
    x, y = case.some_points(5), case.some_points(5, seed=1)
    weights, tau = np.ones(5), np.full(5, 0.3)
    v = manifold.log(x, y)
    arrays = (x, y, v, weights, tau)
    before = [array.copy() for array in arrays]
    manifold.dist(x, y)
    manifold.geodesic(x, y, tau)
    manifold.exp(x, v)
    manifold.norm(x, v)
    manifold.mean(x, weights)
    manifold.recentre(x, weights[None], y[:1])
    manifold.project(x)
    manifold.sample(x[0], 0.5, 3, rng=0)
    for array, copy in zip(arrays, before, strict=True):
        assert_array_equal(array, copy)


# Points


@every_manifold
@few_examples
@given(data=st.data())
def test_project_leaves_points_alone(case, data):
    points = data.draw(case.points(3))
    assert case.manifold.belongs(points).all()
    assert_array_equal(case.manifold.project(points), points)


@every_manifold
@few_examples
@given(data=st.data())
def test_whatever_is_projected_belongs(case, data):
    manifold = case.manifold
    scale = data.draw(st.sampled_from([1e-150, 1e-12, 1.0, 1e12, 1e150]))
    entries = st.lists(st.floats(-1.0, 1.0), min_size=manifold.size**2, max_size=manifold.size**2)
    anything = scale * np.resize(data.draw(entries), manifold.point_shape)
    projected = manifold.project(anything)
    assert manifold.belongs(projected)
    assert_array_equal(manifold.project(projected), projected)


# What people see


@every_manifold
def test_manifolds_of_one_kind_and_size_are_equal(case):
    manifold = case.manifold
    assert repr(manifold) == f"{manifold.name}({manifold.size})"
    again = type(manifold)(manifold.size)
    assert again == manifold
    assert hash(again) == hash(manifold)
    assert manifold != type(manifold)(manifold.size + 1)


def test_manifolds_of_equal_size_but_different_kind_differ():
    assert len({kind(2) for kind in (Euclidean, Hyperbolic, SPD, LogEuclideanSPD)}) == 4


def test_dimensions_are_those_of_the_space():
    assert (Euclidean(4).dim, Euclidean(4).size) == (4, 4)
    assert (Hyperbolic(3).dim, Hyperbolic(3).point_shape) == (3, (3,))
    assert (SPD(4).dim, SPD(4).point_shape) == (10, (4, 4))
    assert (LogEuclideanSPD(4).dim, LogEuclideanSPD(4).point_shape) == (10, (4, 4))
