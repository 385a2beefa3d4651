"""Points of the open unit ball: kernels that the verbs of hyperbolic space are made of.

Everything is written in the *gap* 1 − |x|², which is computed without cancellation, so that two
points one part in 10¹² from the boundary still have all the digits of their distance.
"""

import math

import numpy as np

from rhmm._jit import kernel, lean_kernel
from rhmm.vector_math import log_one_more, squared

SMALLEST_GAP = 1e-15
"""Points closer to the boundary, beyond a distance of 35 from the origin, are refused: their
neighbours in double precision are whole units of distance away."""


@lean_kernel
def gap(x):
    """1 − |x|² to full relative accuracy: near the boundary the squares are subtracted exactly."""
    norm2 = 0.0
    for k in range(len(x)):
        norm2 += x[k] * x[k]
    if norm2 < 0.9:
        return 1.0 - norm2
    high, low = 1.0, 0.0
    for k in range(len(x)):
        square = x[k] * x[k]
        split = 134217729.0 * x[k]
        head = split - (split - x[k])
        tail = x[k] - head
        error = ((head * head - square) + 2.0 * head * tail) + tail * tail
        total = high - square
        low += (high - total) - square - error
        high = total
    return high + low


@kernel
def which_inside(points):
    """Which of the points, shape (T, d), keep the smallest gap to the boundary; NaN does not."""
    inside = np.empty(len(points), np.bool_)
    for t in range(len(points)):
        norm2 = 0.0
        for k in range(points.shape[1]):
            norm2 += points[t, k] * points[t, k]
        # Only next to the boundary does rounding matter.
        inside[t] = norm2 < 1.0 - 1e-9 or (norm2 < 1.1 and gap(points[t]) >= SMALLEST_GAP)
    return inside


@kernel
def gaps_of(coordinates):
    """`gap` of every point, from `coordinates` of shape (d, T); shape (T,)."""
    gaps, work = np.empty(coordinates.shape[1]), np.empty(coordinates.shape[1])
    gaps_into(coordinates, gaps, work)
    return gaps


@lean_kernel
def gaps_into(coordinates, gaps, work):
    """The same into `gaps` (T,); `work` (T,) is working memory."""
    for t in range(len(gaps)):
        gaps[t], work[t] = 1.0, 0.0
    for k in range(len(coordinates)):
        row = coordinates[k]
        for t in range(len(gaps)):
            x = row[t]
            square = x * x
            split = 134217729.0 * x
            head = split - (split - x)
            tail = x - head
            error = ((head * head - square) + 2.0 * head * tail) + tail * tail
            total = gaps[t] - square
            work[t] += (gaps[t] - total) - square - error
            gaps[t] = total
    for t in range(len(gaps)):
        gaps[t] += work[t]


@lean_kernel
def separation(x, y):
    """|x − y|²."""
    total = 0.0
    for k in range(len(x)):
        total += squared(x[k] - y[k])
    return total


@lean_kernel
def distance_of(s):
    """d from s = sinh²(d/2)."""
    return distance_from(s, 1.0)


@lean_kernel
def distance_from(norm2, product):
    """d from |x − y|² and (1 − |x|²)(1 − |y|²), by eq. (18): sinh²(d/2) is their ratio."""
    return log_one_more(2.0 * (norm2 + math.sqrt(norm2 * (norm2 + product))), product)


@lean_kernel
def towards(x, gap_x, y, gap_y, out):
    """The unit vector (in ball coordinates) from `x` towards `y`; returns s = sinh²(d/2)."""
    norm2 = separation(x, y)
    if norm2 == 0.0:
        out[:] = 0.0
        return 0.0
    scale = 1.0 / math.sqrt(norm2 * (norm2 + gap_x * gap_y))
    for k in range(len(x)):
        out[k] = (gap_x * (y[k] - x[k]) - norm2 * x[k]) * scale
    return norm2 / (gap_x * gap_y)


@kernel
def turn_between(x, y, turn):
    """The rotation (d, d) by which the geodesic from `x` to `y` turns frames: in the plane of both
    points, by the area of the triangle that they form with the origin.

    In complex numbers it is (1 − y x̄)/(1 − ȳ x). With K = y xᵀ − x yᵀ, a = 1 − x·y and b² = |K|²/2
    this is 1 − (2a K − 2K²)/(a² + b²) in every dimension.
    """
    dim, square = len(x), 0.0
    skew = np.empty((dim, dim))
    for p in range(dim):
        for q in range(dim):  # from y − x, which keeps the digits of short steps
            skew[p, q] = (y[p] - x[p]) * x[q] - x[p] * (y[q] - x[q])
            square += 0.5 * squared(skew[p, q])
    along = 0.5 * (separation(x, y) + gap(x) + gap(y))
    scale = 2.0 / (along * along + square)
    for p in range(dim):
        for q in range(dim):
            entry = 1.0 if p == q else 0.0
            for k in range(dim):
                entry += scale * skew[p, k] * skew[k, q]
            turn[p, q] = entry - scale * along * skew[p, q]


@lean_kernel
def shrunk(length2):
    """tanh(|v|/2)/|v| and 1 − tanh²(|v|/2), from |v|²."""
    if length2 < 1e-2:  # most steps of a learner are short: no exponential is needed
        series = 17.0 / 40320.0 - length2 * (31.0 / 725760.0)
        scale = 0.5 - length2 * (1.0 / 24.0 - length2 * (1.0 / 240.0 - length2 * series))
        return scale, 1.0 - length2 * scale * scale
    length = math.sqrt(length2)
    return math.tanh(0.5 * length) / length, 1.0 / squared(math.cosh(0.5 * length))


@lean_kernel
def move(x, gap_x, v, out):
    """From `x` along `v`, given in an orthonormal frame: the Möbius sum x ⊕ tanh(|v|/2) v/|v|.

    Returns the gap of the true end, which may be too small for coordinates to hold.
    """
    length2 = 0.0
    for k in range(len(v)):
        length2 += v[k] * v[k]
    scale, step_gap = shrunk(length2)
    norm2 = 0.0
    for k in range(len(v)):
        norm2 += squared(x[k] + scale * v[k])
    denominator = norm2 + gap_x * step_gap
    if denominator == 0.0:  # the step is so long that its end is anywhere on the boundary
        for k in range(len(v)):
            out[k] = x[k]
        return 0.0
    for k in range(len(v)):
        out[k] = (x[k] * (norm2 + gap_x) + gap_x * scale * v[k]) / denominator
    keep_inside(out)
    return gap_x * step_gap / denominator


@lean_kernel
def move_or_nan(x, gap_x, v, out):
    """`move`, with NaN for a point that coordinates cannot hold."""
    if not move(x, gap_x, v, out) >= SMALLEST_GAP:
        out[:] = math.nan


@lean_kernel
def keep_inside(x):
    """Bring `x` back to where points belong if rounding put it too near the boundary or beyond."""
    scale = 1.0 - 2.0**-52
    while gap(x) < SMALLEST_GAP:
        norm2 = 0.0
        for k in range(len(x)):
            norm2 += x[k] * x[k]
        for k in range(len(x)):
            x[k] *= scale / math.sqrt(norm2)
        scale -= 2.0**-52
