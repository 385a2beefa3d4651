"""Normal coordinates of symmetric positive definite matrices with the affine-invariant metric.

The geodesic from I to c carries a symmetric matrix V to c^½ V c^½. So the coordinates of y at c are
the entries of log(c^−½ y c^−½).
"""

import math

import numpy as np

from rhmm._jit import copy_into, kernel
from rhmm.manifolds import blocks
from rhmm.manifolds.careful import careful_logs, cholesky
from rhmm.vector_math import log_sinhc


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
def normal_into(centre, points, rotation, coordinates, log_volume):
    """Q log(L⁻¹ y L⁻ᵀ) Qᵀ as coordinates (T, m(m+1)/2), and log Π sinh(x/2)/(x/2), shape (T,).

    The product is over all pairs of eigenvalues of the logarithm, x being their difference.
    """
    m, count = len(centre), len(points)
    lower = np.zeros((m, m))
    margin = cholesky(centre, lower)
    lanes = min(blocks.LANES, count)
    shape = (m, m, lanes)
    factor, block, rows = np.empty(shape), np.empty(shape), np.empty(shape)
    blocks.spread(lower, factor)
    logs, trusted = np.empty((m, lanes)), np.empty(lanes, np.bool_)
    lane_logs, vectors, frame = np.empty(m), np.empty((m, m)), np.empty((m, m))
    for begin in range(0, count, max(lanes, 1)):
        first = min(begin, count - lanes)  # the last block overlaps the one before it
        blocks.load(points, first, block)
        blocks.subtract(block, centre)
        blocks.whiten(factor, block)
        blocks.diagonalise(block, rows, True, blocks.WITH_VECTORS)
        blocks.eigen_logs(block, logs, trusted)
        for lane in range(lanes):
            t = first + lane
            copy_into(lane_logs, logs[:, lane])
            copy_into(vectors, rows[:, :, lane].T)
            if not (trusted[lane] and margin > 1e-4):
                careful_logs(centre, points[t], lane_logs, vectors)
            copy_into(frame, rotation @ vectors)
            place, log_volume[t] = 0, 0.0
            for i in range(m):
                for j in range(i, m):
                    total = 0.0
                    for k in range(m):
                        total += frame[i, k] * lane_logs[k] * frame[j, k]
                    coordinates[t, place] = total if i == j else math.sqrt(2.0) * total
                    log_volume[t] += log_sinhc(0.5 * abs(lane_logs[i] - lane_logs[j]))
                    place += 1
