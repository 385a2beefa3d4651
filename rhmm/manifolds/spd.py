"""Symmetric positive definite matrices with the affine-invariant metric, the paper's eq. (2)."""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import copy_into, implements, kernel
from rhmm.gaussian.spd import SPDGaussian, sample_eigenvalues
from rhmm.manifolds import verbs
from rhmm.manifolds.blocks import (
    LANES,
    eigen_logs,
    factorise,
    find_eigenvalues,
    load,
    subtract,
    sum_of_squares,
    whiten,
    whiten_alike,
)
from rhmm.manifolds.careful import careful_dist2, cholesky
from rhmm.manifolds.registry import register_manifold
from rhmm.manifolds.spd_matrices import (
    SPDMatrices,
    congruence,
    exp_matrices,
    is_held,
    logs_between,
    travel,
    whitened_eigen,
)
from rhmm.manifolds.spd_mean import gather_logs, gather_pairs, scale_gradient, search_centre
from rhmm.manifolds.spd_normal import as_matrices, normal_into, polar, turn_between
from rhmm.vector_math import squared


class ConeGeometry(NamedTuple):
    size: int


@register_manifold
class SPD(SPDMatrices):
    """P_m, the m×m symmetric positive definite matrices, d² = tr log²(x⁻¹y).

    Tangent vectors are symmetric matrices; their length at x is ‖x^{−½} v x^{−½}‖_F, see `norm`.
    """

    def __init__(self, size: int):
        super().__init__(ConeGeometry, size)
        self.gaussian = SPDGaussian(self.size)

    def norm(self, x, v):
        x, v = self.points("x", x), self._tangents(v)
        lead = self._common_lead(x, "v", v)
        x, v = self._spread(lead, x, v)
        out = np.empty(len(x))
        _norms(x, v, out)
        return out.reshape(lead)[()]

    @property
    def n_centre_sums(self):
        return 2 + self.size**2

    def first_guess(self, points, weights):
        return np.tensordot(weights / weights.sum(), points, axes=1)

    def normal_coordinates(self, centre, points):
        coordinates, log_volume = np.empty((len(points), self.dim)), np.empty(len(points))
        normal_into(centre, points, polar(centre)[1], coordinates, log_volume)
        return coordinates, log_volume

    def _from_normal(self, centre, coordinates):
        root = polar(centre)[0]
        points = root @ exp_matrices(as_matrices(coordinates, self.size)) @ root
        return 0.5 * (points + np.swapaxes(points, 1, 2))

    def draw(self, rng, centre, sigma, size):
        logs = sample_eigenvalues(rng, self.gaussian, sigma, size)
        frames = rng.standard_normal((size, *self.point_shape))
        points = np.empty((size, *self.point_shape))
        _assemble_into(centre, logs, frames, points)
        return points


@implements(verbs.squared_distances, ConeGeometry)
def _squared_distances(geometry, points, centres, d2):
    m = geometry.size
    lower = np.empty((m, m))
    lanes = min(LANES, len(points))
    block, logs, trusted = np.empty((m, m, lanes)), np.empty((m, lanes)), np.empty(lanes, np.bool_)
    for i in range(len(centres)):
        margin = cholesky(centres[i], lower)
        for begin in range(0, len(points), max(lanes, 1)):
            first = min(begin, len(points) - lanes)  # the last block overlaps the one before it
            load(points, first, block)
            subtract(block, centres[i])
            whiten_alike(lower, block)
            _block_logs(block, logs, trusted)
            for lane in range(lanes):
                t = first + lane
                d2[i, t] = sum_of_squares(logs, lane)
                if not (trusted[lane] and margin > 1e-4 and d2[i, t] < math.inf):
                    d2[i, t] = careful_dist2(centres[i], points[t])


@implements(verbs.holds, ConeGeometry)
def _holds(geometry, x):
    return is_held(x)


@implements(verbs.paired_distances, ConeGeometry)
def _paired_distances(geometry, x, y, d2):
    m = geometry.size
    lanes = min(LANES, len(x))
    shape = (m, m, lanes)
    factor, block, other = np.empty(shape), np.empty(shape), np.empty(shape)
    logs, trusted, margins = np.empty((m, lanes)), np.empty(lanes, np.bool_), np.empty(lanes)
    for begin in range(0, len(x), max(lanes, 1)):
        first = min(begin, len(x) - lanes)
        load(x, first, other)
        factorise(other, factor, margins)
        load(y, first, block)
        for i in range(m):
            for j in range(m):
                for lane in range(lanes):
                    block[i, j, lane] -= other[i, j, lane]
        whiten(factor, block)
        _block_logs(block, logs, trusted)
        for lane in range(lanes):
            t = first + lane
            d2[t] = sum_of_squares(logs, lane)
            if not (trusted[lane] and margins[lane] > 1e-4 and d2[t] < math.inf):
                d2[t] = careful_dist2(x[t], y[t])


@kernel
def _block_logs(block, logs, trusted):
    """From L⁻¹(y − x)L⁻ᵀ, x = LLᵀ, the logarithms of the eigenvalues of x⁻¹y.

    They come by log1p, which keeps the digits of nearly equal matrices.
    """
    find_eigenvalues(block)
    eigen_logs(block, logs, trusted)


@implements(verbs.distances_to, ConeGeometry)
def _distances_to(geometry, layout, first, last, centre, d2):
    count = last - first
    verbs.squared_distances(
        geometry,
        layout[first:last],
        centre.reshape((1, *centre.shape)),
        d2[:count].reshape((1, count)),
    )


@implements(verbs.distances_from, ConeGeometry)
def _distances_from(geometry, layout, first, last, centres, d2):
    _measure(geometry, layout, first, last, centres, d2)


@kernel
def _measure(geometry, layout, first, last, centres, d2):
    """Blocks of matrices beside different centres: those of one alone would fill few lanes."""
    m, size = geometry.size, last - first
    if size >= LANES:  # the digits are the same
        for i in range(len(centres)):
            verbs.distances_to(
                geometry, layout, first, last, centres[i], d2[i * size : (i + 1) * size]
            )
        return
    count = len(centres) * size
    lanes = min(LANES, count)
    lower, margins = np.empty(centres.shape), np.empty(len(centres))
    for i in range(len(centres)):
        margins[i] = cholesky(centres[i], lower[i])
    factor, block = np.empty((m, m, lanes)), np.empty((m, m, lanes))
    logs, trusted = np.empty((m, lanes)), np.empty(lanes, np.bool_)
    for begin in range(0, count, max(lanes, 1)):
        start = min(begin, count - lanes)  # the last block overlaps the one before it
        for lane in range(lanes):
            i, t = (start + lane) // size, first + (start + lane) % size
            for j in range(m):
                for k in range(m):
                    factor[j, k, lane] = lower[i, j, k]
                    block[j, k, lane] = layout[t, j, k] - centres[i, j, k]
        whiten(factor, block)
        _block_logs(block, logs, trusted)
        for lane in range(lanes):
            i, t = (start + lane) // size, first + (start + lane) % size
            square = sum_of_squares(logs, lane)
            if not (trusted[lane] and margins[i] > 1e-4 and square < math.inf):
                square = careful_dist2(centres[i], layout[t])
            d2[start + lane] = square


@implements(verbs.normal_coordinates, ConeGeometry)
def _normal_coordinates(geometry, layout, first, last, centre, coordinates, log_volume):
    normal_into(centre, layout[first:last], polar(centre)[1], coordinates, log_volume)


@implements(verbs.frame_turn, ConeGeometry)
def _frame_turn(geometry, start, end, turn):
    turn_between(start, end, turn)


@implements(verbs.weighted_step, ConeGeometry)
def _weighted_step(geometry, layout, first, last, weights, tau, centre):
    m, points = geometry.size, layout[first:last]
    lower, gradient, moved = np.empty((m, m)), np.empty((m, m)), np.empty((m, m))
    margin = cholesky(centre, lower)
    total, _ = gather_logs(points, weights, centre, lower, margin, gradient)
    gradient *= tau
    travel(centre, lower, gradient, moved)
    if is_held(moved):
        copy_into(centre, moved)
    return total


@implements(verbs.weighted_steps, ConeGeometry)
def _weighted_steps(geometry, layout, first, last, weights, taus, centres, totals):
    _take_steps(geometry, layout, first, last, weights, taus, centres, totals)


@kernel
def _take_steps(geometry, layout, first, last, weights, taus, centres, totals):
    n, m, points = len(centres), geometry.size, layout[first:last]
    lower, gradients, margins = np.empty((n, m, m)), np.empty((n, m, m)), np.empty(n)
    moving, found, moved = taus > 0.0, np.empty(n), np.empty((m, m))
    for i in range(n):
        if moving[i]:
            margins[i] = cholesky(centres[i], lower[i])
    gather_pairs(points, weights, moving, centres, lower, margins, gradients, found)
    for i in range(n):
        if moving[i]:
            totals[i] = found[i]
            gradients[i] *= taus[i]
            travel(centres[i], lower[i], gradients[i], moved)
            if is_held(moved):
                copy_into(centres[i], moved)


@implements(verbs.dist2, ConeGeometry)
def _dist2(geometry, x, y):
    m = geometry.size
    d2 = np.empty((1, 1))
    verbs.squared_distances(geometry, y.reshape((1, m, m)), x.reshape((1, m, m)), d2)
    return d2[0, 0]


@kernel
def _norms(x, v, out):
    """‖L⁻¹ v L⁻ᵀ‖_F."""
    m = x.shape[1]
    lower, block = np.empty((m, m)), np.empty((m, m, 1))
    for t in range(len(out)):
        cholesky(x[t], lower)
        copy_into(block[:, :, 0], v[t])
        whiten_alike(lower, block)
        out[t] = math.sqrt((block**2).sum())


@implements(verbs.log_into, ConeGeometry)
def _log_into(geometry, x, y, out):
    m = geometry.size
    lower, values, vectors = np.empty((m, m)), np.empty(m), np.empty((m, m))
    logs_between(x, y, lower, values, vectors)
    congruence(lower, vectors, values, out)


@implements(verbs.exp_into, ConeGeometry)
def _exp_into(geometry, x, v, out):
    m = geometry.size
    lower, values, vectors = np.empty((m, m)), np.empty(m), np.empty((m, m))
    cholesky(x, lower)
    whitened_eigen(lower, v, values, vectors, np.zeros((m, m)))
    for k in range(m):
        values[k] = math.exp(values[k])
    congruence(lower, vectors, values, out)


@implements(verbs.geodesic_into, ConeGeometry)
def _geodesic_into(geometry, x, z, tau, out):
    m = geometry.size
    lower, values, vectors = np.empty((m, m)), np.empty(m), np.empty((m, m))
    logs_between(x, z, lower, values, vectors)
    for k in range(m):
        values[k] = math.exp(tau * values[k])
    congruence(lower, vectors, values, out)


@kernel
def _orthonormalise(frame):
    """Gram–Schmidt on the columns in place, twice, which leaves rounding error only."""
    m = len(frame)
    for j in range(m):
        for _ in range(2):
            for k in range(j):
                overlap = 0.0
                for i in range(m):
                    overlap += frame[i, k] * frame[i, j]
                for i in range(m):
                    frame[i, j] -= overlap * frame[i, k]
        norm2 = 0.0
        for i in range(m):
            norm2 += squared(frame[i, j])
        scale = 1.0 / math.sqrt(norm2)
        for i in range(m):
            frame[i, j] *= scale


@kernel
def _assemble_into(centre, logs, frames, out):
    """``L Q exp(diag(logs)) Qᵀ Lᵀ`` with Q uniform on the orthogonal group."""
    m = len(centre)
    lower = np.empty((m, m))
    cholesky(centre, lower)
    for t in range(len(out)):
        _orthonormalise(frames[t])  # signs of its columns do not matter: they cancel
        congruence(lower, frames[t], np.exp(logs[t]), out[t])


@implements(verbs.recentre, ConeGeometry)
def _recentre(geometry, points, weights, centres, d2, most_steps):
    converged = True
    for i in range(len(centres)):
        converged &= search_centre(points, weights[i], centres[i], most_steps)
    verbs.squared_distances(geometry, points, centres, d2)
    return converged


@implements(verbs.centre_sums, ConeGeometry)
def _centre_sums(geometry, points, weights, centres, sums):
    """Σ w d², the mean curvature, and Σ w log(L⁻¹ y L⁻ᵀ)."""
    m = geometry.size
    lower = np.empty((m, m))
    for i in range(len(centres)):
        margin = cholesky(centres[i], lower)
        gradient = sums[i, 2:].reshape((m, m))
        sums[i, 0], sums[i, 1] = gather_logs(
            points, weights[i], centres[i], lower, margin, gradient
        )


@implements(verbs.centre_step, ConeGeometry)
def _centre_step(geometry, sums, total, share, centre):
    m, gradient = geometry.size, sums[2:].copy().reshape((geometry.size, geometry.size))
    lower, step, moved = np.empty((m, m)), np.empty((m, m)), np.empty((m, m))
    cholesky(centre, lower)
    scale_gradient(gradient, sums[1], total, 1.0, step)
    fall = (2.0 - share) * share * (gradient * step).sum()
    step *= share
    travel(centre, lower, step, moved)
    if not is_held(moved):
        return 0.0
    copy_into(centre, moved)
    return fall
