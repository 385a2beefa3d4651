"""Exact samplers: moments, distributions, directions, seeds."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import kstest, norm

from rhmm import SPD, Euclidean, Hyperbolic, LogEuclideanSPD
from rhmm.gaussian.hyperbolic import HyperbolicGaussian, width_near
from rhmm.validation import SMALLEST_MODERATE
from tests.in_time import printed_in_time
from tests.manifolds.cases import every_kind

COUNT = 40_000
BALL_CENTRE = np.array([0.5, -0.3, 0.4, 0.1, 0.2, -0.1])


def centre_of(manifold) -> np.ndarray:
    """A point that is not the origin."""
    n = manifold.size
    if len(manifold.point_shape) == 2:
        return np.diag(np.arange(1.0, n + 1)) + 0.4
    return BALL_CENTRE[:n]


def standard_errors(values: np.ndarray, expected: float) -> float:
    """By how many standard errors the mean of `values` misses what is expected."""
    return (values.mean() - expected) / (values.std() / np.sqrt(len(values)))


# Small and large σ use different envelopes; the switch lies in between.
SAMPLES = [
    (Euclidean(3), 2.0),
    (Hyperbolic(1), 1.0),
    *((Hyperbolic(2), sigma) for sigma in (0.05, 0.5, 1.0, 1.4, 3.0)),
    *((Hyperbolic(3), sigma) for sigma in (0.05, 0.5, 0.9, 1.5, 2.5)),
    *((Hyperbolic(6), sigma) for sigma in (0.2, 0.8)),
    (SPD(1), 1.0),
    *((SPD(2), sigma) for sigma in (0.05, 0.3, 1.0, 2.5)),
    *((SPD(3), sigma) for sigma in (0.05, 0.4, 0.8, 2.0)),
    *((SPD(5), sigma) for sigma in (0.1, 0.5, 1.0, 1.6)),
    *((LogEuclideanSPD(3), sigma) for sigma in (0.05, 1.0)),
]
every_sample = pytest.mark.parametrize(("manifold", "sigma"), SAMPLES, ids=repr)


@every_sample
def test_moments_of_the_squared_distance_are_within_4_standard_errors(manifold, sigma):
    centre = centre_of(manifold)
    d2 = manifold.dist(manifold.sample(centre, sigma, COUNT, rng=1), centre) ** 2
    delta = manifold.delta(sigma)
    assert abs(standard_errors(d2, delta)) < 4
    assert abs(standard_errors((d2 - delta) ** 2, manifold.var_d2(sigma))) < 4


# Distribution of the radius


def cumulative(density: np.ndarray, grid: np.ndarray):
    """The distribution function of a density known on a fine grid."""
    steps = 0.5 * (density[1:] + density[:-1]) * np.diff(grid)
    total = np.concatenate([[0.0], np.cumsum(steps)])
    return lambda x: np.interp(x, grid, total / total[-1])


@pytest.mark.parametrize("dim", [2, 3, 6])
@pytest.mark.parametrize("sigma", [0.05, 0.4, 0.8, 1.5])
def test_the_radius_on_hyperbolic_space_follows_its_density(dim, sigma):
    manifold = Hyperbolic(dim)
    centre = centre_of(manifold)
    radii = manifold.dist(manifold.sample(centre, sigma, COUNT, rng=2), centre)
    grid = np.linspace(0.0, (dim - 1) * sigma**2 + (8 + dim) * sigma, 20_001)
    density = np.sinh(grid) ** (dim - 1) * np.exp(-0.5 * (grid / sigma) ** 2)
    assert kstest(radii, cumulative(density, grid)).pvalue > 1e-3


def log_eigenvalues(manifold: SPD, sigma: float) -> np.ndarray:
    """Of c^{−½} y c^{−½}, ascending, for draws y around c."""
    centre = centre_of(manifold)
    draws = manifold.sample(centre, sigma, COUNT, rng=3)
    return np.linalg.eigvalsh(whitened_logs(centre, draws))


def whitened_logs(centre: np.ndarray, draws: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(centre)
    root = (vectors / np.sqrt(values)) @ vectors.T
    values, vectors = np.linalg.eigh(root @ draws @ root)
    return (vectors * np.log(values)[:, None, :]) @ np.swapaxes(vectors, 1, 2)


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("sigma", [0.1, 0.6, 1.5])
def test_the_log_determinant_is_normal_and_knows_nothing_of_the_shape(size, sigma):
    logs = log_eigenvalues(SPD(size), sigma)
    trace = logs.sum(axis=1) / (np.sqrt(size) * sigma)
    assert kstest(trace, norm.cdf).pvalue > 1e-3
    shape = logs[:, -1] - logs[:, 0]
    assert abs(standard_errors(trace * (shape - shape.mean()), 0.0)) < 4


@pytest.mark.parametrize("sigma", [0.05, 0.6, 1.0, 2.5])
def test_the_eigenvalue_gap_of_2x2_matrices_follows_its_density(sigma):
    logs = log_eigenvalues(SPD(2), sigma)
    grid = np.linspace(0.0, sigma**2 + 12 * sigma, 20_001)
    density = np.sinh(grid / 2) * np.exp(-0.25 * (grid / sigma) ** 2)
    assert kstest(logs[:, 1] - logs[:, 0], cumulative(density, grid)).pvalue > 1e-3


@pytest.mark.parametrize("sigma", [0.1, 0.6, 1.5])
def test_both_eigenvalue_gaps_of_3x3_matrices_follow_their_density(sigma):
    logs = log_eigenvalues(SPD(3), sigma)
    grid = np.linspace(0.0, sigma**2 + 9 * sigma, 2001)
    a, b = grid[:, None], grid[None, :]
    square = (a**2 + b**2 + (a + b) ** 2) / 3  # Σ (r_i − r̄)²
    density = np.sinh(a / 2) * np.sinh(b / 2) * np.sinh((a + b) / 2)
    density *= np.exp(-0.5 * square / sigma**2)
    marginal = cumulative(density.sum(axis=1), grid)  # the same for both gaps
    assert kstest(logs[:, 1] - logs[:, 0], marginal).pvalue > 1e-3
    assert kstest(logs[:, 2] - logs[:, 1], marginal).pvalue > 1e-3


# Direction


@pytest.mark.parametrize(
    ("manifold", "sigma"),
    [(Hyperbolic(2), 0.5), (Hyperbolic(2), 2.0), (Hyperbolic(3), 0.5), (Hyperbolic(3), 2.0)],
    ids=repr,
)
def test_all_directions_of_hyperbolic_space_are_alike(manifold, sigma):
    centre = centre_of(manifold)
    v = manifold.log(centre, manifold.sample(centre, sigma, COUNT, rng=4))
    v *= 2.0 / (1.0 - centre @ centre)  # in an orthonormal frame
    share = manifold.delta(sigma) / manifold.dim
    for i in range(manifold.dim):
        assert abs(standard_errors(v[:, i], 0.0)) < 4
        assert abs(standard_errors(v[:, i] ** 2, share)) < 4
        for j in range(i):
            assert abs(standard_errors(v[:, i] * v[:, j], 0.0)) < 4
    assert_uniform_on_the_sphere(v / np.linalg.norm(v, axis=1, keepdims=True))


def assert_uniform_on_the_sphere(u: np.ndarray):
    dim = u.shape[1]
    for i in range(dim):
        assert abs(standard_errors(u[:, i] ** 4, 3.0 / (dim * (dim + 2)))) < 4


@pytest.mark.parametrize("sigma", [0.1, 0.6, 1.5])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_all_frames_of_matrices_are_alike(size, sigma):
    centre = centre_of(SPD(size))
    logs = whitened_logs(centre, SPD(size).sample(centre, sigma, COUNT, rng=5))
    # E[S_ij S_kl] = a δ_ij δ_kl + b (δ_ik δ_jl + δ_il δ_jk), with E[tr²S] = mσ² and E[tr S²] = δ.
    trace2, total = size * sigma**2, SPD(size).delta(sigma)
    off_diagonal = (total - trace2 / size) / (size**2 + size - 2)
    diagonal = (trace2 - 2 * size * off_diagonal) / size**2 + 2 * off_diagonal
    for i in range(size):
        assert abs(standard_errors(logs[:, i, i], 0.0)) < 4
        assert abs(standard_errors(logs[:, i, i] ** 2, diagonal)) < 4
        for j in range(i):
            assert abs(standard_errors(logs[:, i, j], 0.0)) < 4
            assert abs(standard_errors(logs[:, i, j] ** 2, off_diagonal)) < 4
    assert_uniform_on_the_sphere(np.linalg.eigh(logs)[1][:, :, -1])


@every_kind
def test_the_mean_of_a_sample_is_near_its_centre(case):
    centre, sigma = case.some_points(1)[0], 0.5
    sample = case.manifold.sample(centre, sigma, COUNT, rng=6)
    off = case.manifold.dist(case.manifold.mean(sample), centre)
    assert off < 4 * np.sqrt(case.manifold.delta(sigma) / COUNT)


# Randomness


@every_kind
@pytest.mark.parametrize("sigma", [0.1, 2.0])
def test_a_seed_fixes_the_sample(case, sigma):
    (centre,) = case.some_points(1)
    draw = case.manifold.sample
    first = draw(centre, sigma, 50, rng=7)
    assert_array_equal(draw(centre, sigma, 50, rng=7), first)
    assert_array_equal(draw(centre, sigma, 50, rng=np.random.default_rng(7)), first)
    assert not np.array_equal(draw(centre, sigma, 50, rng=8), first)


@every_kind
def test_a_generator_moves_on(case):
    (centre,) = case.some_points(1)
    rng = np.random.default_rng(0)
    first, second = (case.manifold.sample(centre, 1.0, 5, rng=rng) for _ in range(2))
    assert not np.array_equal(first, second)


@every_kind
def test_the_global_random_state_is_left_alone(case):
    (centre,) = case.some_points(1)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    case.manifold.sample(centre, 1.0, 5)
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@every_kind
def test_samples_have_the_shape_that_was_asked_for(case):
    (centre,) = case.some_points(1)
    shape = case.manifold.point_shape
    assert case.manifold.sample(centre, 1.0).shape == shape
    for size in (0, 1, 7):
        sample = case.manifold.sample(centre, 1.0, size)
        assert sample.shape == (size, *shape)
        assert case.manifold.belongs(sample).all()


# Out of reach


def test_a_sample_beyond_the_last_usable_points_of_the_ball_is_refused():
    with pytest.raises(ValueError, match=r"sigma leads to points .* cannot hold"):
        Hyperbolic(10).sample(np.zeros(10), 4.0, 10, rng=0)


def test_a_sample_whose_matrices_double_precision_cannot_hold_is_refused():
    with pytest.raises(ValueError, match=r"sigma leads to points .* cannot hold"):
        SPD(5).sample(np.eye(5), 4.0, 10, rng=0)


def test_a_sample_that_would_take_forever_is_refused():
    with pytest.raises(ValueError, match=r"sigma=1 is out of reach of the exact sampler"):
        SPD(16).sample(np.eye(16), 1.0, rng=0)


def test_a_sample_around_a_point_near_the_boundary_keeps_its_distances():
    centre = np.array([1.0 - 1e-6, 0.0])
    d2 = Hyperbolic(2).dist(Hyperbolic(2).sample(centre, 0.5, COUNT, rng=9), centre) ** 2
    assert abs(standard_errors(d2, Hyperbolic(2).delta(0.5))) < 4


def test_a_sigma_at_which_no_envelope_accepts_a_draw_is_refused():
    with pytest.raises(ValueError, match=r"sigma=0\.04 is out of reach of the exact sampler on H"):
        width_near(HyperbolicGaussian(1000), 0.04)


@pytest.mark.parametrize("dim", [1, 2, 10, 100])
def test_a_sampler_is_found_for_every_sigma_that_hyperbolic_space_admits(dim):
    for sigma in np.geomspace(SMALLEST_MODERATE, Hyperbolic(dim).largest_sigma, 300):
        width_near(HyperbolicGaussian(dim), sigma)


# What is no number: `Manifold.sample` refuses it, and no loop may wait for it for ever

DRAWN = """
import numpy as np
from rhmm import SPD, Hyperbolic
nan, inf = np.nan, np.inf
for manifold in (Hyperbolic(1), Hyperbolic(3), SPD(1), SPD(3)):
    with np.errstate(all="ignore"):
        try:
            manifold.draw(np.random.default_rng(0), manifold.origin, {sigma}, 5)
        except ValueError as error:
            print(error)
"""


@pytest.mark.parametrize("sigma", ["nan", "inf"])
def test_a_draw_with_a_sigma_that_is_no_number_is_refused_in_time(sigma):
    lines = printed_in_time(DRAWN.format(sigma=sigma)).splitlines()
    assert len(lines) == 4
    assert all(f"sigma={sigma} is out of reach of the exact sampler" in line for line in lines)


KERNELS = """
import numpy as np
from rhmm.gaussian.hyperbolic import sample_radii
from rhmm.gaussian.spd import _sample_far, _sample_near
nan, inf = np.nan, np.inf
rng, radii, logs = np.random.default_rng(0), np.empty(5), np.empty((5, 3))
{call}
print(np.isfinite({found}).any())
"""


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("sample_radii(rng, 1, nan, nan, radii)", "radii"),
        ("sample_radii(rng, 1, inf, nan, radii)", "radii"),
        ("sample_radii(rng, 3, nan, nan, radii)", "radii"),
        ("_sample_far(rng, nan, logs)", "logs"),
        ("_sample_far(rng, inf, logs)", "logs"),
        ("_sample_near(rng, nan, 1.0, 0.0, 0.0, logs)", "logs"),
        ("_sample_near(rng, inf, 1.0, 0.0, 0.0, logs)", "logs"),
        ("_sample_near(rng, 1.0, 0.0, 0.0, 0.0, logs)", "logs"),
    ],
)
def test_the_loops_of_the_samplers_end_where_sigma_is_no_number(call, found):
    assert printed_in_time(KERNELS.format(call=call, found=found)) == "False"
