"""Hyperbolic space of curvature −1 in the Poincaré ball; d = 2 is the paper's Poincaré disk.

Everything is written in the *gap* 1 − |x|², which is computed without cancellation, so that two
points one part in 10¹² from the boundary still have all the digits of their distance.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import implements, kernel, summing_kernel
from rhmm.gaussian.hyperbolic import HyperbolicGaussian, sample_radius
from rhmm.manifolds import verbs
from rhmm.manifolds.manifold import Manifold
from rhmm.vector_math import log1p

SMALLEST_GAP = 1e-15
"""Points closer to the boundary, beyond a distance of 35 from the origin, are refused: their
neighbours in double precision are whole units of distance away."""

_LAST_STEP = 1e-5
_BLOCK = 256


class BallGeometry(NamedTuple):
    dim: int


class Hyperbolic(Manifold):
    """H^d, d ≥ 1, as the open unit ball with the paper's distance, eq. (18).

    Points are arrays of d numbers with norm below 1; on the disk (d = 2) complex numbers too.
    Tangent vectors are in ball coordinates: their length at x is 2|v|/(1 − |x|²), see `norm`.
    """

    def __init__(self, dim: int):
        super().__init__(BallGeometry, dim=dim)
        self.dim = self.geometry.dim
        self.point_shape = (self.dim,)
        self.gaussian = HyperbolicGaussian(self.dim)

    def _as_array(self, name, x):
        if self.dim == 2 and not isinstance(x, np.ndarray):
            try:
                x = np.asarray(x)
            except (TypeError, ValueError):
                raise ValueError(f"{name} must be an array of numbers, not {x!r}") from None
        if self.dim == 2 and np.iscomplexobj(x):
            x = np.stack([x.real, x.imag], axis=-1)
        return super()._as_array(name, x)

    def belongs(self, x):
        x = self._as_array("x", x)
        return _inside(x.reshape(-1, self.dim)).reshape(x.shape[:-1])

    def _why_not(self, point) -> str:
        return (
            f"its norm is {math.hypot(*point):.17g}, and a point of the ball has norm below 1 "
            f"(by {SMALLEST_GAP / 2:.0e} at least, the end of double precision)"
        )

    def project(self, x):
        """Pull points on or outside the boundary back into the ball along their radius."""
        x = self._as_array("x", x)
        if not np.isfinite(x).all():
            raise ValueError("x must be finite to be projected into the ball")
        scaled = x / np.maximum(np.abs(x).max(axis=-1, keepdims=True), 1.0)
        norms = np.maximum(np.linalg.norm(scaled, axis=-1, keepdims=True), 0.5)
        pulled = scaled * ((1.0 - 4 * SMALLEST_GAP) / norms)
        return np.where(self.belongs(x)[..., None], x, pulled)

    def norm(self, x, v):
        x, v = self.points("x", x), self._tangents(v)
        self._common_lead(x, "v", v)
        return 2.0 * np.linalg.norm(v, axis=-1) / self._gaps(x)

    def _gaps(self, x):
        coordinates = np.require(x.reshape(-1, self.dim).T, float, ["C", "W"])
        return _gaps(coordinates).reshape(x.shape[:-1])

    def _first_guess(self, points, weights):
        # The centre of mass of the hyperboloid, back in the ball.
        gaps = self._gaps(points)
        time = (weights * (2.0 - gaps) / gaps).sum()
        space = ((2.0 * weights / gaps)[:, None] * points).sum(axis=0)
        length = math.sqrt(max(time**2 - space @ space, (time * SMALLEST_GAP) ** 2))
        return self.project(space / (length + time))

    def _place(self, rng, centre, sigma, size):
        radii = sample_radius(rng, self.gaussian, sigma, size)
        directions = rng.standard_normal((size, self.dim))
        points = np.empty((size, self.dim))
        _translate_into(centre, radii, directions, points)
        return points


@kernel
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
def _inside(points):
    """Which points keep the smallest gap to the boundary; those with NaN do not."""
    inside = np.empty(len(points), np.bool_)
    for t in range(len(points)):
        norm2 = 0.0
        for k in range(points.shape[1]):
            norm2 += points[t, k] * points[t, k]
        # Only next to the boundary does rounding matter.
        inside[t] = norm2 < 1.0 - 1e-9 or (norm2 < 1.1 and gap(points[t]) >= SMALLEST_GAP)
    return inside


@kernel
def _gaps(coordinates):
    """`gap` of every point."""
    high, low = np.ones(coordinates.shape[1]), np.zeros(coordinates.shape[1])
    for k in range(len(coordinates)):
        row = coordinates[k]
        for t in range(len(high)):
            x = row[t]
            square = x * x
            split = 134217729.0 * x
            head = split - (split - x)
            tail = x - head
            error = ((head * head - square) + 2.0 * head * tail) + tail * tail
            total = high[t] - square
            low[t] += (high[t] - total) - square - error
            high[t] = total
    return high + low


@kernel
def _separation(x, y):
    total = 0.0
    for k in range(len(x)):
        total += (x[k] - y[k]) ** 2
    return total


@kernel
def _distance(s):
    """d from s = sinh²(d/2)."""
    return log1p(2.0 * (s + math.sqrt(s * (s + 1.0))))


@implements(verbs.dist2, BallGeometry)
def _dist2(geometry, x, y):
    return _distance(_separation(x, y) / (gap(x) * gap(y))) ** 2


@implements(verbs.squared_distances, BallGeometry)
def _squared_distances(geometry, points, centres, d2):
    layout = verbs.prepared(geometry, points)
    for i in range(len(centres)):
        verbs.distances_to(geometry, layout, 0, len(points), centres[i], d2[i])


@implements(verbs.paired_distances, BallGeometry)
def _paired_distances(geometry, x, y, d2):
    for t in range(len(d2)):
        d2[t] = verbs.dist2(geometry, x[t], y[t])


@kernel
def _towards(x, gap_x, y, gap_y, out):
    """The unit vector (in ball coordinates) from `x` towards `y`; returns s = sinh²(d/2)."""
    norm2 = _separation(x, y)
    if norm2 == 0.0:
        out[:] = 0.0
        return 0.0
    scale = 1.0 / math.sqrt(norm2 * (norm2 + gap_x * gap_y))
    for k in range(len(x)):
        out[k] = (gap_x * (y[k] - x[k]) - norm2 * x[k]) * scale
    return norm2 / (gap_x * gap_y)


@kernel
def _move(x, gap_x, v, out):
    """From `x` along `v`, given in an orthonormal frame: the Möbius sum x ⊕ tanh(|v|/2) v/|v|.

    Returns the gap of the true end, which may be too small for coordinates to hold.
    """
    length = 0.0
    for k in range(len(v)):
        length += v[k] * v[k]
    if length < 1e-2:  # most steps of a learner are short: no exponential is needed
        series = 17.0 / 40320.0 - length * (31.0 / 725760.0)
        scale = 0.5 - length * (1.0 / 24.0 - length * (1.0 / 240.0 - length * series))
        step_gap = 1.0 - length * scale * scale
    else:
        length = math.sqrt(length)
        scale = math.tanh(0.5 * length) / length
        step_gap = 1.0 / math.cosh(0.5 * length) ** 2
    norm2 = 0.0
    for k in range(len(v)):
        norm2 += (x[k] + scale * v[k]) ** 2
    denominator = norm2 + gap_x * step_gap
    if denominator == 0.0:
        return 0.0
    for k in range(len(v)):
        out[k] = (x[k] * (norm2 + gap_x) + gap_x * scale * v[k]) / denominator
    _keep_inside(out)
    return gap_x * step_gap / denominator


@kernel
def _move_or_nan(x, gap_x, v, out):
    """`_move`, with NaN for a point that coordinates cannot hold."""
    if not _move(x, gap_x, v, out) >= SMALLEST_GAP:
        out[:] = math.nan


@kernel
def _keep_inside(x):
    """Undo what rounding did if it put `x` on the boundary or beyond."""
    scale = 1.0 - 2.0**-52
    while gap(x) <= 0.0:
        norm = math.sqrt((x**2).sum())
        for k in range(len(x)):
            x[k] *= scale / norm
        scale -= 2.0**-52


@implements(verbs.prepared, BallGeometry)
def _prepared(geometry, points):
    """Coordinates in rows and below them the gaps, so that loops over points run in vectors."""
    dim = geometry.dim
    layout = np.empty((dim + 1, len(points)))
    for k in range(dim):
        for t in range(len(points)):
            layout[k, t] = points[t, k]
    layout[dim] = _gaps(layout[:dim])
    return layout


@implements(verbs.distances_to, BallGeometry)
def _distances_to(geometry, layout, first, last, centre, d2):
    """From sinh²(d/2) = |y − c|² / ((1 − |y|²)(1 − |c|²)), eq. (18)."""
    _separations(layout, first, last, centre, d2)
    gaps, centre_gap = layout[geometry.dim, first:last], gap(centre)
    for t in range(len(gaps)):
        d2[t] = _distance(d2[t] / (centre_gap * gaps[t])) ** 2


@kernel
def _separations(layout, first, last, centre, out):
    """``out[t]`` = |y − c|²."""
    if len(centre) == 2:  # the disk: one loop instead of three
        x, y = centre[0], centre[1]
        xs, ys = layout[0, first:last], layout[1, first:last]
        for t in range(len(xs)):
            out[t] = (xs[t] - x) ** 2 + (ys[t] - y) ** 2
        return
    out[: last - first] = 0.0
    for k in range(len(centre)):
        row = layout[k, first:last]
        for t in range(len(row)):
            out[t] += (row[t] - centre[k]) ** 2


@implements(verbs.lean, BallGeometry)
def _lean(geometry, layout, first, last, weights, tau, centre, work):
    dim, centre_gap = geometry.dim, gap(centre)
    norm2, d2, pull, step, moved = work[0], work[1], work[2], work[3], work[4]
    _separations(layout, first, last, centre, norm2)
    gaps = layout[dim, first:last]
    for t in range(len(gaps)):
        product = centre_gap * gaps[t]
        square = max(norm2[t], 1e-300)  # where they coincide, the distance is nil anyway
        distance = _distance(square / product)
        d2[t] = distance * distance
        pull[t] = weights[t] * distance / math.sqrt(square * (square + product))
    total, inwards = 0.0, 0.0
    for t in range(len(gaps)):
        total += weights[t] * d2[t]
        inwards += pull[t] * norm2[t]
    for k in range(dim):
        row, outwards = layout[k, first:last], 0.0
        for t in range(len(row)):
            outwards += pull[t] * (row[t] - centre[k])
        step[k] = tau * (centre_gap * outwards - inwards * centre[k])
    _move(centre, centre_gap, step[:dim], moved[:dim])
    for k in range(dim):
        centre[k] = moved[k]
    return total


@kernel
def _geodesic_weights(s, distance, tau, gap_x, gap_z):
    """Of x #_τ z = (a x + b z)/denominator.

    On the hyperboloid the geodesic is the sum of x and z weighted by sinh((1 − τ)d) and sinh(τd);
    this is that sum in the ball.
    """
    along = tau * distance
    sinh_d = 2.0 * math.sqrt(s * (s + 1.0))
    if abs(along) < 1e-2:  # most steps of a learner are short: no exponential is needed
        square = along * along
        sinh_along = along * (1.0 + square * (1.0 / 6.0 + square * (1.0 / 120.0)))
        cosh_along = 1.0 + square * (0.5 + square * (1.0 / 24.0 + square * (1.0 / 720.0)))
        sinh_rest = sinh_d * cosh_along - (1.0 + 2.0 * s) * sinh_along
    else:
        sinh_along = math.sinh(along)
        sinh_rest = math.sinh((1.0 - tau) * distance)
    a, b = sinh_rest * gap_z, sinh_along * gap_x
    denominator = sinh_d * gap_x * gap_z + a * (2.0 - gap_x) + b * (2.0 - gap_z)
    return 2.0 * a, 2.0 * b, denominator


@implements(verbs.log_into, BallGeometry)
def _log_into(geometry, x, y, out):
    gap_x = gap(x)
    distance = _distance(_towards(x, gap_x, y, gap(y), out))
    for k in range(geometry.dim):
        out[k] *= 0.5 * gap_x * distance


@implements(verbs.exp_into, BallGeometry)
def _exp_into(geometry, x, v, out):
    gap_x = gap(x)
    frame = np.empty(geometry.dim)
    for k in range(geometry.dim):
        frame[k] = 2.0 * v[k] / gap_x
    _move_or_nan(x, gap_x, frame, out)


@implements(verbs.geodesic_into, BallGeometry)
def _geodesic_into(geometry, x, z, tau, out):
    gap_x, gap_z = gap(x), gap(z)
    s = _separation(x, z) / (gap_x * gap_z)
    if s == 0.0:
        for k in range(geometry.dim):
            out[k] = x[k]
        return
    if 0.0 <= tau <= 1.0:
        a, b, denominator = _geodesic_weights(s, _distance(s), tau, gap_x, gap_z)
        for k in range(geometry.dim):
            out[k] = (a * x[k] + b * z[k]) / denominator
        _keep_inside(out)
    else:  # past an end the weights have opposite signs and cancel
        step = np.empty(geometry.dim)
        _towards(x, gap_x, z, gap_z, step)
        step *= tau * _distance(s)
        _move_or_nan(x, gap_x, step, out)


@kernel
def _translate_into(centre, radii, directions, out):
    centre_gap = gap(centre)
    for t in range(len(radii)):
        length = math.sqrt((directions[t] ** 2).sum())
        for k in range(len(centre)):
            directions[t, k] *= radii[t] / length
        _move_or_nan(centre, centre_gap, directions[t], out[t])


@summing_kernel
def _dot(a, b):
    total = 0.0
    for t in range(len(a)):
        total += a[t] * b[t]
    return total


@summing_kernel
def _dot3(a, b, c):
    total = 0.0
    for t in range(len(a)):
        total += a[t] * b[t] * c[t]
    return total


@kernel
def _newton_system(coordinates, gaps, weights, centre, gradient, hessian):
    """The gradient of −½Σw d² at `centre` and the Hessian of ½Σw d²; returns Σw d².

    The Hessian of ½d² is 1 along the geodesic to the point and κ = d coth d across it. The unit
    vector from c to y is n/|n| with n = (1 − |c|²)(y − c) − |y − c|² c. Works in blocks that stay
    in the nearest cache.
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
            s = norm2[t] / scale
            half_sinh = math.sqrt(s * (s + 1.0)) + 1e-150
            inverse = 1.0 / half_sinh
            distance[t] = log1p(2.0 * (s + half_sinh))
            kappa[t] = distance[t] * (0.5 + s) * inverse if s > 1e-18 else 1.0
            inverse_norm = inverse / scale if s > 1e-18 else 0.0
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
    out[:] = vector
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


@implements(verbs.recentre, BallGeometry)
def _recentre(geometry, points, weights, centres, d2, most_steps):
    layout = verbs.prepared(geometry, points)
    coordinates, gaps = layout[:-1], layout[-1]
    converged = True
    for i in range(len(centres)):
        converged &= _search(coordinates, gaps, weights[i], centres[i], most_steps)
        verbs.distances_to(geometry, layout, 0, len(points), centres[i], d2[i])
    return converged


@kernel
def _search(coordinates, gaps, weights, centre, most_steps):
    """Newton's method in the tangent space, with half steps where a full one overshoots."""
    dim = len(centre)
    gradient, hessian = np.empty(dim), np.empty((dim, dim))
    start, step = centre.copy(), np.zeros(dim)
    value = math.inf
    for _ in range(most_steps):
        new_value = _newton_system(coordinates, gaps, weights, centre, gradient, hessian)
        if new_value > value * (1.0 + 1e-12):
            step *= 0.5
        else:
            value = new_value
            start[:] = centre
            _solve(hessian, gradient, step)
        _move(start, gap(start), step, centre)
        # Quadratic convergence: the error after this step is about its square.
        if math.sqrt((step**2).sum()) < _LAST_STEP + 4e-16 / gap(centre):
            return True
    return False
