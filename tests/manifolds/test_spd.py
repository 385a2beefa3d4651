"""SPD matrices: reference values, pyriemann, ill-conditioned and nearly equal matrices, means."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pyriemann.geometry.distance import distance_riemann
from pyriemann.geometry.mean import mean_riemann
from scipy.linalg import eigh

from rhmm import SPD
from tests.in_time import printed_in_time
from tests.manifolds.cases import make_symmetric, random_rotation
from tests.manifolds.exact import spd_distance, spd_midpoint

REFERENCE = json.loads((Path(__file__).parents[1] / "reference.json").read_text())
CONE = REFERENCE["geometry"]["SPD"]


def numbers(strings) -> np.ndarray:
    return np.array(strings, dtype=float)


def well_conditioned(rng: np.random.Generator, size: int, count: int) -> np.ndarray:
    g = rng.normal(size=(count, size, 2 * size))
    return make_symmetric(g @ np.swapaxes(g, 1, 2)) / size


def dense(rng: np.random.Generator, size: int, condition: float = 1e12) -> np.ndarray:
    """Eigenvalues from condition^−½ to condition^½ in a random frame."""
    half = np.log10(condition) / 2
    frame = random_rotation(rng, size)
    return make_symmetric((frame * np.logspace(-half, half, size)) @ frame.T)


def graded(rng: np.random.Generator, size: int) -> np.ndarray:
    """A well-conditioned matrix seen in units that differ by 10⁶."""
    units = np.logspace(-3, 3, size)
    return make_symmetric(units[:, None] * well_conditioned(rng, size, 1)[0] * units)


# Reference values and peers


@pytest.mark.parametrize("entry", CONE["distance"])
def test_distances_agree_with_the_reference(entry):
    distance = SPD(2).dist(numbers(entry["A"]), numbers(entry["B"]))
    assert distance == pytest.approx(float(entry["d"]), rel=1e-12)


@pytest.mark.parametrize("entry", CONE["geodesic"])
def test_geodesics_agree_with_the_reference(entry):
    point = SPD(2).geodesic(numbers(entry["A"]), numbers(entry["B"]), float(entry["tau"]))
    assert_allclose(point, numbers(entry["point"]), rtol=1e-12)


@pytest.mark.parametrize("entry", CONE["frechet_mean"])
def test_means_agree_with_the_reference(entry):
    mean = SPD(2).mean(numbers(entry["points"]), numbers(entry["weights"]))
    assert_allclose(mean, numbers(entry["mean"]), atol=1e-8)


@pytest.mark.parametrize("size", [2, 3, 8, 20])
def test_distances_agree_with_pyriemann(size):
    x, y = np.split(well_conditioned(np.random.default_rng(size), size, 100), 2)
    assert_allclose(SPD(size).dist(x, y), distance_riemann(x, y), rtol=1e-10)
    assert_allclose(SPD(size).dist(x, y[0]), distance_riemann(x, y[0]), rtol=1e-10)


@pytest.mark.parametrize("size", [2, 3, 8, 20])
def test_weighted_means_agree_with_pyriemann(size):
    rng = np.random.default_rng(size)
    points, weights = well_conditioned(rng, size, 50), rng.uniform(0.1, 1.0, 50)
    expected = mean_riemann(points, sample_weight=weights, tol=1e-12, maxiter=500)
    assert SPD(size).dist(SPD(size).mean(points, weights), expected) < 1e-8


# Geometry that only matrices have


@given(seed=st.integers(0, 100))
def test_inversion_is_an_isometry(seed):
    x, y = well_conditioned(np.random.default_rng(seed), 3, 2)
    inverse_x, inverse_y = (make_symmetric(np.linalg.inv(a)) for a in (x, y))
    assert SPD(3).dist(inverse_x, inverse_y) == pytest.approx(SPD(3).dist(x, y), rel=1e-10)


@pytest.mark.parametrize("scale", [1e-150, 1e-10, 1e10, 1e150])
def test_the_unit_of_measurement_does_not_matter(scale):
    x, y = well_conditioned(np.random.default_rng(0), 3, 2)
    assert SPD(3).dist(scale * x, scale * y) == pytest.approx(SPD(3).dist(x, y), rel=1e-12)
    assert_allclose(SPD(3).mean([scale * x, scale * y]), scale * SPD(3).mean([x, y]), rtol=1e-8)


@given(st.floats(-30.0, 30.0), st.floats(-30.0, 30.0))
def test_positive_numbers_are_a_line(a, b):
    line = SPD(1)
    x, y = np.exp([[a]]), np.exp([[b]])
    assert line.dist(x, y) == pytest.approx(abs(a - b), rel=1e-12, abs=1e-13)
    assert line.dist(line.mean([x, y]), np.exp([[(a + b) / 2]])) < 1e-8


def test_commuting_matrices_are_flat():
    logs = np.random.default_rng(0).normal(size=(6, 4))
    points = np.stack([np.diag(np.exp(row)) for row in logs])
    assert_allclose(SPD(4).dist(points[0], points), np.linalg.norm(logs - logs[0], axis=1))
    assert_allclose(SPD(4).mean(points), np.diag(np.exp(logs.mean(axis=0))), atol=1e-8)


def test_the_tangent_norm_is_the_affine_invariant_one():
    rng = np.random.default_rng(0)
    x = well_conditioned(rng, 4, 1)[0]
    v = make_symmetric(rng.normal(size=(4, 4)))
    values = eigh(v, x, eigvals_only=True)
    assert SPD(4).norm(x, v) == pytest.approx(np.linalg.norm(values), rel=1e-12)


def test_large_matrices_work_too():
    x, y = well_conditioned(np.random.default_rng(0), 50, 2)
    exact = np.linalg.norm(np.log(eigh(y, x, eigvals_only=True)))
    assert SPD(50).dist(x, y) == pytest.approx(exact, rel=1e-10)
    middle = SPD(50).geodesic(x, y, 0.5)
    assert SPD(50).dist(x, middle) == pytest.approx(exact / 2, rel=1e-10)


# Ill-conditioned matrices


def pairs_of_condition_1e12(size: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(size)
    identity, ordinary = np.eye(size), well_conditioned(rng, size, 1)[0]
    diagonal = np.diag(np.logspace(-6, 6, size))
    tilted, steep = dense(rng, size), graded(rng, size)
    lower = np.linalg.cholesky(tilted)
    return {
        "diagonal, identity": (diagonal, identity),
        "diagonal, diagonal": (diagonal, diagonal * rng.uniform(0.5, 2.0, size)),
        "graded, identity": (steep, identity),
        "graded, graded": (steep, graded(rng, size)),
        "graded up, graded down": (steep, steep[::-1, ::-1]),
        "dense, identity": (tilted, identity),
        "dense, ordinary": (tilted, ordinary),
        "dense, another dense": (tilted, dense(rng, size)),
        "dense, its double": (tilted, 2.0 * tilted),
        "dense, its neighbour": (tilted, make_symmetric(lower @ ordinary @ lower.T)),
    }


PAIRS = [
    pytest.param(*pair, id=f"{name}, {size}x{size}")
    for size in (2, 3, 6)
    for name, pair in pairs_of_condition_1e12(size).items()
]


@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_distances_of_ill_conditioned_matrices_keep_their_digits(x, y):
    manifold, exact = SPD(len(x)), spd_distance(x, y)
    assert manifold.dist(x, y) == pytest.approx(exact, rel=1e-10)
    assert manifold.dist(y, x) == pytest.approx(exact, rel=1e-10)
    assert_allclose(manifold.dist([x, y], [y, x]), [exact, exact], rtol=1e-10)


# The entries of a dense matrix of condition 10¹² are rounded at 10⁻¹⁶: as a point it is known to
# about 10⁻⁴, and so are a geodesic or a logarithm that such matrices hold.
KNOWN_TO = 1e-3


@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_geodesics_of_ill_conditioned_matrices_stay_on_course(x, y):
    manifold, distance = SPD(len(x)), spd_distance(x, y)
    assert spd_distance(manifold.geodesic(x, y, 0.0), x) < KNOWN_TO
    assert spd_distance(manifold.geodesic(x, y, 1.0), y) < KNOWN_TO
    middle = manifold.geodesic(x, y, 0.5)
    assert spd_distance(x, middle) == pytest.approx(distance / 2, abs=KNOWN_TO)
    assert spd_distance(middle, y) == pytest.approx(distance / 2, abs=KNOWN_TO)


@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_logarithms_of_ill_conditioned_matrices_are_as_long_as_the_distance(x, y):
    manifold = SPD(len(x))
    length = manifold.norm(x, manifold.log(x, y))
    assert length == pytest.approx(spd_distance(x, y), rel=KNOWN_TO)


@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_the_mean_of_two_ill_conditioned_matrices_is_halfway(x, y):
    # The mean is a point like any other: known to about 10⁻¹⁶ times its own condition.
    exact = spd_midpoint(x, y)
    error = spd_distance(SPD(len(x)).mean([x, y]), exact)
    assert error < 1e-8 + 1e-15 * np.linalg.cond(exact)


@pytest.mark.parametrize("condition", [1e3, 1e6, 1e8, 1e10])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_mean_of_two_matrices_is_halfway_whatever_their_condition(size, condition):
    rng = np.random.default_rng(1)
    for _ in range(10):
        x, y = dense(rng, size, condition), well_conditioned(rng, size, 1)[0]
        assert spd_distance(SPD(size).mean([x, y]), spd_midpoint(x, y)) < 1e-8


@pytest.mark.parametrize("size", [2, 3, 6])
@pytest.mark.parametrize("separation", [1e-13, 1e-11, 1e-8])
@pytest.mark.parametrize("margin", [1.0, 1e-3, 1e-5])
def test_distances_of_nearly_equal_matrices_keep_their_digits(size, separation, margin):
    rng = np.random.default_rng(size)
    x = dense(rng, size, 1.0 / margin)
    change = make_symmetric(rng.normal(size=(size, size)))
    y = make_symmetric(x + separation * np.linalg.norm(x) * change)
    exact = spd_distance(x, y)
    assert SPD(size).dist(x, y) == pytest.approx(exact, rel=1e-9)
    assert_allclose(SPD(size).dist([x, y], [y, x]), exact, rtol=1e-9)


@pytest.mark.parametrize("size", [2, 3, 6])
def test_graded_matrices_that_nearly_agree_keep_their_digits(size):
    rng = np.random.default_rng(size)
    x = graded(rng, size)
    y = x * make_symmetric(1.0 + 1e-11 * rng.normal(size=(size, size)))
    exact = spd_distance(x, y)
    assert SPD(size).dist(x, y) == pytest.approx(exact, rel=1e-9)
    assert_allclose(SPD(size).dist([x, y], [y, x]), exact, rtol=1e-9)


def test_one_ill_conditioned_matrix_does_not_spoil_its_batch():
    rng = np.random.default_rng(0)
    points = well_conditioned(rng, 3, 100)
    alone = SPD(3).dist(points, np.eye(3))
    points[50] = dense(rng, 3)
    together = SPD(3).dist(points, np.eye(3))
    others = np.arange(100) != 50
    assert_allclose(together[others], alone[others], rtol=1e-12)
    assert together[50] == pytest.approx(spd_distance(points[50], np.eye(3)), rel=1e-10)


# Points


@pytest.mark.parametrize("size", [2, 3, 6])
def test_project_raises_negative_eigenvalues_and_keeps_the_others(size):
    rng = np.random.default_rng(size)
    values = np.linspace(-1.0, 2.0, size)
    frame = random_rotation(rng, size)
    projected = SPD(size).project((frame * values) @ frame.T)
    assert SPD(size).belongs(projected)
    expected = (frame * np.maximum(values, 2e-12)) @ frame.T
    assert_allclose(projected, expected, atol=1e-14)


def test_project_symmetrises():
    projected = SPD(2).project([[2.0, 1.0], [0.0, 2.0]])
    assert_allclose(projected, [[2.0, 0.5], [0.5, 2.0]])


# Means of wide and anisotropic clouds


def force_at(manifold: SPD, mean: np.ndarray, points: np.ndarray) -> float:
    return float(manifold.norm(mean, manifold.log(mean, points).mean(axis=0)))


def unit_steps(manifold: SPD, points, start, count: int) -> list[float]:
    """The textbook iteration c ← exp_c(mean of log_c y); the lengths of its steps."""
    lengths = []
    for _ in range(count):
        step = manifold.log(start, points).mean(axis=0)
        lengths.append(float(manifold.norm(start, step)))
        start = manifold.exp(start, step)
    return lengths


def stretched(rng: np.random.Generator, size: int, count: int, scale: float) -> np.ndarray:
    """A cloud that is `scale` long in one direction and 0.1 wide in the others."""
    logs = make_symmetric(rng.normal(0.0, 0.1, (count, size, size)))
    logs[:, 0, 0] += scale * rng.normal(size=count)
    logs[:, -1, -1] -= scale * rng.normal(size=count)
    values, vectors = np.linalg.eigh(logs)
    return make_symmetric((vectors * np.exp(values)[:, None, :]) @ np.swapaxes(vectors, 1, 2))


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("scale", [1.0, 2.0, 4.0])
def test_means_of_anisotropic_clouds_converge(size, scale):
    points = stretched(np.random.default_rng(0), size, 100, scale)
    assert force_at(SPD(size), SPD(size).mean(points), points) < 1e-8


def test_points_of_negligible_weight_change_no_digit_of_a_mean():
    rng = np.random.default_rng(0)
    near, far = well_conditioned(rng, 4, 40), 1e3 * well_conditioned(rng, 4, 40)
    weights = np.concatenate([rng.random(40), np.full(40, 1e-25)])
    mean = SPD(4).mean(np.concatenate([near, far]), weights)
    assert_allclose(mean, SPD(4).mean(near, weights[:40]), rtol=1e-13)


def test_the_mean_is_found_where_unit_steps_diverge():
    points = stretched(np.random.default_rng(0), 2, 100, 4.0)
    mean = SPD(2).mean(points)
    assert min(unit_steps(SPD(2), points, 1.01 * mean + 0.01 * np.eye(2), 200)[100:]) > 1.0


@pytest.mark.parametrize(("size", "sigma"), [(2, 2.0), (3, 1.5), (5, 1.0), (8, 0.7)])
def test_means_of_wide_gaussian_clouds_converge(size, sigma):
    manifold = SPD(size)
    points = manifold.sample(np.eye(size), sigma, 300, rng=0)
    assert force_at(manifold, manifold.mean(points), points) < 1e-8


@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_search_for_the_mean_of_a_gaussian_cloud_takes_a_dozen_steps(size):
    points = SPD(size).sample(np.eye(size), 1.0, 400, rng=0)
    start = points.mean(axis=0)[None]
    _, _, converged = SPD(size).recentre(points, np.ones((1, 400)), start, most_steps=12)
    assert converged


@pytest.mark.parametrize("tiny", [1e-320, 1e-310, 1e-300, 1e-20])
def test_an_indefinite_matrix_with_a_tiny_diagonal_entry_does_not_belong(tiny):
    x = np.array([[tiny, 0.5], [0.5, 1.7]])
    assert not SPD(2).belongs(x)
    with pytest.raises(ValueError, match="smallest eigenvalue"):
        SPD(2).points("x", x)
    assert SPD(2).belongs(np.diag([tiny, 1.7]))


SEARCHED = """
import numpy as np
from rhmm import SPD
points = np.stack([np.eye(3), 2.0 * np.eye(3), {bad}])
centres, _, converged = SPD(3).recentre(points, np.ones((1, 3)), points[:1], most_steps=2**40)
print(converged, (centres == points[:1]).all())
"""


@pytest.mark.parametrize("bad", ["2.0 - np.eye(3)", "-np.eye(3)", "np.zeros((3, 3))"])
def test_the_search_for_a_mean_gives_up_at_once_on_a_matrix_that_is_not_positive(bad):
    assert printed_in_time(SEARCHED.format(bad=bad)) == "False True"
