"""The centre of mass of points in the ball, by Newton's method."""

import math

import numpy as np

from rhmm._jit import copy_into, kernel, lean_kernel
from rhmm.manifolds import verbs
from rhmm.manifolds.ball import SMALLEST_GAP, gap, move
from rhmm.manifolds.ball_groups import separations
from rhmm.vector_math import total

_LAST_STEP = 1e-5
"""Convergence is quadratic: after a step this short the error is about its square."""
_BLOCK = 64
"""Points that are worked on at a time, so that intermediate results stay in the nearest cache."""


@kernel
def search_centre(geometry, rows, weights, centre, d2, most_steps):
    """Newton's method in the tangent space, with half steps where a full one overshoots.

    `rows` (d + 1, T) has the coordinates of the points and below them their gaps, `weights` has
    shape (T,); `centre` is moved, and `d2` (T,) becomes the squared distances to it. Returns
    whether the search converged.
    """
    dim, count = len(centre), len(weights)
    gradient, hessian = np.empty(dim), np.empty(dim * dim)
    start, step = centre.copy(), np.zeros(dim)
    value = math.inf
    verbs.distances_to(geometry, rows, 0, count, centre, d2)
    for _ in range(most_steps):
        new_value = _newton_system(rows, weights, centre, d2, gradient, hessian)
        if not new_value <= value * (1.0 + 1e-12):  # it is NaN where a step left the ball
            for k in range(dim):
                step[k] *= 0.5
        else:
            value = new_value
            copy_into(start, centre)
            _solve(hessian, gradient, step)
        move(start, gap(start), step, centre)
        verbs.distances_to(geometry, rows, 0, count, centre, d2)
        length2 = 0.0
        for k in range(dim):
            length2 += step[k] * step[k]
        if math.sqrt(length2) < _LAST_STEP + 4e-16 / gap(centre):
            return True
    return False


@lean_kernel
def newton_sums(rows, weights, centre, d2, sums):
    """Σ w d², then the gradient and the Hessian of `newton_step`, into `sums` (1 + d + d²,)."""
    dim = len(centre)
    gradient, hessian = sums[1 : 1 + dim], sums[1 + dim :]
    sums[0] = _newton_system(rows, weights, centre, d2, gradient, hessian)


@kernel
def newton_step(sums, share, centre):
    """Move `centre` by a share of Newton's step; returns the predicted fall of Σ w d²."""
    dim = len(centre)
    gradient, step, moved = sums[1 : 1 + dim], np.empty(dim), np.empty(dim)
    _solve(sums[1 + dim :].copy(), gradient, step)
    fall = 0.0
    for k in range(dim):
        fall += gradient[k] * step[k]
        step[k] *= share
    move(centre, gap(centre), step, moved)
    if not gap(moved) >= SMALLEST_GAP:
        return 0.0
    copy_into(centre, moved)
    return (2.0 - share) * share * fall


@kernel
def _newton_system(rows, weights, centre, d2, gradient, hessian):
    """The gradient of −½Σw d² at `centre` and the Hessian of ½Σw d², row after row; returns Σw d².

    The Hessian of ½d² is 1 along the geodesic to the point and κ = d coth d across it. The unit
    vector from c to y is n/|n| with n = (1 − |c|²)(y − c) − |y − c|² c.

    Points a block apart are added up in lanes, which run in vectors, and the lanes in the end: an
    order that no compiler chooses.
    """
    dim, count = len(centre), len(weights)
    work, lanes = np.empty((3 + dim, _BLOCK)), np.zeros((2 + dim + dim * dim, _BLOCK))
    for begin in range(0, count, _BLOCK):
        _add_block(rows, begin, min(_BLOCK, count - begin), weights, centre, d2, work, lanes)
    flat = total(lanes[1])
    for i in range(dim):
        gradient[i] = total(lanes[2 + i])
        for j in range(i + 1):
            bend_of_both = total(lanes[2 + dim + i * dim + j]) + (flat if i == j else 0.0)
            hessian[i * dim + j] = hessian[j * dim + i] = bend_of_both
    return total(lanes[0])


@lean_kernel
def _add_block(rows, begin, size, weights, centre, d2, work, lanes):
    """Add so many points to the lanes: those of Σw d², of Σwκ, and of what the gradient and the
    Hessian have beside it. `work` (3 + d, `_BLOCK`) is working memory."""
    dim, centre_gap, end = len(centre), gap(centre), begin + size
    norm2, slope, bend = work[0], work[1], work[2]
    values, across = lanes[0], lanes[1]
    y_gap, w, squares = rows[dim, begin:end], weights[begin:end], d2[begin:end]
    separations(rows, begin, end, centre, norm2)
    for t in range(size):
        scale = centre_gap * y_gap[t]
        per_norm = 1.0 / (math.sqrt(norm2[t] * (norm2[t] + scale)) + 1e-150)  # 1/|n|
        distance, is_apart = math.sqrt(squares[t]), norm2[t] > 1e-18 * scale
        kappa = distance * (0.5 * scale + norm2[t]) * per_norm if is_apart else 1.0
        inverse_norm = per_norm if is_apart else 0.0
        slope[t] = w[t] * distance * inverse_norm
        bend[t] = w[t] * (1.0 - kappa) * inverse_norm * inverse_norm
        values[t] += w[t] * squares[t]
        across[t] += w[t] * kappa
    for i in range(dim):
        row, mine, slopes = rows[i, begin:end], work[3 + i], lanes[2 + i]
        for t in range(size):
            mine[t] = centre_gap * (row[t] - centre[i]) - norm2[t] * centre[i]
            slopes[t] += slope[t] * mine[t]
        for j in range(i + 1):
            other, bends = work[3 + j], lanes[2 + dim + i * dim + j]
            for t in range(size):
                bends[t] += bend[t] * mine[t] * other[t]


@lean_kernel
def _solve(matrix, vector, out):
    """Solve a small positive definite system by elimination; overwrites `matrix`, which is given
    row after row."""
    n = len(vector)
    copy_into(out, vector)
    for k in range(n):
        for i in range(k + 1, n):
            factor = matrix[i * n + k] / matrix[k * n + k]
            out[i] -= factor * out[k]
            for j in range(k + 1, n):
                matrix[i * n + j] -= factor * matrix[k * n + j]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            out[k] -= matrix[k * n + j] * out[j]
        out[k] /= matrix[k * n + k]
