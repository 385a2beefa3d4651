"""Small symmetric matrices, many at a time.

Matrices of a block lie side by side in the last axis, ``(m, m, lanes)``: loops over lanes run in
vectors, which makes 8×8 eigenvalue problems several times faster than one LAPACK call each.
Matrices that are too ill-conditioned to keep their digits here go to :mod:`rhmm.manifolds.careful`.
"""

import math

import numpy as np

from rhmm._jit import kernel
from rhmm.manifolds.tridiagonal import find_systems, find_values, mirrored, tridiagonalise
from rhmm.vector_math import log1p, squared, total

LANES = 64
"""Matrices in a block."""
VALUES_ONLY, WITH_VECTORS = 1e-17, 1e-28
"""Tolerances of `diagonalise` where eigenvalues are needed alone, and with eigenvectors."""
_MAX_SWEEPS = 40
_SMALL = 4
"""Of matrices that are smaller, rotations find the eigenvalues faster than `tridiagonalise`."""


@kernel
def load(points, first, block):
    """Copy ``points[first : first + lanes]`` into the block."""
    m, _, lanes = block.shape
    for lane in range(lanes):
        for i in range(m):
            for j in range(m):
                block[i, j, lane] = points[first + lane, i, j]


@kernel
def load_chosen(points, chosen, first, block):
    """Copy ``points[chosen[first : first + lanes]]`` into the block."""
    m, _, lanes = block.shape
    for lane in range(lanes):
        t = chosen[first + lane]
        for i in range(m):
            for j in range(m):
                block[i, j, lane] = points[t, i, j]


@kernel
def load_pairs(points, centres, lower, pairs, first, factor, block):
    """Of so many pairs (i, t) from `first` on, ``points[t] − centres[i]`` and the factor
    ``lower[i]`` of the centre."""
    m, _, lanes = block.shape
    for lane in range(lanes):
        i, t = pairs[first + lane]
        for j in range(m):
            for k in range(m):
                factor[j, k, lane] = lower[i, j, k]
                block[j, k, lane] = points[t, j, k] - centres[i, j, k]


@kernel
def subtract(block, matrix):
    """Take the same matrix away from every lane."""
    for i in range(len(matrix)):
        for j in range(len(matrix)):
            for b in range(block.shape[2]):
                block[i, j, b] -= matrix[i, j]


@kernel
def factorise(block, lower, margins):
    """Cholesky factors of the block; ``margins[lane]`` is as `careful.cholesky` returns it."""
    m, _, lanes = block.shape
    margins[:] = math.inf
    for j in range(m):
        for i in range(j, m):
            for b in range(lanes):
                lower[i, j, b] = block[i, j, b]
            for k in range(j):
                for b in range(lanes):
                    lower[i, j, b] -= lower[i, k, b] * lower[j, k, b]
            for b in range(lanes):
                if i == j:
                    margins[b] = min(margins[b], lower[j, j, b] / block[j, j, b])
                    lower[j, j, b] = math.sqrt(lower[j, j, b])
                else:
                    lower[i, j, b] /= lower[j, j, b]


@kernel
def whiten(lower, block):
    """``L⁻¹ X L⁻ᵀ`` in place for the symmetric matrices X of the block; fills both triangles."""
    m, _, lanes = block.shape
    inverse = np.empty((m, lanes))
    for i in range(m):
        for b in range(lanes):
            inverse[i, b] = 1.0 / lower[i, i, b]
    for j in range(m):  # columns of L⁻¹ X
        for i in range(m):
            for k in range(i):
                for b in range(lanes):
                    block[i, j, b] -= lower[i, k, b] * block[k, j, b]
            for b in range(lanes):
                block[i, j, b] *= inverse[i, b]
    for i in range(m):  # rows of (L⁻¹ X) L⁻ᵀ
        for j in range(i + 1):
            for k in range(j):
                for b in range(lanes):
                    block[i, j, b] -= lower[j, k, b] * block[i, k, b]
            for b in range(lanes):
                block[i, j, b] *= inverse[j, b]
                block[j, i, b] = block[i, j, b]


@kernel
def whiten_alike(lower, block):
    """The same digits with one matrix L (m, m) for all lanes, in a fraction of the time."""
    m, _, lanes = block.shape
    _solve_alike(lower, block)
    for i in range(m):
        for j in range(i):
            for b in range(lanes):
                block[i, j, b], block[j, i, b] = block[j, i, b], block[i, j, b]
    _solve_alike(lower, block)
    for i in range(m):
        for j in range(i):
            for b in range(lanes):
                block[i, j, b] = block[j, i, b]


@kernel
def _solve_alike(lower, block):
    """``L⁻¹ X`` in place: a whole row of all matrices at once, which makes long vectors."""
    m, _, lanes = block.shape
    rows = block.reshape((m, m * lanes))
    for i in range(m):
        row, inverse = rows[i], 1.0 / lower[i, i]
        for k in range(i):
            above, factor = rows[k], lower[i, k]
            for q in range(m * lanes):
                row[q] -= factor * above[q]
        for q in range(m * lanes):
            row[q] *= inverse


@kernel
def _find_open(block, tolerance, is_open):
    """Which lanes are not diagonal yet, as 1 or 0 to multiply by; says whether there are any."""
    m, _, lanes = block.shape
    is_open[:] = 0.0  # at first, by how much a lane misses the tolerance
    for i in range(m):
        for b in range(lanes):
            is_open[b] -= tolerance * squared(block[i, i, b])
        for j in range(i + 1, m):
            for b in range(lanes):
                is_open[b] += squared(block[i, j, b])
    for b in range(lanes):
        is_open[b] = 1.0 if is_open[b] > 0.0 else 0.0
    return total(is_open) > 0.0


@kernel
def diagonalise(block, vectors, with_vectors, tolerance):
    """Cyclic Jacobi: the eigenvalues end on the diagonal, eigenvectors in the rows of `vectors`.

    A lane stops when its squared off-diagonal part is below `tolerance` times the diagonal's, so
    that its result does not depend on its neighbours.
    """
    m, _, lanes = block.shape
    if with_vectors:
        vectors[:] = 0.0
        for i in range(m):
            vectors[i, i] = 1.0
    cosine, sine, is_open = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    for _ in range(_MAX_SWEEPS):
        if not _find_open(block, tolerance, is_open):
            return
        for p in range(m - 1):
            for q in range(p + 1, m):
                for b in range(lanes):
                    gap = block[q, q, b] - block[p, p, b]
                    twice = 2.0 * is_open[b] * block[p, q, b]
                    size = abs(gap) + math.sqrt(gap * gap + twice * twice) + 1e-300
                    tangent = math.copysign(1.0, gap) * twice / size
                    cosine[b] = 1.0 / math.sqrt(1.0 + tangent * tangent)
                    sine[b] = tangent * cosine[b]
                    change = tangent * block[p, q, b]
                    block[p, p, b] -= change
                    block[q, q, b] += change
                    block[p, q, b] *= 1.0 - is_open[b]
                for r in range(m):  # the upper triangle: [i, j] with i < j
                    if r in (p, q):
                        continue
                    i, j = min(r, p), max(r, p)
                    g, h = min(r, q), max(r, q)
                    for b in range(lanes):
                        x, y = block[i, j, b], block[g, h, b]
                        block[i, j, b] = cosine[b] * x - sine[b] * y
                        block[g, h, b] = sine[b] * x + cosine[b] * y
                if with_vectors:
                    for r in range(m):
                        for b in range(lanes):
                            x, y = vectors[p, r, b], vectors[q, r, b]
                            vectors[p, r, b] = cosine[b] * x - sine[b] * y
                            vectors[q, r, b] = sine[b] * x + cosine[b] * y


@kernel
def find_eigenvalues(block):
    """The eigenvalues end on the diagonal, as by `diagonalise`, in less than half of its time."""
    if len(block) < _SMALL:
        diagonalise(block, block, False, VALUES_ONLY)
    else:
        beside, scales = np.empty(block.shape[1:]), np.empty(block.shape[1:])
        tridiagonalise(block, beside, scales)
        find_values(block, beside)


@kernel
def find_eigensystems(block, vectors):
    """The same with eigenvectors in the rows of `vectors`."""
    if len(block) < _SMALL:
        diagonalise(block, vectors, True, WITH_VECTORS)
    else:
        beside, scales = np.empty(block.shape[1:]), np.empty(block.shape[1:])
        tridiagonalise(block, beside, scales)
        mirrored(block, scales, vectors)
        find_systems(block, beside, vectors)


@kernel
def eigen_logs(block, logs, trusted):
    """From the eigenvalues of W − I on the diagonal ``logs[i, b]``, the logarithms of those of W.

    ``trusted[b]`` is false where the smallest eigenvalue may have lost digits to the largest, or
    where squares have overflowed.
    """
    m, lanes = logs.shape
    for i in range(m):
        for b in range(lanes):
            logs[i, b] = log1p(max(block[i, i, b], -1.0 + 1e-15))
    for b in range(lanes):
        smallest, largest = math.inf, 0.0
        for i in range(m):
            smallest = min(smallest, block[i, i, b])
            largest = max(largest, block[i, i, b])
        trusted[b] = largest < 1e100 and 1.0 + smallest > 1e-4 * (1.0 + largest)


@kernel
def sum_of_squares(logs, lane):
    """Of the logarithms in one lane of `logs`, shape (m, lanes)."""
    squares = 0.0
    for i in range(len(logs)):
        squares += logs[i, lane] * logs[i, lane]
    return squares
