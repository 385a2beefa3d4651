"""Small symmetric matrices side by side: the eigenvalues of each, whatever its neighbours."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rhmm.manifolds.blocks import (
    diagonalise,
    eigen_logs,
    find_eigensystems,
    find_eigenvalues,
    load,
    whiten,
    whiten_alike,
)
from tests.manifolds.cases import make_symmetric


def block_of(matrices: np.ndarray) -> np.ndarray:
    block = np.empty((*matrices.shape[1:], len(matrices)))
    load(matrices, 0, block)
    return block


def random_matrices(size: int, count: int = 20) -> np.ndarray:
    return make_symmetric(np.random.default_rng(size).normal(size=(count, size, size)))


def test_a_block_holds_the_matrices_side_by_side():
    matrices = random_matrices(3, 10)
    block = np.empty((3, 3, 4))
    load(matrices, 5, block)
    assert_allclose(np.moveaxis(block, -1, 0), matrices[5:9])


@pytest.mark.parametrize("size", [1, 2, 3, 8, 20])
def test_eigenvalues_agree_with_lapack(size):
    matrices = random_matrices(size)
    block = block_of(matrices)
    diagonalise(block, block, False, 1e-28)
    values = np.sort(np.einsum("iib->bi", block), axis=1)
    assert_allclose(values, np.linalg.eigvalsh(matrices), atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3, 8, 20])
def test_eigenvectors_rebuild_the_matrices(size):
    matrices = random_matrices(size)
    block, rows = block_of(matrices), np.empty((size, size, len(matrices)))
    diagonalise(block, rows, True, 1e-28)
    values, rows = np.einsum("iib->bi", block), np.moveaxis(rows, -1, 0)
    assert_allclose(rows @ np.swapaxes(rows, 1, 2), np.tile(np.eye(size), (20, 1, 1)), atol=1e-13)
    assert_allclose(np.swapaxes(rows, 1, 2) * values[:, None] @ rows, matrices, atol=1e-12)


@pytest.mark.parametrize("size", [3, 5])
def test_no_digit_depends_on_the_neighbours(size):
    matrices = random_matrices(size, 64) ** 3  # some take more rotations than others
    block, rows = block_of(matrices), np.empty((size, size, 64))
    diagonalise(block, rows, True, 1e-17)
    for lane in range(64):
        alone, its_rows = block_of(matrices[lane : lane + 1]), np.empty((size, size, 1))
        diagonalise(alone, its_rows, True, 1e-17)
        assert_array_equal(alone[..., 0].diagonal(), block[..., lane].diagonal())
        assert_array_equal(its_rows[..., 0], rows[..., lane])


def hard_matrices(size: int) -> np.ndarray:
    """Matrices that fall apart, with zeros on the diagonal, with equal or graded eigenvalues, and
    of any scale."""
    rng = np.random.default_rng(size)
    path = np.eye(size, k=1) + np.eye(size, k=-1)
    parted = path.copy()
    parted[size // 2], parted[:, size // 2] = 0.0, 0.0
    graded = np.diag(10.0 ** -np.arange(size))
    frames = np.linalg.qr(rng.normal(size=(20, size, size)))[0]
    repeated = make_symmetric((frames * rng.integers(0, 3, (20, 1, size))) @ frames.swapaxes(1, 2))
    sparse = make_symmetric(
        rng.normal(size=(40, size, size)) * (rng.random((40, size, size)) < 0.3)
    )
    graphs = make_symmetric(rng.integers(0, 2, (40, size, size)).astype(float))
    fixed = [np.zeros((size, size)), np.eye(size), np.ones((size, size)), path, path @ path, parted]
    scales = 10.0 ** rng.uniform(-100.0, 100.0, (20, 1, 1))
    return np.concatenate(
        [fixed, [graded], repeated, sparse, graphs, scales * random_matrices(size)]
    )


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 20])
def test_eigenvalues_alone_are_exact_relative_to_the_largest_whatever_the_neighbours(size):
    matrices = hard_matrices(size)
    block = block_of(matrices)
    find_eigenvalues(block)
    values, exact = np.einsum("iib->bi", block), np.linalg.eigvalsh(matrices)
    errors = np.abs(np.sort(values, axis=1) - exact).max(axis=1)
    assert (errors <= 2e-14 * np.abs(exact).max(axis=1)).all()
    for lane in range(0, len(matrices), 7):
        alone = block_of(matrices[lane : lane + 1])
        find_eigenvalues(alone)
        assert_array_equal(alone[..., 0].diagonal(), values[lane])


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 20])
def test_eigensystems_rebuild_hard_matrices_whatever_the_neighbours(size):
    matrices = hard_matrices(size)
    block, rows = block_of(matrices), np.empty((size, size, len(matrices)))
    find_eigensystems(block, rows)
    values, frames = np.einsum("iib->bi", block), np.moveaxis(rows, -1, 0)
    assert_allclose(
        frames @ frames.swapaxes(1, 2), np.tile(np.eye(size), (len(frames), 1, 1)), atol=1e-13
    )
    rebuilt = frames.swapaxes(1, 2) * values[:, None] @ frames
    errors = np.abs(rebuilt - matrices).max(axis=(1, 2))
    assert (errors <= 4e-14 * np.abs(matrices).max(axis=(1, 2))).all()
    for lane in range(0, len(matrices), 7):
        alone, its_rows = block_of(matrices[lane : lane + 1]), np.empty((size, size, 1))
        find_eigensystems(alone, its_rows)
        assert_array_equal(alone[..., 0].diagonal(), values[lane])
        assert_array_equal(its_rows[..., 0], rows[..., lane])


@pytest.mark.parametrize("size", [4, 8])
def test_entries_whose_squares_are_hardly_numbers_turn_nothing(size):
    exponents = np.arange(-165, -125)
    matrices = np.ones((len(exponents), size, size)) * 10.0 ** exponents[:, None, None]
    matrices[:, 0, 1] = matrices[:, 1, 0] = 1.0
    block, rows = block_of(matrices), np.empty((size, size, len(matrices)))
    find_eigensystems(block, rows)
    values, rows = np.einsum("iib->bi", block), np.moveaxis(rows, -1, 0)
    assert_allclose(rows @ np.swapaxes(rows, 1, 2), [np.eye(size)] * len(rows), atol=1e-13)
    assert_allclose(np.swapaxes(rows, 1, 2) * values[:, None] @ rows, matrices, atol=1e-13)


def test_one_factor_for_all_whitens_to_the_digits_of_many():
    rng = np.random.default_rng(0)
    lower, matrices = np.tril(rng.uniform(0.5, 1.5, (5, 5))), random_matrices(5)
    block, beside = block_of(matrices), block_of(matrices)
    whiten_alike(lower, block)
    whiten(np.repeat(lower[..., None], 20, axis=2), beside)
    assert_array_equal(block, beside)
    expected = np.linalg.solve(lower, np.linalg.solve(lower, matrices).swapaxes(1, 2))
    assert_allclose(np.moveaxis(block, -1, 0), expected, rtol=1e-11, atol=1e-11)


def test_zero_diagonal_and_repeated_matrices_are_no_trouble():
    matrices = np.stack([np.zeros((3, 3)), np.eye(3), np.diag([1.0, 2.0, 3.0]), np.ones((3, 3))])
    block = block_of(matrices)
    diagonalise(block, block, False, 1e-28)
    values = np.sort(np.einsum("iib->bi", block), axis=1)
    assert_allclose(values, [[0, 0, 0], [1, 1, 1], [1, 2, 3], [0, 0, 3]], atol=1e-13)


def test_logarithms_are_those_of_one_plus_the_eigenvalues():
    excess = np.array([[1e-14, -1e-12], [0.5, -0.5], [3.0, 1.0]])
    block = block_of(np.stack([np.diag(row) for row in excess]))
    logs, trusted = np.empty((2, 3)), np.empty(3, bool)
    eigen_logs(block, logs, trusted)
    assert_allclose(logs.T, np.log1p(excess), rtol=1e-14)
    assert trusted.all()


def test_a_wide_spread_of_eigenvalues_is_not_trusted():
    block = block_of(np.stack([np.diag([1e9, -0.5]), np.diag([1.0, -1.0 + 1e-9]), np.eye(2)]))
    logs, trusted = np.empty((2, 3)), np.empty(3, bool)
    eigen_logs(block, logs, trusted)
    assert trusted.tolist() == [False, False, True]
