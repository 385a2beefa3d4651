"""Wrong input gives a ValueError whose sentence names the argument."""

import numpy as np
import pytest

from rhmm import SPD, Euclidean, Hyperbolic, LogEuclideanSPD
from tests.manifolds.cases import every_kind


def refused(naming: str):
    """Raises a ValueError in which `naming` is a word of its own."""
    return pytest.raises(ValueError, match=rf"\b{naming}\b")


@pytest.mark.parametrize(
    ("kind", "name"),
    [(Euclidean, "dim"), (Hyperbolic, "dim"), (SPD, "size"), (LogEuclideanSPD, "size")],
)
@pytest.mark.parametrize("value", [0, -1, 2.5, 2.0, "2", None, True, np.nan])
def test_a_manifold_needs_a_whole_positive_size(kind, name, value):
    with refused(name):
        kind(value)


@every_kind
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_entries_that_are_not_finite_are_refused(case, bad):
    manifold = case.manifold
    x, y = case.some_points(2)
    y.flat[0] = bad
    assert not manifold.belongs(y)
    with refused("x"):
        manifold.dist(y, x)
    with refused("y"):
        manifold.dist(x, y)
    with refused("y"):
        manifold.log(x, y)
    with refused("z"):
        manifold.geodesic(x, y, 0.5)
    with refused("v"):
        manifold.exp(x, y)
    with refused("v"):
        manifold.norm(x, y)
    with refused("x"):
        manifold.norm(y, x)
    with refused("x"):
        manifold.project(y)
    with refused("points"):
        manifold.mean([x, y])
    with refused("centre"):
        manifold.sample(y, 1.0)


@every_kind
def test_the_sentence_tells_which_point_of_a_batch_is_wrong(case):
    points = case.some_points(4)
    points[2] = np.nan
    with pytest.raises(ValueError, match=r"points\[2\] is not a point of"):
        case.manifold.mean(points)
    with pytest.raises(ValueError, match=r"y\[1, 0\] is not a point of"):
        case.manifold.dist(points[0], points.reshape(2, 2, *case.manifold.point_shape))


@every_kind
@pytest.mark.parametrize(
    "value", [1.0, np.ones(7), np.ones((2, 7)), "point", None, [[1.0, 2.0], [3.0]], [{}]]
)
def test_arrays_of_a_wrong_shape_or_kind_are_refused(case, value):
    x, _ = case.some_points(2)
    with refused("y"):
        case.manifold.dist(x, value)
    with refused("v"):
        case.manifold.exp(x, value)


@pytest.mark.parametrize(
    "manifold", [Euclidean(2), Hyperbolic(3), SPD(2), LogEuclideanSPD(2)], ids=repr
)
def test_complex_numbers_are_refused_except_on_the_disk(manifold):
    with refused("y"):
        manifold.dist(np.eye(manifold.size) * 0.5, np.eye(manifold.size) * 0.5j)


@every_kind
def test_batches_that_do_not_fit_together_are_refused(case):
    two, three = case.some_points(2), case.some_points(3)
    with refused("y"):
        case.manifold.dist(two, three)
    with refused("y"):
        case.manifold.log(two, three)
    with refused("v"):
        case.manifold.exp(two, three)
    with refused("tau"):
        case.manifold.geodesic(two, two, [0.1, 0.2, 0.3])


@every_kind
@pytest.mark.parametrize("tau", [np.nan, np.inf, [0.5, np.nan], "half", None, 0.5j])
def test_tau_must_be_a_finite_number(case, tau):
    x, z = case.some_points(2)
    with refused("tau"):
        case.manifold.geodesic(x, z, tau)


@every_kind
@pytest.mark.parametrize(
    "weights",
    [
        [1.0],
        [[1.0, 1.0]],
        [1.0, -1.0],
        [0.0, 0.0],
        [np.nan, 1.0],
        [np.inf, 1.0],
        ["a", "b"],
        [1j, 1.0],
        2.0,
    ],
)
def test_weights_must_be_one_finite_number_a_point_with_a_positive_sum(case, weights):
    with refused("weights"):
        case.manifold.mean(case.some_points(2), weights)


@every_kind
def test_a_mean_needs_a_batch_of_points(case):
    points = case.some_points(2)
    for wrong in (points[0], points[None], points[:0]):
        with refused("points"):
            case.manifold.mean(wrong)


@every_kind
@pytest.mark.parametrize("sigma", [0.0, -1.0, np.nan, np.inf, "wide", None, 1j])
def test_sigma_and_delta_must_be_positive_numbers(case, sigma):
    manifold = case.manifold
    for function in (manifold.log_z, manifold.delta, manifold.var_d2):
        with refused("sigma"):
            function(sigma)
    with refused("delta"):
        manifold.sigma(sigma)
    with refused("sigma"):
        manifold.sample(case.some_points(1)[0], sigma)


@every_kind
@pytest.mark.parametrize("sigma", [1e-300, 1e300])
def test_a_sigma_whose_powers_leave_double_precision_is_refused(case, sigma):
    with refused("sigma"):
        case.manifold.var_d2(sigma)
    with refused("sigma"):
        case.manifold.sample(case.some_points(1)[0], sigma, rng=0)


@pytest.mark.parametrize("manifold", [Hyperbolic(2), Hyperbolic(10), SPD(2)], ids=repr)
def test_a_sigma_beyond_all_distances_of_a_curved_space_is_refused(manifold):
    largest = manifold.largest_sigma
    assert manifold.sigma(manifold.delta(largest)) == pytest.approx(largest)
    with pytest.raises(ValueError, match=r"^sigma must be between 1e-60 and 1e\+06, not 1e\+20"):
        manifold.log_z(1e20)
    with pytest.raises(ValueError, match=r"^delta must be between .* on"):
        manifold.sigma(1e50)


@every_kind
@pytest.mark.parametrize("weight", [1e300, 1e308, 5e-324])
def test_only_ratios_of_weights_matter_at_the_ends_of_double_precision(case, weight):
    points = case.some_points(3)
    mean = case.manifold.mean(points, [weight, weight, 0.0])
    np.testing.assert_allclose(mean, case.manifold.mean(points, [1, 1, 0]), rtol=1e-9, atol=1e-12)


def masked(x) -> np.ma.MaskedArray:
    return np.ma.array(x, mask=np.arange(np.size(x)).reshape(np.shape(x)) == 0)


@every_kind
def test_masked_entries_are_refused_where_nothing_may_be_missing(case):
    manifold = case.manifold
    x, y = case.some_points(2)
    for use, name in (
        (lambda: manifold.dist(x, masked(y)), "y"),
        (lambda: manifold.exp(x, masked(y)), "v"),
        (lambda: manifold.mean(masked([x, y])), "points"),
        (lambda: manifold.mean([x, y], masked([1.0, 1.0])), "weights"),
        (lambda: manifold.geodesic(x, y, masked([0.5, 0.5])), "tau"),
        (lambda: manifold.log_z(masked([0.5, 0.5])), "sigma"),
    ):
        with pytest.raises(ValueError, match=rf"^{name} must not have masked entries"):
            use()
    plain = np.ma.array(y)  # nothing in it is masked
    assert manifold.dist(x, plain) == manifold.dist(x, y)


def test_masked_complex_numbers_are_refused_too():
    with refused("y"):
        Hyperbolic(2).dist(0.0j, masked(np.array([0.5j, 0.1j])))


@every_kind
def test_a_masked_entry_makes_an_observation_missing(case):
    X = case.some_points(4)
    mask = np.zeros(X.shape, bool)
    mask[1].flat[0] = True
    hidden = np.ma.array(X, mask=mask)
    found, observed = case.manifold.observations("X", hidden)
    assert type(found) is np.ndarray
    assert observed.tolist() == [True, False, True, True]
    np.testing.assert_array_equal(found[observed], X[[0, 2, 3]])


def test_masked_whole_and_complex_numbers_are_missing_too():
    whole = np.ma.array([[1], [2]], mask=[[True], [False]])
    assert Euclidean(1).observations("X", whole)[1].tolist() == [False, True]
    disk = np.ma.array([0.5j, 0.1], mask=[True, False])
    assert Hyperbolic(2).observations("X", disk)[1].tolist() == [False, True]


@every_kind
def test_a_sample_has_one_sigma(case):
    with refused("sigma"):
        case.manifold.sample(case.some_points(1)[0], [1.0, 2.0])


@every_kind
@pytest.mark.parametrize("size", [-1, 2.5, "many", (2, 3), True])
def test_the_size_of_a_sample_is_a_whole_number(case, size):
    with refused("size"):
        case.manifold.sample(case.some_points(1)[0], 1.0, size)


@every_kind
@pytest.mark.parametrize("rng", ["seed", -1, 0.5])
def test_randomness_is_a_generator_or_a_seed(case, rng):
    with refused("rng"):
        case.manifold.sample(case.some_points(1)[0], 1.0, rng=rng)


@every_kind
def test_the_centre_of_a_sample_is_one_point(case):
    with refused("centre"):
        case.manifold.sample(case.some_points(2), 1.0)


@pytest.mark.parametrize("norm", [1.0, 1.0 - 1e-16, 1.5, 1e200])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_points_on_or_outside_the_boundary_of_the_ball_are_refused(dim, norm):
    outside = np.zeros(dim)
    outside[-1] = -norm
    assert not Hyperbolic(dim).belongs(outside)
    with pytest.raises(ValueError, match=r"y is not a point .*: its norm is .* below 1"):
        Hyperbolic(dim).dist(np.zeros(dim), outside)


@pytest.mark.parametrize(
    "matrix",
    [
        [[1.0, 2.0], [2.0, 1.0]],
        [[-1.0, 0.0], [0.0, -1.0]],
        [[0.0, 0.0], [0.0, 0.0]],
        [[1.0, 1.0], [1.0, 1.0]],
        [[1.0, 1.0], [1.0, 1.0 + 2.0**-52]],
    ],
    ids=["indefinite", "negative", "zero", "singular", "singular but for rounding"],
)
def test_matrices_that_are_not_positive_definite_are_refused(matrix):
    assert not SPD(2).belongs(matrix)
    with pytest.raises(ValueError, match=r"y is not a point .*: its smallest eigenvalue is .*"):
        SPD(2).dist(np.eye(2), matrix)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_asymmetric_matrices_are_refused_whatever_is_beside_them(scale):
    lopsided = np.array([[2.0, 0.5], [0.4, 1.0]])
    batch = np.stack([scale * np.eye(2), lopsided])
    assert SPD(2).belongs(batch).tolist() == [True, False]
    with pytest.raises(ValueError, match=r"\by\b.* symmetric"):
        SPD(2).dist(np.eye(2), batch)
    with pytest.raises(ValueError, match=r"\bv\b.* symmetric"):
        SPD(2).exp(np.eye(2), batch)


def test_asymmetry_of_rounding_is_forgiven():
    nearly = np.array([[2.0, 0.5], [0.5 + 1e-15, 1.0]])
    assert SPD(2).belongs(nearly)
    assert SPD(2).dist(nearly, [[2.0, 0.5], [0.5, 1.0]]) < 1e-14


@pytest.mark.parametrize("step", [1e3, 1e10, 1e300])
@pytest.mark.parametrize("manifold", [Hyperbolic(2), SPD(2), LogEuclideanSPD(2)], ids=repr)
def test_a_step_beyond_double_precision_is_refused(manifold, step):
    origin = np.zeros(2) if isinstance(manifold, Hyperbolic) else np.eye(2)
    v = np.full(manifold.point_shape, step)
    with refused("v"):
        manifold.exp(origin, v)
    with refused("tau"):
        manifold.geodesic(origin, manifold.exp(origin, v / step / 4), step)


@pytest.mark.parametrize("manifold", [SPD(1), SPD(2), LogEuclideanSPD(2)], ids=repr)
def test_matrices_too_small_for_their_digits_are_refused(manifold):
    x = 1e-310 * np.eye(manifold.size)
    with pytest.raises(ValueError, match="its largest entry must be at least 1e-300"):
        manifold.points("x", x)
    assert manifold.belongs(1e-299 * np.eye(manifold.size))
