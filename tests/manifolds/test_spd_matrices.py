"""Logarithms and exponentials of SPD matrices, against fifty digits."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from rhmm.manifolds.blocks import LANES
from rhmm.manifolds.spd_matrices import exp_matrices, log_matrices, travel
from tests.manifolds.exact import DIGITS
from tests.manifolds.test_spd import dense, graded, well_conditioned


def exact_log(x: np.ndarray) -> np.ndarray:
    """From the very numbers that the floats stand for."""
    with mpmath.workdps(DIGITS):
        values, vectors = mpmath.eigsy(mpmath.matrix(x.tolist()))
        log_x = vectors * mpmath.diag([mpmath.log(v) for v in values]) * vectors.T
        return np.array(log_x.tolist(), dtype=float)


@pytest.mark.parametrize("size", [1, 2, 3, 8])
@pytest.mark.parametrize("scale", [1e-150, 1e-12, 1.0, 1e12, 1e150])
def test_logarithms_keep_their_digits_whatever_the_unit(size, scale):
    points = scale * well_conditioned(np.random.default_rng(size), size, 5)
    expected = np.stack([exact_log(x) for x in points])
    within = 1e-13 * np.abs(expected).max()
    assert_allclose(log_matrices(points), expected, rtol=0.0, atol=within)


@pytest.mark.parametrize("size", [2, 3, 6])
@pytest.mark.parametrize("make", [dense, graded], ids=["dense", "graded"])
def test_logarithms_of_ill_conditioned_matrices_keep_their_digits(make, size):
    x = make(np.random.default_rng(size), size)
    assert_allclose(log_matrices(x[None])[0], exact_log(x), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("count", [0, 1, LANES - 1, LANES, LANES + 1, 3 * LANES + 5])
def test_a_batch_of_logarithms_is_its_logarithms(count):
    points = well_conditioned(np.random.default_rng(0), 3, count)
    if count > 2:
        points[1] = dense(np.random.default_rng(1), 3)  # it must not spoil its neighbours
    alone = [log_matrices(x[None])[0] for x in points]
    assert_allclose(log_matrices(points), np.reshape(alone, points.shape), rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_exponential_undoes_the_logarithm(size):
    points = well_conditioned(np.random.default_rng(size), size, 40)
    assert_allclose(exp_matrices(log_matrices(points)), points, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("size", [1, 2, 8])
@pytest.mark.parametrize("length", [0.0, 1e-9, 0.2, 0.3, 3.0])
def test_steps_short_and_long_end_where_the_exponential_leads(size, length):
    rng = np.random.default_rng(size)
    x, step = well_conditioned(rng, size, 1)[0], rng.normal(size=(size, size))
    lower, step = np.linalg.cholesky(x), step + step.T
    step *= length / np.linalg.norm(step)
    with mpmath.workdps(DIGITS):
        factor = mpmath.matrix(lower.tolist())
        end = factor * mpmath.expm(mpmath.matrix(step.tolist())) * factor.T
        expected = np.array(end.tolist(), dtype=float)
    out = np.empty((size, size))
    travel(x, lower, step, out)
    assert_allclose(out, expected, rtol=0.0, atol=1e-14 * np.abs(expected).max())
