"""Symmetric positive definite matrices with the affine-invariant metric, the paper's eq. (2)."""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import implements, kernel, piece
from rhmm.gaussian.spd import SPDGaussian, sample_eigenvalues
from rhmm.manifolds import verbs
from rhmm.manifolds.blocks import (
    LANES,
    diagonalise,
    eigen_logs,
    factorise,
    load,
    spread,
    whiten,
)
from rhmm.manifolds.careful import careful_dist2, careful_logs, cholesky, quick_cholesky
from rhmm.manifolds.manifold import Manifold

SMALLEST_MARGIN = 1e-14
"""A Cholesky pivot below this fraction of its diagonal entry is rounding error: the matrix cannot
be told from a singular one, and is refused."""

_ASYMMETRY = 1e-10
_REMAINDER = 1e-9  # the accuracy of a centre of mass
_VALUES_ONLY, _WITH_VECTORS = 1e-17, 1e-28  # tolerances of `diagonalise`


class ConeGeometry(NamedTuple):
    size: int


class SPD(Manifold):
    """P_m, the m×m symmetric positive definite matrices, d² = tr log²(x⁻¹y).

    Tangent vectors are symmetric matrices; their length at x is ‖x^{−½} v x^{−½}‖_F, see `norm`.
    """

    def __init__(self, size: int):
        super().__init__(ConeGeometry, size=size)
        size = self.geometry.size
        self.dim = size * (size + 1) // 2
        self.point_shape = (size, size)
        self.gaussian = SPDGaussian(size)

    def _as_array(self, name, x):
        x = super()._as_array(name, x)
        skew = _largest_skew(self._flat(x))
        if skew == 0.0:
            return x
        if skew > _ASYMMETRY:
            raise ValueError(f"{name} must be symmetric")
        return 0.5 * (x + np.swapaxes(x, -1, -2))

    def belongs(self, x):
        x = super()._as_array("x", x)
        return (_margins(self._flat(x)) > SMALLEST_MARGIN).reshape(x.shape[:-2])

    def _why_not(self, point) -> str:
        if not np.isfinite(point).all():
            return "its entries must be finite"
        return (
            f"its smallest eigenvalue is {np.linalg.eigvalsh(point)[0]:.3g}, and it must be "
            "positive by more than rounding error"
        )

    def project(self, x):
        """Symmetrise, and raise eigenvalues that are not positive to 10⁻¹² of the largest."""
        x = Manifold._as_array(self, "x", x)
        if not np.isfinite(x).all():
            raise ValueError("x must be finite to be projected")
        x = 0.5 * (x + np.swapaxes(x, -1, -2))
        values, vectors = np.linalg.eigh(x)
        largest = np.maximum(np.abs(values).max(axis=-1, keepdims=True), np.finfo(float).tiny)
        raised = np.maximum(values, 1e-12 * largest)
        nearest = (vectors * raised[..., None, :]) @ np.swapaxes(vectors, -1, -2)
        good = self.belongs(x)[..., None, None]
        return np.where(good, x, 0.5 * (nearest + np.swapaxes(nearest, -1, -2)))

    def norm(self, x, v):
        x, v = self.points("x", x), self._tangents(v)
        lead = self._common_lead(x, "v", v)
        x, v = self._spread(lead, x, v)
        out = np.empty(len(x))
        _norms(x, v, out)
        return out.reshape(lead)[()]

    def _first_guess(self, points, weights):
        return np.tensordot(weights / weights.sum(), points, axes=1)

    def _place(self, rng, centre, sigma, size):
        logs = sample_eigenvalues(rng, self.gaussian, sigma, size)
        frames = rng.standard_normal((size, *self.point_shape))
        points = np.empty((size, *self.point_shape))
        _assemble_into(centre, logs, frames, points)
        return points


@kernel
def _largest_skew(points):
    """The largest |x_ij − x_ji| relative to the entries of its matrix; NaN does not count."""
    worst = 0.0
    for t in range(len(points)):
        skew, scale = 0.0, 0.0
        for i in range(points.shape[1]):
            for j in range(i + 1):
                a, b = points[t, i, j], points[t, j, i]
                scale = max(scale, max(abs(a), abs(b)))
                skew = max(skew, abs(a - b))
        if skew > 0.0:
            worst = max(worst, skew / scale)
    return worst


@kernel
def _margins(points):
    """For each matrix its smallest relative Cholesky pivot, or −1 if it is not symmetric."""
    m = points.shape[1]
    out = np.empty(len(points))
    lower = np.empty((m, m))
    for t in range(len(points)):
        x = points[t]
        scale, skew = 0.0, 0.0
        for i in range(m):
            for j in range(m):
                scale = max(scale, abs(x[i, j]))
                skew = max(skew, abs(x[i, j] - x[j, i]))
        if not (scale < math.inf and skew <= _ASYMMETRY * scale):
            out[t] = -1.0
        else:
            out[t] = quick_cholesky(x, lower)
            if out[t] < 1e-8:
                out[t] = cholesky(x, lower)
    return out


@implements(verbs.squared_distances, ConeGeometry)
def _squared_distances(geometry, points, centres, d2):
    m = geometry.size
    lower = np.empty((m, m))
    lanes = min(LANES, len(points))
    factor, block = np.empty((m, m, lanes)), np.empty((m, m, lanes))
    logs, trusted = np.empty((m, lanes)), np.empty(lanes, np.bool_)
    for i in range(len(centres)):
        margin = cholesky(centres[i], lower)
        spread(lower, factor)
        for begin in range(0, len(points), max(lanes, 1)):
            first = min(begin, len(points) - lanes)  # the last block overlaps the one before it
            load(points, first, block)
            _subtract(block, centres[i])
            _block_logs(factor, block, logs, trusted)
            for lane in range(lanes):
                t = first + lane
                d2[i, t] = _sum_of_squares(logs, lane)
                if not (trusted[lane] and margin > 1e-4):
                    d2[i, t] = careful_dist2(centres[i], points[t])


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
        _block_logs(factor, block, logs, trusted)
        for lane in range(lanes):
            t = first + lane
            d2[t] = _sum_of_squares(logs, lane)
            if not (trusted[lane] and margins[lane] > 1e-4):
                d2[t] = careful_dist2(x[t], y[t])


@kernel
def _subtract(block, matrix):
    for i in range(len(matrix)):
        for j in range(len(matrix)):
            block[i, j] -= matrix[i, j]


@kernel
def _block_logs(factor, block, logs, trusted):
    """From y − x and the factors of x: the logarithms of the eigenvalues of x⁻¹y.

    They come from the eigenvalues of L⁻¹(y − x)L⁻ᵀ by log1p, which keeps the digits of nearly equal
    matrices.
    """
    whiten(factor, block)
    diagonalise(block, block, False, _VALUES_ONLY)
    eigen_logs(block, logs, trusted)


@kernel
def _sum_of_squares(logs, lane):
    total = 0.0
    for i in range(len(logs)):
        total += logs[i, lane] * logs[i, lane]
    return total


@implements(verbs.prepared, ConeGeometry)
def _prepared(geometry, points):
    return points.copy()


@implements(verbs.distances_to, ConeGeometry)
def _distances_to(geometry, layout, first, last, centre, d2):
    count = last - first
    verbs.squared_distances(
        geometry,
        layout[first:last],
        centre.reshape((1, *centre.shape)),
        d2[:count].reshape((1, count)),
    )


@implements(verbs.lean, ConeGeometry)
def _lean(geometry, layout, first, last, weights, tau, centre, work):
    m = geometry.size
    lower, gradient = np.empty((m, m)), np.empty((m, m))
    values, vectors = np.empty(m), np.empty((m, m))
    margin = cholesky(centre, lower)
    total, _ = _gather(layout[first:last], weights, centre, lower, margin, work[0], gradient)
    _whitened_eigen(np.eye(m), gradient, values, vectors, np.zeros((m, m)))
    for k in range(m):
        values[k] = math.exp(tau * values[k])
    _congruence(lower, vectors, values, centre)
    return total


@implements(verbs.dist2, ConeGeometry)
def _dist2(geometry, x, y):
    m = geometry.size
    d2 = np.empty((1, 1))
    verbs.squared_distances(geometry, y.reshape((1, m, m)), x.reshape((1, m, m)), d2)
    return d2[0, 0]


@kernel
def _whitened_eigen(lower, x, values, vectors, minus):
    """Eigenvalues and eigenvectors of L⁻¹ (x − minus) L⁻ᵀ, as one block of one lane."""
    m = len(lower)
    shape = (m, m, 1)
    factor, block, rows = np.empty(shape), np.empty(shape), np.empty(shape)
    spread(lower, factor)
    for i in range(m):
        for j in range(m):
            block[i, j, 0] = x[i, j] - minus[i, j]
    whiten(factor, block)
    diagonalise(block, rows, True, _WITH_VECTORS)
    for i in range(m):
        values[i] = block[i, i, 0]
        for j in range(m):
            vectors[j, i] = rows[i, j, 0]


@kernel
def _norms(x, v, out):
    """‖L⁻¹ v L⁻ᵀ‖_F."""
    m = x.shape[1]
    lower, factor, block = np.empty((m, m)), np.empty((m, m, 1)), np.empty((m, m, 1))
    for t in range(len(out)):
        cholesky(x[t], lower)
        spread(lower, factor)
        block[:, :, 0] = v[t]
        whiten(factor, block)
        out[t] = math.sqrt((block**2).sum())


@kernel
def _congruence(lower, vectors, values, out):
    """``L V diag(values) Vᵀ Lᵀ``."""
    frame = lower @ vectors
    m = len(values)
    for i in range(m):
        for j in range(i + 1):
            total = 0.0
            for k in range(m):
                total += frame[i, k] * values[k] * frame[j, k]
            out[i, j] = total
            out[j, i] = total


@kernel
def _logs_between(x, y, lower, logs, vectors):
    """The factor of x, and the eigenvalues and eigenvectors of log(L⁻¹ y L⁻ᵀ)."""
    margin = cholesky(x, lower)
    _whitened_eigen(lower, y, logs, vectors, x)
    if margin > 1e-4 and 1.0 + logs.min() > 1e-4 * (1.0 + logs.max()):
        for k in range(len(logs)):
            logs[k] = math.log1p(logs[k])
    else:
        careful_logs(x, y, logs, vectors)


@implements(verbs.log_into, ConeGeometry)
def _log_into(geometry, x, y, out):
    m = geometry.size
    lower, values, vectors = np.empty((m, m)), np.empty(m), np.empty((m, m))
    _logs_between(x, y, lower, values, vectors)
    _congruence(lower, vectors, values, out)


@implements(verbs.exp_into, ConeGeometry)
def _exp_into(geometry, x, v, out):
    m = geometry.size
    lower, values, vectors = np.empty((m, m)), np.empty(m), np.empty((m, m))
    cholesky(x, lower)
    _whitened_eigen(lower, v, values, vectors, np.zeros((m, m)))
    for k in range(m):
        values[k] = math.exp(values[k])
    _congruence(lower, vectors, values, out)


@implements(verbs.geodesic_into, ConeGeometry)
def _geodesic_into(geometry, x, z, tau, out):
    m = geometry.size
    lower, values, vectors = np.empty((m, m)), np.empty(m), np.empty((m, m))
    _logs_between(x, z, lower, values, vectors)
    for k in range(m):
        values[k] = math.exp(tau * values[k])
    _congruence(lower, vectors, values, out)


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
            norm2 += frame[i, j] ** 2
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
        _congruence(lower, frames[t], np.exp(logs[t]), out[t])


@kernel
def _gather(points, weights, centre, lower, margin, d2, gradient):
    """Σ w log(L⁻¹ y L⁻ᵀ) into `gradient`; returns Σ w d² and the mean curvature.

    In the eigenbasis of the logarithm the Hessian of ½d² is (x/2) coth(x/2) for the difference x
    of each pair of eigenvalues and 1 for each eigenvalue. Averaged over directions without trace
    (the trace direction is flat, with Hessian exactly 1) it gives the second returned number.
    """
    m = len(centre)
    lanes = min(LANES, len(points))
    shape = (m, m, lanes)
    factor, block, rows = np.empty(shape), np.empty(shape), np.empty(shape)
    spread(lower, factor)
    logs, trusted = np.empty((m, lanes)), np.empty(lanes, np.bool_)
    lane_weights, scaled = np.empty(lanes), np.empty(lanes)
    lane_logs, lane_vectors = np.empty(m), np.empty((m, m))
    gradient[:] = 0.0
    value, curvature = 0.0, 0.0
    for begin in range(0, len(points), lanes):
        first = min(begin, len(points) - lanes)
        load(points, first, block)
        _subtract(block, centre)
        whiten(factor, block)
        diagonalise(block, rows, True, _WITH_VECTORS)
        eigen_logs(block, logs, trusted)
        for lane in range(lanes):
            w = weights[first + lane] if first + lane >= begin else 0.0
            lane_weights[lane] = w
            if not (trusted[lane] and margin > 1e-4):
                careful_logs(centre, points[first + lane], lane_logs, lane_vectors)
                logs[:, lane] = lane_logs
                rows[:, :, lane] = lane_vectors.T
            d2[first + lane] = _sum_of_squares(logs, lane)
            value += w * d2[first + lane]
        for i in range(m):
            for j in range(i):
                for lane in range(lanes):  # (x/2) coth(x/2) to 3% in a form that runs in vectors
                    x2 = (logs[i, lane] - logs[j, lane]) ** 2
                    scaled[lane] = lane_weights[lane] * (math.sqrt(1.0 + 0.25 * x2) - 1.0)
                curvature += scaled.sum()
        for k in range(m):
            for i in range(m):
                for lane in range(lanes):
                    scaled[lane] = lane_weights[lane] * logs[k, lane] * rows[k, i, lane]
                for j in range(i + 1):
                    total = 0.0
                    for lane in range(lanes):
                        total += scaled[lane] * rows[k, j, lane]
                    gradient[i, j] += total
    for i in range(m):
        for j in range(i):
            gradient[j, i] = gradient[i, j]
    return value, curvature


@implements(verbs.recentre, ConeGeometry)
def _recentre(geometry, points, weights, centres, d2, most_steps):
    converged = True
    for i in range(len(centres)):
        converged &= _search(points, weights[i], centres[i], d2[i], most_steps)
    verbs.squared_distances(geometry, points, centres, d2)
    return converged


@piece
def _search(points, weights, centre, d2, most_steps):
    """Gradient steps divided by the mean curvature, which is nearly Newton's method on isotropic
    data; half steps where one overshoots."""
    m = len(centre)
    total = weights.sum()
    directions = max(m * (m + 1) // 2 - 1, 1)
    lower, gradient, step = np.empty((m, m)), np.empty((m, m)), np.zeros((m, m))
    values, vectors = np.empty(m), np.empty((m, m))
    identity, zero = np.eye(m), np.zeros((m, m))
    start, start_lower = centre.copy(), np.empty((m, m))
    value, slope, damping = math.inf, math.inf, 1.0
    length, previous = math.inf, math.inf
    for _ in range(most_steps):
        margin = cholesky(centre, lower)
        new_value, curvature = _gather(points, weights, centre, lower, margin, d2, gradient)
        new_slope = math.sqrt((gradient**2).sum())
        # Overshot: half of the step from the same start. (Near the end the value is all rounding
        # error, and only the gradient can tell.)
        if new_value > value * (1.0 + 1e-12) and new_slope > slope:
            damping *= 0.5
            step *= 0.5
        else:
            value, slope = new_value, new_slope
            start[:] = centre
            start_lower[:] = lower
            trace = np.trace(gradient) / m
            kappa = 1.0 + curvature / (total * directions)
            step[:] = damping * (gradient - trace * identity) / (kappa * total)
            step += trace / total * identity
        _whitened_eigen(identity, step, values, vectors, zero)
        for k in range(m):
            values[k] = math.exp(values[k])
        _congruence(start_lower, vectors, values, centre)
        before, previous, length = previous, length, math.sqrt((step**2).sum())
        # Linear convergence: what remains after this step is about its length · rate/(1 − rate).
        # While a fast direction hides a slow one the ratio of two steps is not yet the rate, so the
        # slower of the last two counts.
        rate = max(length / previous, previous / before)
        settled = before < 0.1 and rate < 1.0 and length * rate < _REMAINDER * (1.0 - rate)
        # An ill-conditioned centre is known no better than its entries are rounded.
        if settled or length < 1e-13 + 1e-16 / margin:
            return True
    return False
