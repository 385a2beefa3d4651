"""The centre of mass of points in the ball, by Newton's method."""

import math

import numpy as np

from rhmm._jit import copy_into, kernel
from rhmm.manifolds.ball import SMALLEST_GAP, gap, move
from rhmm.vector_math import log1p

_LAST_STEP = 1e-5
"""Convergence is quadratic: after a step this short the error is about its square."""
_BLOCK = 256
"""Points that are worked on at a time, so that intermediate results stay in the nearest cache."""


@kernel
def search_centre(coordinates, gaps, weights, centre, most_steps):
    """Newton's method in the tangent space, with half steps where a full one overshoots.

    `coordinates` has shape (d, T), `gaps` and `weights` (T,); `centre` is moved. Returns whether
    the search converged.
    """
    dim = len(centre)
    gradient, hessian = np.empty(dim), np.empty((dim, dim))
    start, step = centre.copy(), np.zeros(dim)
    value = math.inf
    for _ in range(most_steps):
        new_value = _newton_system(coordinates, gaps, weights, centre, gradient, hessian)
        if not new_value <= value * (1.0 + 1e-12):  # it is NaN where a step left the ball
            step *= 0.5
        else:
            value = new_value
            copy_into(start, centre)
            _solve(hessian, gradient, step)
        move(start, gap(start), step, centre)
        if math.sqrt((step**2).sum()) < _LAST_STEP + 4e-16 / gap(centre):
            return True
    return False


@kernel
def newton_sums(coordinates, gaps, weights, centre, sums):
    """Σ w d², then the gradient and the Hessian of `newton_step`, into `sums` (1 + d + d²,)."""
    dim = len(centre)
    hessian = sums[1 + dim :].reshape((dim, dim))
    sums[0] = _newton_system(coordinates, gaps, weights, centre, sums[1 : 1 + dim], hessian)


@kernel
def newton_step(sums, share, centre):
    """Move `centre` by a share of Newton's step; returns the predicted fall of Σ w d²."""
    dim = len(centre)
    gradient, step, moved = sums[1 : 1 + dim], np.empty(dim), np.empty(dim)
    _solve(sums[1 + dim :].copy().reshape((dim, dim)), gradient, step)
    fall = (2.0 - share) * share * (gradient * step).sum()
    move(centre, gap(centre), share * step, moved)
    if not gap(moved) >= SMALLEST_GAP:
        return 0.0
    copy_into(centre, moved)
    return fall


@kernel
def _dot(a, b):
    """Σ a b. Four sums run side by side, in vectors, in an order that no compiler chooses."""
    fours = len(a) - len(a) % 4
    p, q, r, s = 0.0, 0.0, 0.0, 0.0
    for t in range(0, fours, 4):
        p += a[t] * b[t]
        q += a[t + 1] * b[t + 1]
        r += a[t + 2] * b[t + 2]
        s += a[t + 3] * b[t + 3]
    for t in range(fours, len(a)):
        p += a[t] * b[t]
    return (p + q) + (r + s)


@kernel
def _dot3(a, b, c):
    """Σ a b c, added up as by `_dot`."""
    fours = len(a) - len(a) % 4
    p, q, r, s = 0.0, 0.0, 0.0, 0.0
    for t in range(0, fours, 4):
        p += a[t] * b[t] * c[t]
        q += a[t + 1] * b[t + 1] * c[t + 1]
        r += a[t + 2] * b[t + 2] * c[t + 2]
        s += a[t + 3] * b[t + 3] * c[t + 3]
    for t in range(fours, len(a)):
        p += a[t] * b[t] * c[t]
    return (p + q) + (r + s)


@kernel
def _newton_system(coordinates, gaps, weights, centre, gradient, hessian):
    """The gradient of −½Σw d² at `centre` and the Hessian of ½Σw d²; returns Σw d².

    The Hessian of ½d² is 1 along the geodesic to the point and κ = d coth d across it. The unit
    vector from c to y is n/|n| with n = (1 − |c|²)(y − c) − |y − c|² c.
    """
    dim, count = coordinates.shape
    centre_gap = gap(centre)
    norm2, distance, kappa = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    slope, bend, normal = np.empty(_BLOCK), np.empty(_BLOCK), np.empty((dim, _BLOCK))
    gradient[:] = 0.0
    hessian[:] = 0.0
    value, across = 0.0, 0.0
    for begin in range(0, count, _BLOCK):
        size = min(_BLOCK, count - begin)
        y_gap, w = gaps[begin : begin + size], weights[begin : begin + size]
        norm2[:] = 0.0
        for k in range(dim):
            row = coordinates[k, begin : begin + size]
            for t in range(size):
                norm2[t] += (row[t] - centre[k]) ** 2
        for t in range(size):
            scale = centre_gap * y_gap[t]
            per_scale = 1.0 / scale
            s = norm2[t] * per_scale
            norm = math.sqrt(norm2[t] * (norm2[t] + scale)) + 1e-150  # |n|
            per_norm = 1.0 / norm
            distance[t] = log1p(2.0 * (s + norm * per_scale))
            kappa[t] = distance[t] * (0.5 + s) * scale * per_norm if s > 1e-18 else 1.0
            inverse_norm = per_norm if s > 1e-18 else 0.0
            slope[t] = w[t] * distance[t] * inverse_norm
            bend[t] = w[t] * (1.0 - kappa[t]) * inverse_norm * inverse_norm
        value += _dot3(w, distance[:size], distance[:size])
        across += _dot(w, kappa[:size])
        for k in range(dim):
            row = coordinates[k, begin : begin + size]
            for t in range(size):
                normal[k, t] = centre_gap * (row[t] - centre[k]) - norm2[t] * centre[k]
        for i in range(dim):
            gradient[i] += _dot(slope[:size], normal[i, :size])
            for j in range(i + 1):
                hessian[i, j] += _dot3(bend[:size], normal[i, :size], normal[j, :size])
    for i in range(dim):
        hessian[i, i] += across
        for j in range(i):
            hessian[j, i] = hessian[i, j]
    return value


@kernel
def _solve(matrix, vector, out):
    """Solve a small positive definite system by elimination; overwrites `matrix`."""
    n = len(vector)
    copy_into(out, vector)
    for k in range(n):
        for i in range(k + 1, n):
            factor = matrix[i, k] / matrix[k, k]
            out[i] -= factor * out[k]
            for j in range(k + 1, n):
                matrix[i, j] -= factor * matrix[k, j]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            out[k] -= matrix[k, j] * out[j]
        out[k] /= matrix[k, k]
