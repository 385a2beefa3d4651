"""Normal coordinates of symmetric positive definite matrices with the affine-invariant metric.

The geodesic from I to c carries a symmetric matrix V to c^½ V c^½. So the coordinates of y at c are
the entries of log(c^−½ y c^−½).
"""

import math

import numpy as np

from rhmm._jit import copy_into, kernel
from rhmm.manifolds import blocks
from rhmm.manifolds.careful import careful_logs, cholesky
from rhmm.vector_math import exp

_SMALL = 1e-100
"""A product below this goes into the logarithm before the next row of pairs is multiplied in."""


def as_vectors(matrices: np.ndarray) -> np.ndarray:
    """Coordinates (T, m(m+1)/2) of symmetric matrices (T, m, m); lengths are Frobenius norms."""
    rows, columns = np.triu_indices(matrices.shape[-1])
    return matrices[:, rows, columns] * _scales(rows, columns)


def as_matrices(vectors: np.ndarray, size: int) -> np.ndarray:
    """The symmetric matrices (T, m, m) with these coordinates, the inverse of `as_vectors`."""
    rows, columns = np.triu_indices(size)
    matrices = np.empty((len(vectors), size, size))
    matrices[:, rows, columns] = vectors / _scales(rows, columns)
    matrices[:, columns, rows] = matrices[:, rows, columns]
    return matrices


def _scales(rows, columns) -> np.ndarray:
    return np.where(rows == columns, 1.0, math.sqrt(2.0))


@kernel
def polar(centre):
    """c^½ and the rotation Q with L = c^½ Q, where L is the Cholesky factor of c; both (m, m).

    The singular values of L keep the digits that eigenvalues of c lose where units differ.
    """
    lower = np.zeros(centre.shape)
    cholesky(centre, lower)
    left, values, right = np.linalg.svd(lower)
    left, right = np.ascontiguousarray(left), np.ascontiguousarray(right)
    return (left * values) @ left.T, left @ right


@kernel
def turn_between(start, end, turn):
    """What U ↦ O U Oᵀ does to coordinates, as a matrix (D, D), where O = end^−½ (end start⁻¹)^½
    start^½ is the rotation by which the geodesic between two matrices turns their frames.

    O is the orthogonal factor of end^−½ start^½. With the factors L = c^½ Q of both it is Q₂ R Q₁ᵀ,
    where R is the orthogonal factor of L₂⁻¹ L₁.
    """
    m = len(start)
    lower, other = np.zeros((m, m)), np.zeros((m, m))
    cholesky(start, lower)
    cholesky(end, other)
    between = np.linalg.solve(other, lower)
    left, _, right = np.linalg.svd(between)
    rotation = polar(end)[1] @ np.ascontiguousarray(left) @ np.ascontiguousarray(right)
    rotation = rotation @ np.ascontiguousarray(polar(start)[1].T)
    row = 0
    for i in range(m):
        for j in range(i, m):
            column = 0
            for k in range(m):
                for h in range(k, m):
                    entry = rotation[i, k] * rotation[j, h]
                    if h > k:
                        entry = (entry + rotation[i, h] * rotation[j, k]) * math.sqrt(0.5)
                    turn[row, column] = entry if i == j else math.sqrt(2.0) * entry
                    column += 1
            row += 1


@kernel
def normal_into(centre, points, rotation, coordinates, log_volume):
    """Q log(L⁻¹ y L⁻ᵀ) Qᵀ as coordinates (T, m(m+1)/2), and log Π sinh(x/2)/(x/2), shape (T,).

    The product is over all pairs of eigenvalues of the logarithm, x being their difference.
    """
    m, count = len(centre), len(points)
    lower = np.zeros((m, m))
    margin = cholesky(centre, lower)
    lanes = min(blocks.LANES, count)
    block, rows = np.empty((m, m, lanes)), np.empty((m, m, lanes))
    logs, trusted = np.empty((m, lanes)), np.empty(lanes, np.bool_)
    lane_logs, vectors, lane_values = np.empty(m), np.empty((m, m)), np.empty(lanes)
    for begin in range(0, count, max(lanes, 1)):
        first = min(begin, count - lanes)  # the last block overlaps the one before it
        blocks.load(points, first, block)
        blocks.subtract(block, centre)
        blocks.whiten_alike(lower, block)
        blocks.find_eigensystems(block, rows)
        blocks.eigen_logs(block, logs, trusted)
        for lane in range(lanes):
            if not (trusted[lane] and margin > 1e-4):
                careful_logs(centre, points[first + lane], lane_logs, vectors)
                copy_into(logs[:, lane], lane_logs)
                copy_into(rows[:, :, lane], vectors.T)
        _turn(rotation, rows, block)
        _log_volumes(logs, lane_values)
        for lane in range(lanes):
            log_volume[first + lane] = lane_values[lane]
        place = 0
        for i in range(m):
            for j in range(i, m):
                _entry(block, logs, i, j, lane_values)
                scale = 1.0 if i == j else math.sqrt(2.0)
                for lane in range(lanes):
                    coordinates[first + lane, place] = scale * lane_values[lane]
                place += 1


@kernel
def _turn(rotation, rows, out):
    """``out[k]`` = Q times the eigenvector ``rows[k]``."""
    m, _, lanes = rows.shape
    for k in range(m):
        for i in range(m):
            for b in range(lanes):
                out[k, i, b] = 0.0
            for j in range(m):
                for b in range(lanes):
                    out[k, i, b] += rotation[i, j] * rows[k, j, b]


@kernel
def _entry(rows, logs, i, j, out):
    """Entry (i, j) of the logarithms with these eigenvalues and eigenvectors."""
    for b in range(len(out)):
        out[b] = 0.0
    for k in range(len(rows)):
        for b in range(len(out)):
            out[b] += rows[k, i, b] * logs[k, b] * rows[k, j, b]


@kernel
def _log_volumes(logs, out):
    """log Π sinh(h)/h over all pairs of eigenvalues, h being half of their difference.

    sinh(h)/h is e^h (1 − e^{−2h})/2h, or a series where that cancels. Without its e^h each factor
    is below 1, and the product over the hundreds of pairs of a large matrix would underflow.
    """
    m, lanes = logs.shape
    product = np.ones(lanes)
    out[:] = 0.0
    for i in range(m):
        for j in range(i):
            for b in range(lanes):
                h = 0.5 * abs(logs[i, b] - logs[j, b])
                h2 = h * h
                series = 1.0 + h2 / 6.0 * (
                    1.0 + h2 / 20.0 * (1.0 + h2 / 42.0 * (1.0 + h2 / 72.0 * (1.0 + h2 / 110.0)))
                )
                far = (1.0 - exp(-2.0 * h)) / (2.0 * h + 1e-300)
                is_near = h < 0.3
                out[b] += 0.0 if is_near else h
                product[b] *= series if is_near else far
        for b in range(lanes):
            if product[b] < _SMALL:
                out[b] += math.log(product[b])
                product[b] = 1.0
    for b in range(lanes):
        out[b] += math.log(product[b])
