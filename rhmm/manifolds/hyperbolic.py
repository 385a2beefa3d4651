"""Hyperbolic space of curvature −1 in the Poincaré ball; d = 2 is the paper's Poincaré disk."""

import math
from collections import deque
from typing import NamedTuple

import numpy as np

from rhmm._jit import implements, kernel, lean_kernel
from rhmm.gaussian.hyperbolic import (
    HyperbolicGaussian,
    sample_radii,
    sample_radius,
    width_near,
)
from rhmm.manifolds import verbs
from rhmm.manifolds.ball import (
    SMALLEST_GAP,
    distance_from,
    distance_of,
    gap,
    gaps_into,
    gaps_of,
    keep_inside,
    move_or_nan,
    separation,
    towards,
    turn_between,
    which_inside,
)
from rhmm.manifolds.ball_groups import ROOM, measure, pull_centre, separations, take_steps
from rhmm.manifolds.hyperbolic_mean import newton_step, newton_sums, search_centre
from rhmm.manifolds.manifold import Manifold
from rhmm.manifolds.registry import register_manifold
from rhmm.validation import is_plain
from rhmm.vector_math import log_one_more, log_sinhc, squared


class BallGeometry(NamedTuple):
    dim: int


@register_manifold
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

    def as_array(self, name, x):
        if self.dim == 2 and not is_plain(x):
            x = _pairs(name, x)
        return super().as_array(name, x)

    def belongs(self, x):
        x = self.as_array("x", x)
        return which_inside(x.reshape(-1, self.dim)).reshape(x.shape[:-1])

    def why_not(self, point) -> str:
        return (
            f"its norm is {math.hypot(*point):.17g}, and a point of the ball has norm below 1 "
            f"(by {SMALLEST_GAP / 2:.0e} at least, the end of double precision)"
        )

    def project(self, x):
        """Pull points on or outside the boundary back into the ball along their radius."""
        x = self.as_array("x", x)
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
        return gaps_of(coordinates).reshape(x.shape[:-1])

    @property
    def n_centre_sums(self):
        return 1 + self.dim + self.dim**2

    def layout(self, points):
        return _in_rows(points)

    def approach(self, points, weights, centres, d2, each=map, layout=None):
        centres, d2 = centres.copy(), d2.copy()
        rows = self.layout(points) if layout is None else layout

        def step(i: int) -> None:
            _approach(self.geometry, points, rows, weights[i], centres[i], d2[i])

        deque(each(step, range(len(centres))), maxlen=0)
        return centres, d2

    def first_guess(self, points, weights):
        # The centre of mass of the hyperboloid, back in the ball.
        gaps = self._gaps(points)
        time = (weights * (2.0 - gaps) / gaps).sum()
        space = ((2.0 * weights / gaps)[:, None] * points).sum(axis=0)
        length = math.sqrt(max(time**2 - space @ space, (time * SMALLEST_GAP) ** 2))
        return self.project(space / (length + time))

    def normal_coordinates(self, centre, points):
        coordinates, log_volume = np.empty(points.shape), np.empty(len(points))
        _normal_into(centre, points, coordinates, log_volume)
        return coordinates, log_volume

    def _from_normal(self, centre, coordinates):
        points = np.empty(coordinates.shape)
        _from_normal_into(centre, coordinates, points)
        return points

    def draw(self, rng, centre, sigma, size):
        radii = sample_radius(rng, self.gaussian, sigma, size)
        directions = rng.standard_normal((size, self.dim))
        points = np.empty((size, self.dim))
        _translate_into(centre, radii, directions, points)
        return points

    def draw_states(self, rng, centres, sigmas, states, out):
        near = np.array([width_near(self.gaussian, sigma) for sigma in sigmas.tolist()])
        _draw_states(rng, centres, sigmas, near, states, out)


def _pairs(name, x):
    """Of complex numbers real and imaginary parts; anything else as it is."""
    if not isinstance(x, np.ndarray):
        try:
            x = np.asarray(x)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must be an array of numbers, not {x!r}") from None
    return np.stack([x.real, x.imag], axis=-1) if np.iscomplexobj(x) else x


@implements(verbs.dist2, BallGeometry)
def _dist2(geometry, x, y):
    return squared(distance_from(separation(x, y), gap(x) * gap(y)))


@kernel
def _in_rows(points):
    """Coordinates in rows and below them the gaps, shape (d + 1, T): loops over points run along
    rows, in vectors."""
    rows = np.empty((points.shape[1] + 1, len(points)))
    _write_rows(points, rows, np.empty(len(points)))
    return rows


@lean_kernel
def _write_rows(points, rows, work):
    count, dim = points.shape
    for k in range(dim):
        row = rows[k]
        for t in range(count):
            row[t] = points[t, k]
    gaps_into(rows[:dim, :count], rows[dim, :count], work[:count])


@implements(verbs.holds, BallGeometry)
def _holds(geometry, x):
    return gap(x) >= SMALLEST_GAP


@implements(verbs.prepared, BallGeometry)
def _prepared(geometry, points):
    """`_in_rows`, and below it five rows of working memory for `weighted_step`."""
    dim, count = geometry.dim, len(points)
    layout = np.empty((dim + 6, max(count, 2 * dim, ROOM)))
    _write_rows(points, layout, layout[dim + 1])
    return layout


@implements(verbs.distances_to, BallGeometry)
def _distances_to(geometry, layout, first, last, centre, d2):
    """From sinh²(d/2) = |y − c|² / ((1 − |y|²)(1 − |c|²)), eq. (18)."""
    separations(layout, first, last, centre, d2)
    gaps, centre_gap = layout[geometry.dim, first:last], gap(centre)
    for t in range(len(gaps)):
        d2[t] = squared(distance_from(d2[t], centre_gap * gaps[t]))


@implements(verbs.distances_from, BallGeometry)
def _distances_from(geometry, layout, first, last, centres, d2):
    measure(layout, first, last, centres, d2)


@implements(verbs.weighted_step, BallGeometry)
def _weighted_step(geometry, layout, first, last, weights, tau, centre):
    dim, centre_gap = geometry.dim, gap(centre)
    work = layout[dim + 1 :]
    norm2, d2, pull = work[0], work[1], work[2]
    separations(layout, first, last, centre, norm2)
    gaps = layout[dim, first:last]
    for t in range(len(gaps)):
        product = centre_gap * gaps[t]
        # No 0/0 where a point is the centre: d = 0 there anyway. At the rim the product is 1e-31,
        # and the square times it must not underflow either.
        square = max(norm2[t], 1e-270)
        half_sinh = math.sqrt(square * (square + product))
        distance = log_one_more(2.0 * (square + half_sinh), product)
        d2[t] = distance * distance
        pull[t] = weights[t] * distance / half_sinh
    total, inwards = 0.0, 0.0
    for t in range(len(gaps)):
        total += weights[t] * d2[t]
        inwards += pull[t] * norm2[t]
    pull_centre(layout, first, last, pull, inwards, tau, centre, work[4])
    return total


@implements(verbs.weighted_steps, BallGeometry)
def _weighted_steps(geometry, layout, first, last, weights, taus, centres, totals):
    take_steps(layout, first, last, weights, taus, centres, totals)


@lean_kernel
def _geodesic_weights(s, distance, tau, gap_x, gap_z):
    """The numbers a, b and denominator of x #_τ z = (a x + b z)/denominator.

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
    distance = distance_of(towards(x, gap_x, y, gap(y), out))
    for k in range(geometry.dim):
        out[k] *= 0.5 * gap_x * distance


@implements(verbs.exp_into, BallGeometry)
def _exp_into(geometry, x, v, out):
    gap_x = gap(x)
    frame = np.empty(geometry.dim)
    for k in range(geometry.dim):
        frame[k] = 2.0 * v[k] / gap_x
    move_or_nan(x, gap_x, frame, out)


@implements(verbs.geodesic_into, BallGeometry)
def _geodesic_into(geometry, x, z, tau, out):
    gap_x, gap_z = gap(x), gap(z)
    s = separation(x, z) / (gap_x * gap_z)
    if s == 0.0:
        for k in range(geometry.dim):
            out[k] = x[k]
        return
    if 0.0 <= tau <= 1.0:
        a, b, denominator = _geodesic_weights(s, distance_of(s), tau, gap_x, gap_z)
        for k in range(geometry.dim):
            out[k] = (a * x[k] + b * z[k]) / denominator
        keep_inside(out)
    else:  # past an end the weights have opposite signs and cancel
        step = np.empty(geometry.dim)
        towards(x, gap_x, z, gap_z, step)
        step *= tau * distance_of(s)
        move_or_nan(x, gap_x, step, out)


@kernel
def _translate_into(centre, radii, directions, out):
    centre_gap = gap(centre)
    for t in range(len(radii)):
        _go(centre, centre_gap, radii[t], directions[t], out[t])


@kernel
def _go(centre, centre_gap, radius, direction, out):
    """The point at this distance from `centre` in this direction, whose length is changed."""
    length = math.sqrt((direction**2).sum())
    for k in range(len(centre)):
        direction[k] *= radius / length
    move_or_nan(centre, centre_gap, direction, out)


@kernel
def _draw_states(rng, centres, sigmas, near, states, out):
    """Draw as `Hyperbolic.draw` does for each state: first all radii, then the directions."""
    dim = out.shape[1]
    room, direction = np.empty(len(states)), np.empty(dim)
    for i in range(len(centres)):
        count = 0
        for t in range(len(states)):
            count += states[t] == i
        radii, used, centre_gap = room[:count], 0, gap(centres[i])
        sample_radii(rng, dim, sigmas[i], near[i], radii)
        for t in range(len(states)):
            if states[t] == i:
                for k in range(dim):
                    direction[k] = rng.standard_normal()
                _go(centres[i], centre_gap, radii[used], direction, out[t])
                used += 1


@kernel
def _normal_into(centre, points, coordinates, log_volume):
    """At the distance r from the centre, Exp enlarges d − 1 of the d directions by sinh(r)/r."""
    dim, centre_gap = points.shape[1], gap(centre)
    for t in range(len(points)):
        distance = distance_of(
            towards(centre, centre_gap, points[t], gap(points[t]), coordinates[t])
        )
        for k in range(dim):
            coordinates[t, k] *= distance
        log_volume[t] = (dim - 1) * log_sinhc(distance)


@kernel
def _from_normal_into(centre, coordinates, out):
    centre_gap = gap(centre)
    for t in range(len(out)):
        move_or_nan(centre, centre_gap, coordinates[t], out[t])


@implements(verbs.normal_coordinates, BallGeometry)
def _normal_coordinates(geometry, layout, first, last, centre, coordinates, log_volume):
    _normal_into(
        centre,
        np.ascontiguousarray(layout[: geometry.dim, first:last].T),
        coordinates,
        log_volume,
    )


@implements(verbs.frame_turn, BallGeometry)
def _frame_turn(geometry, start, end, turn):
    turn_between(start, end, turn)


@implements(verbs.recentre, BallGeometry)
def _recentre(geometry, points, weights, centres, d2, most_steps):
    rows = _in_rows(points)
    converged = True
    for i in range(len(centres)):
        converged &= search_centre(geometry, rows, weights[i], centres[i], d2[i], most_steps)
    return converged


@kernel
def _approach(geometry, points, rows, weights, centre, d2):
    verbs.approach(geometry, points, rows, weights, centre, d2)


@implements(verbs.approach, BallGeometry)
def _approach_one(geometry, points, layout, weights, centre, d2):
    sums = np.empty(1 + geometry.dim + geometry.dim * geometry.dim)
    newton_sums(layout, weights, centre, d2, sums)
    newton_step(sums, 1.0, centre)
    verbs.distances_to(geometry, layout, 0, len(points), centre, d2)


@implements(verbs.centre_sums, BallGeometry)
def _centre_sums(geometry, points, weights, centres, sums):
    rows, d2 = _in_rows(points), np.empty(len(points))
    for i in range(len(centres)):
        verbs.distances_to(geometry, rows, 0, len(points), centres[i], d2)
        newton_sums(rows, weights[i], centres[i], d2, sums[i])


@implements(verbs.centre_step, BallGeometry)
def _centre_step(geometry, sums, total, share, centre):
    return newton_step(sums, share, centre)
