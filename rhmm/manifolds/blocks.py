"""Small symmetric matrices, many at a time.

Matrices of a block lie side by side in the last axis, ``(m, m, lanes)``: loops over lanes run in
vectors, which makes 8×8 eigenvalue problems several times faster than one LAPACK call each.
Matrices that are too ill-conditioned to keep their digits here go to :mod:`rhmm.manifolds.careful`.
"""

import math

import numpy as np

from rhmm._jit import kernel
from rhmm.vector_math import log1p

LANES = 32
"""Matrices in a block."""
VALUES_ONLY, WITH_VECTORS = 1e-17, 1e-28
"""Tolerances of `diagonalise` where eigenvalues are needed alone, and with eigenvectors."""
_MAX_SWEEPS = 40
_SMALL = 4
"""Of matrices that are smaller, rotations find the eigenvalues faster than `_tridiagonalise`."""
_TINY = 1e-300
"""Added to what might be 0 below a fraction line."""


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
def spread(lower, block):
    """The same matrix in every lane."""
    for i in range(len(lower)):
        for j in range(len(lower)):
            block[i, j] = lower[i, j]


@kernel
def whiten(lower, block):
    """``L⁻¹ X L⁻ᵀ`` in place for the symmetric matrices X of the block; fills both triangles."""
    m, _, lanes = block.shape
    for j in range(m):  # columns of L⁻¹ X
        for i in range(m):
            for k in range(i):
                for b in range(lanes):
                    block[i, j, b] -= lower[i, k, b] * block[k, j, b]
            for b in range(lanes):
                block[i, j, b] /= lower[i, i, b]
    for i in range(m):  # rows of (L⁻¹ X) L⁻ᵀ
        for j in range(i + 1):
            for k in range(j):
                for b in range(lanes):
                    block[i, j, b] -= lower[j, k, b] * block[i, k, b]
            for b in range(lanes):
                block[i, j, b] /= lower[j, j, b]
                block[j, i, b] = block[i, j, b]


@kernel
def _find_open(block, tolerance, is_open):
    """Which lanes are not diagonal yet, as 1 or 0 to multiply by; says whether there are any."""
    m, _, lanes = block.shape
    is_open[:] = 0.0  # at first, by how much a lane misses the tolerance
    for i in range(m):
        for b in range(lanes):
            is_open[b] -= tolerance * block[i, i, b] ** 2
        for j in range(i + 1, m):
            for b in range(lanes):
                is_open[b] += block[i, j, b] ** 2
    any_open = False
    for b in range(lanes):
        any_open |= is_open[b] > 0.0
        is_open[b] = 1.0 if is_open[b] > 0.0 else 0.0
    return any_open


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
        beside2 = np.empty(block.shape[1:])
        _tridiagonalise(block, beside2)
        _iterate_ql(block, beside2)


@kernel
def _tridiagonalise(block, beside2):
    """Householder's reflections, from the last row up: the diagonal of the block becomes that of
    tridiagonal matrices with the same eigenvalues.

    ``beside2[i]`` becomes the square of the entry between i and i + 1, 0 for the last i.
    """
    m, _, lanes = block.shape
    scale, total, image = np.empty(lanes), np.empty(lanes), np.empty((m, lanes))
    for i in range(m - 1, 0, -1):
        mirror = block[i]  # the row becomes the normal of the mirror
        for b in range(lanes):
            total[b] = 0.0
        for k in range(i - 1):
            for b in range(lanes):
                total[b] += mirror[k, b] * mirror[k, b]
        for b in range(lanes):
            x, rest = mirror[i - 1, b], total[b]
            norm = math.sqrt(rest + x * x)
            beside2[i - 1, b] = norm * norm
            mirror[i - 1, b] = x + math.copysign(norm, x)
            scale[b] = 1.0 / (norm * (norm + abs(x)) + _TINY) if rest > _TINY else 0.0
        for j in range(i):
            for b in range(lanes):
                image[j, b] = block[j, j, b] * mirror[j, b]
            for k in range(j):
                for b in range(lanes):
                    image[j, b] += block[j, k, b] * mirror[k, b]
                    image[k, b] += block[j, k, b] * mirror[j, b]
        for b in range(lanes):
            total[b] = 0.0
        for j in range(i):
            for b in range(lanes):
                image[j, b] *= scale[b]
                total[b] += image[j, b] * mirror[j, b]
        for b in range(lanes):
            total[b] *= 0.5 * scale[b]
        for j in range(i):
            for b in range(lanes):
                image[j, b] -= total[b] * mirror[j, b]
            for k in range(j + 1):
                for b in range(lanes):
                    block[j, k, b] -= mirror[j, b] * image[k, b] + image[j, b] * mirror[k, b]
    for b in range(lanes):
        beside2[m - 1, b] = 0.0


@kernel
def _iterate_ql(block, beside2):
    """The QL algorithm without square roots of Pal, Walker and Kahan (LAPACK's dsterf).

    A lane whose entry beside the present one has vanished stands still while others go on, so that
    its result does not depend on its neighbours.
    """
    m, _, lanes = block.shape
    least, moves, shift = np.zeros(lanes), np.empty(lanes), np.empty(lanes)
    cosine2, sine2, gamma, p = (
        np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes),
    )  # fmt: skip
    for i in range(m):
        for b in range(lanes):
            least[b] += block[i, i, b] * block[i, i, b] + 2.0 * beside2[i, b]
    for b in range(lanes):
        least[b] = 1e-32 * least[b] + _TINY
    for k in range(m - 1):
        value, next_value, last = block[k, k], block[k + 1, k + 1], block[m - 1, m - 1]
        coupling = beside2[k]
        for _ in range(_MAX_SWEEPS):
            excess = 0.0
            for b in range(lanes):
                excess = max(excess, coupling[b] - least[b])
            if not excess > 0.0:
                break
            for b in range(lanes):
                moves[b] = 1.0 if coupling[b] > least[b] else 0.0
                half = 0.5 * (next_value[b] - value[b])
                size = abs(half) + math.sqrt(half * half + coupling[b]) + _TINY
                correction = coupling[b] / size
                shift[b] = value[b] - (correction if half >= 0.0 else -correction)
                cosine2[b], sine2[b] = 1.0, 0.0
                gamma[b] = last[b] - shift[b]
                p[b] = gamma[b] * gamma[b]
            for i in range(m - 2, k - 1, -1):
                here, below = block[i, i], block[i + 1, i + 1]
                here2, below2 = beside2[i], beside2[i + 1]
                for b in range(lanes):
                    move, stay, old = moves[b], 1.0 - moves[b], gamma[b]
                    r = p[b] + here2[b]
                    below2[b] = move * (sine2[b] * r) + stay * below2[b]
                    inverse = 1.0 / (r + _TINY)
                    quotient = p[b] * inverse
                    c = quotient if r > _TINY else 1.0
                    s = here2[b] * inverse
                    g = c * (here[b] - shift[b]) - s * old
                    below[b] = move * (old + (here[b] - g)) + stay * below[b]
                    plain, at_zero = g * g / (c + _TINY), cosine2[b] * here2[b]
                    p[b] = plain if c > 1e-290 else at_zero
                    gamma[b], cosine2[b], sine2[b] = g, c, s
            for b in range(lanes):
                move, stay = moves[b], 1.0 - moves[b]
                coupling[b] = move * (sine2[b] * p[b]) + stay * coupling[b]
                value[b] = move * (shift[b] + gamma[b]) + stay * value[b]


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
    total = 0.0
    for i in range(len(logs)):
        total += logs[i, lane] * logs[i, lane]
    return total
