"""Hyperbolic space of curvature −1 in the Poincaré ball; d = 2 is the paper's Poincaré disk.

Everything is written in the *gap* 1 − |x|², which is computed without cancellation, so that two
points one part in 10¹² from the boundary still have all the digits of their distance.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import implements, kernel
from rhmm.gaussian.hyperbolic import HyperbolicGaussian, sample_radius
from rhmm.manifolds import verbs
from rhmm.manifolds.manifold import Manifold
from rhmm.manifolds.vector_log import log1p

SMALLEST_GAP = 1e-15
"""Points closer to the boundary, beyond a distance of 35 from the origin, are refused: their
neighbours in double precision are whole units of distance away."""

_MAX_ITERATIONS = 100
_LAST_STEP = 1e-5


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
        if np.iscomplexobj(x) and self.dim == 2:
            x = np.asarray(x)
            x = np.stack([x.real, x.imag], axis=-1)
        return super()._as_array(name, x)

    def belongs(self, x):
        x = self._as_array("x", x)
        return np.isfinite(x).all(axis=-1) & (self._gaps(x) >= SMALLEST_GAP)

    def _why_not(self, point) -> str:
        return (
            f"its norm is {np.linalg.norm(point):.17g}, and a point of the ball has norm below 1 "
            f"(by {SMALLEST_GAP / 2:.0e} at least, the end of double precision)"
        )

    def project(self, x):
        """Pull points on or outside the boundary back into the ball along their radius."""
        x = self._as_array("x", x)
        if not np.isfinite(x).all():
            raise ValueError("x must be finite to be projected into the ball")
        limit = math.sqrt(1.0 - 2 * SMALLEST_GAP)
        norms = np.linalg.norm(x, axis=-1, keepdims=True)
        return np.where(norms > limit, x * (limit / np.maximum(norms, limit)), x)

    def norm(self, x, v):
        x, v = self.points("x", x), self._as_array("v", v)
        return 2.0 * np.linalg.norm(v, axis=-1) / self._gaps(x)

    def _gaps(self, x):
        flat = np.require(x.reshape(-1, self.dim), float, ["C", "W"])
        return _gaps(flat).reshape(x.shape[:-1])

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
    """1 − |x|² to full relative accuracy: the squares are subtracted exactly."""
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
def _gaps(points):
    """`gap` of every point, one coordinate at a time so that it runs in vectors."""
    high, low = np.ones(len(points)), np.zeros(len(points))
    for k in range(points.shape[1]):
        for t in range(len(points)):
            x = points[t, k]
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
def _half_sinh2_into(points, gaps, centre, out):
    """``out[t]`` = sinh²(d/2) = |y − c|² / ((1 − |y|²)(1 − |c|²)), the paper's eq. (18)."""
    scale = 1.0 / gap(centre)
    for t in range(len(points)):
        total = 0.0
        for k in range(len(centre)):
            total += (points[t, k] - centre[k]) ** 2
        out[t] = total * scale / gaps[t]


@kernel
def _distance(s):
    """d from s = sinh²(d/2)."""
    return log1p(2.0 * (s + math.sqrt(s * (s + 1.0))))


@implements(verbs.dist2, BallGeometry)
def _dist2(geometry, x, y):
    return _distance(_separation(x, y) / (gap(x) * gap(y))) ** 2


@implements(verbs.squared_distances, BallGeometry)
def _squared_distances(geometry, points, centres, d2):
    gaps = _gaps(points)
    for i in range(len(centres)):
        row = d2[i]
        _half_sinh2_into(points, gaps, centres[i], row)
        for t in range(len(row)):  # on its own, so that it runs in vectors
            row[t] = _distance(row[t]) ** 2


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
    """From `x` along `v`, given in an orthonormal frame: the Möbius sum x ⊕ tanh(|v|/2) v/|v|."""
    length = 0.0
    for k in range(len(v)):
        length += v[k] * v[k]
    length = math.sqrt(length)
    scale = math.tanh(0.5 * length) / length if length > 0.0 else 0.0
    norm2 = 0.0
    for k in range(len(v)):
        norm2 += (x[k] + scale * v[k]) ** 2
    denominator = norm2 + gap_x / math.cosh(0.5 * length) ** 2
    for k in range(len(v)):
        out[k] = (x[k] * (norm2 + gap_x) + gap_x * scale * v[k]) / denominator
    _keep_inside(out)


@kernel
def _keep_inside(x):
    while gap(x) <= 0.0:
        for k in range(len(x)):
            x[k] *= 1.0 - 2.0**-52


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
    _move(x, gap_x, frame, out)


@implements(verbs.geodesic_into, BallGeometry)
def _geodesic_into(geometry, x, z, tau, out):
    # On the hyperboloid the geodesic is a sum with positive weights; this is that sum in the ball.
    gap_x, gap_z = gap(x), gap(z)
    distance = _distance(_separation(x, z) / (gap_x * gap_z))
    if distance == 0.0:
        for k in range(geometry.dim):
            out[k] = x[k]
        return
    a = math.sinh((1.0 - tau) * distance) / gap_x
    b = math.sinh(tau * distance) / gap_z
    denominator = math.sinh(distance) + a * (2.0 - gap_x) + b * (2.0 - gap_z)
    for k in range(geometry.dim):
        out[k] = 2.0 * (a * x[k] + b * z[k]) / denominator
    _keep_inside(out)


@kernel
def _translate_into(centre, radii, directions, out):
    centre_gap = gap(centre)
    for t in range(len(radii)):
        length = math.sqrt((directions[t] ** 2).sum())
        for k in range(len(centre)):
            directions[t, k] *= radii[t] / length
        _move(centre, centre_gap, directions[t], out[t])


@kernel
def _newton_system(points, gaps, weights, centre, s, distance, kappa, gradient, hessian):
    """The gradient of −½Σw d² at `centre` and the Hessian of ½Σw d²; returns Σw d².

    The Hessian of ½d² is 1 along the geodesic to the point and κ = d coth d across it. The unit
    vector from c to y is n/|n| with n = (1 − |c|²)(y − c) − |y − c|² c.
    """
    centre_gap = gap(centre)
    _half_sinh2_into(points, gaps, centre, s)
    value = 0.0
    across = 0.0
    for t in range(len(points)):
        half_sinh = math.sqrt(s[t] * (s[t] + 1.0)) + 1e-150
        distance[t] = log1p(2.0 * (s[t] + half_sinh))
        kappa[t] = distance[t] * (0.5 + s[t]) / half_sinh if s[t] > 1e-18 else 1.0
    for t in range(len(points)):
        value += weights[t] * distance[t] * distance[t]
        across += weights[t] * kappa[t]
    for t in range(len(points)):  # from here on `distance` and `kappa` carry w, |n| and |n|²
        scale = centre_gap * gaps[t]
        inverse_norm = 1.0 / (scale * math.sqrt(s[t] * (s[t] + 1.0)) + 1e-300)
        distance[t] *= weights[t] * inverse_norm
        kappa[t] = weights[t] * (1.0 - kappa[t]) * inverse_norm * inverse_norm
        s[t] *= scale
    for i in range(len(centre)):
        slope = 0.0
        for t in range(len(points)):
            slope += distance[t] * (centre_gap * (points[t, i] - centre[i]) - s[t] * centre[i])
        gradient[i] = slope
        for j in range(i + 1):
            bend = across if i == j else 0.0
            for t in range(len(points)):
                n_i = centre_gap * (points[t, i] - centre[i]) - s[t] * centre[i]
                n_j = centre_gap * (points[t, j] - centre[j]) - s[t] * centre[j]
                bend += kappa[t] * n_i * n_j
            hessian[i, j] = bend
            hessian[j, i] = bend
    return value


@implements(verbs.recentre, BallGeometry)
def _recentre(geometry, points, weights, centres, d2):
    gaps = _gaps(points)
    converged = True
    for i in range(len(centres)):
        converged &= _recentre_one(points, gaps, weights[i], centres[i], d2[i])
    return converged


@kernel
def _recentre_one(points, gaps, weights, centre, d2):
    """Newton's method in the tangent space, with half steps where a full one overshoots."""
    dim = len(centre)
    distance, kappa = np.empty(len(points)), np.empty(len(points))
    gradient, hessian = np.empty(dim), np.empty((dim, dim))
    start, step = centre.copy(), np.zeros(dim)
    value = math.inf
    converged = False
    for _ in range(_MAX_ITERATIONS):
        new_value = _newton_system(
            points, gaps, weights, centre, d2, distance, kappa, gradient, hessian
        )
        if new_value > value * (1.0 + 1e-12):
            step *= 0.5
        else:
            value = new_value
            start[:] = centre
            step[:] = np.linalg.solve(hessian, gradient)
        _move(start, gap(start), step, centre)
        # Quadratic convergence: the error after this step is about its square.
        if math.sqrt((step**2).sum()) < _LAST_STEP + 4e-16 / gap(centre):
            converged = True
            break
    _half_sinh2_into(points, gaps, centre, d2)
    for t in range(len(d2)):
        d2[t] = _distance(d2[t]) ** 2
    return converged
