"""Eigenvalues and eigenvectors of a block of symmetric matrices by way of tridiagonal ones.

The matrices lie side by side in the last axis, as :mod:`rhmm.manifolds.blocks` has them. What
becomes of one does not depend on its neighbours: a lane that is done stands still while others go
on.
"""

import math

import numpy as np

from rhmm._jit import kernel

_MAX_SWEEPS = 40
_TINY = 1e-300
"""Added to what might be 0 below a fraction line."""
_NOTHING = 1e-280
"""A sum of squares up to this is 0: what is larger keeps its digits when `_TINY` is added to it."""


@kernel
def tridiagonalise(block, beside, scales):
    """Householder's reflections, from the last row up: the diagonal of the block becomes that of
    tridiagonal matrices with the same eigenvalues.

    ``beside[i]`` becomes the entry between i and i + 1, 0 for the last i. Row i of the block keeps
    the normal v of its mirror: the reflection is 1 − ``scales[i]`` v vᵀ.
    """
    m, _, lanes = block.shape
    total, image = np.empty(lanes), np.empty((m, lanes))
    for i in range(m - 1, 0, -1):
        mirror, scale = block[i], scales[i]
        for b in range(lanes):
            total[b] = 0.0
        for k in range(i - 1):
            for b in range(lanes):
                total[b] += mirror[k, b] * mirror[k, b]
        for b in range(lanes):
            x, rest = mirror[i - 1, b], total[b]
            norm = math.copysign(math.sqrt(rest + x * x), x)
            inverse = 1.0 / (norm * (norm + x) + _TINY)  # apart, or it would not run in vectors
            beside[i - 1, b] = -norm if rest > _NOTHING else x
            mirror[i - 1, b] = x + norm
            scale[b] = inverse if rest > _NOTHING else 0.0
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
        beside[m - 1, b] = 0.0


@kernel
def mirrored(block, scales, vectors):
    """The product of all reflections of `tridiagonalise`: its rows are what the axes of the
    tridiagonal matrices are in the block as it was."""
    m, _, lanes = block.shape
    total = np.empty(lanes)
    vectors[:] = 0.0
    for i in range(m):
        vectors[i, i] = 1.0
    for i in range(2, m):
        mirror, scale = block[i], scales[i]
        for a in range(i):
            row = vectors[a]
            for b in range(lanes):
                total[b] = 0.0
            for k in range(i):
                for b in range(lanes):
                    total[b] += row[k, b] * mirror[k, b]
            for b in range(lanes):
                total[b] *= scale[b]
            for k in range(i):
                for b in range(lanes):
                    row[k, b] -= total[b] * mirror[k, b]


@kernel
def find_values(block, beside):
    """The QL algorithm without square roots of Pal, Walker and Kahan (LAPACK's dsterf): from what
    `tridiagonalise` left, the eigenvalues on the diagonal of the block.
    """
    m, _, lanes = block.shape
    beside2 = beside * beside
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
            any_open = False
            for b in range(lanes):
                any_open |= coupling[b] > least[b]
            if not any_open:
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
def find_systems(block, beside, vectors):
    """The QL algorithm with implicit shifts: the eigenvalues on the diagonal of the block. What
    turns the matrices turns the rows of `vectors`, too.

    Where an entry beside the diagonal has vanished, a sweep begins anew.
    """
    m, _, lanes = block.shape
    least, moves, shift, begins = (
        np.zeros(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes),
    )  # fmt: skip
    cosine, sine, gamma, p = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes)
    turn = np.empty((2, lanes))
    for i in range(m):
        for b in range(lanes):
            least[b] += block[i, i, b] * block[i, i, b] + 2.0 * beside[i, b] * beside[i, b]
    for b in range(lanes):
        least[b] = 1e-16 * math.sqrt(least[b]) + _TINY
    for k in range(m - 1):
        value, next_value, last = block[k, k], block[k + 1, k + 1], block[m - 1, m - 1]
        coupling = beside[k]
        for _ in range(_MAX_SWEEPS):
            any_open = False
            for b in range(lanes):
                any_open |= abs(coupling[b]) > least[b]
            if not any_open:
                break
            for b in range(lanes):
                moves[b] = 1.0 if abs(coupling[b]) > least[b] else 0.0
                half, square = 0.5 * (next_value[b] - value[b]), coupling[b] * coupling[b]
                correction = square / (abs(half) + math.sqrt(half * half + square) + _TINY)
                shift[b] = value[b] - (correction if half >= 0.0 else -correction)
                cosine[b], sine[b], p[b], begins[b] = 1.0, 1.0, 0.0, 1.0
                gamma[b] = last[b] - shift[b]
            for i in range(m - 2, k - 1, -1):
                here, below = block[i, i], block[i + 1, i + 1]
                entry, entry_below = beside[i], beside[i + 1]
                for b in range(lanes):
                    move, stay, old = moves[b], 1.0 - moves[b], gamma[b]
                    is_zero = abs(entry[b]) <= least[b]
                    e = 0.0 if is_zero else entry[b]
                    f, h = sine[b] * e, cosine[b] * e
                    root = math.sqrt(f * f + old * old)
                    inverse = 1.0 / (root + _TINY)
                    is_straight = is_zero | (root < 1e-150)  # `or` would branch
                    s = 0.0 if is_straight else f * inverse
                    c = 1.0 if is_straight else old * inverse
                    r = old if is_straight else root
                    written = move * (1.0 - begins[b])
                    entry_below[b] = written * r + (1.0 - written) * entry_below[b]
                    d = below[b] - p[b]
                    g = (here[b] - d) * s + 2.0 * c * h
                    below[b] = move * (d + s * g) + stay * below[b]
                    begins[b] = 1.0 if is_zero else 0.0
                    gamma[b] = here[b] - shift[b] if is_zero else c * g - h
                    p[b] = 0.0 if is_zero else s * g
                    cosine[b] = 1.0 if is_zero else c
                    sine[b] = 1.0 if is_zero else s
                    turn[0, b] = move * c + stay
                    turn[1, b] = move * s
                upper, lower = vectors[i], vectors[i + 1]
                for q in range(m):
                    for b in range(lanes):
                        x, y = upper[q, b], lower[q, b]
                        lower[q, b] = turn[1, b] * x + turn[0, b] * y
                        upper[q, b] = turn[0, b] * x - turn[1, b] * y
            for b in range(lanes):
                move, stay = moves[b], 1.0 - moves[b]
                coupling[b] = move * gamma[b] + stay * coupling[b]
                value[b] -= move * p[b]
