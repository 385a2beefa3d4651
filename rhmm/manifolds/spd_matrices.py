"""What all manifolds of symmetric positive definite matrices share: points, and eigensystems."""

import math

import numpy as np

from rhmm._jit import copy_into, kernel
from rhmm.manifolds.blocks import (
    LANES,
    eigen_logs,
    find_eigensystems,
    whiten_alike,
)
from rhmm.manifolds.careful import careful_logs, cholesky, quick_cholesky
from rhmm.manifolds.manifold import Manifold

SMALLEST_MARGIN = 1e-14
"""A Cholesky pivot below this fraction of its diagonal entry is rounding error: the matrix cannot
be told from a singular one, and is refused."""

_ASYMMETRY = 1e-10
_SHORT = 0.25
"""The norm up to which `travel` sums up a series."""
_SMALLEST_ENTRY = 1e-300
"""A matrix whose largest entry is smaller is refused: its numbers lose digits, its inverse
overflows."""


class SPDMatrices(Manifold):
    """A manifold whose points are m×m symmetric positive definite matrices, shape (m, m)."""

    def __init__(self, geometry_class: type, size: int):
        super().__init__(geometry_class, size=size)
        size = self.geometry.size
        self.dim = size * (size + 1) // 2
        self.point_shape = (size, size)
        self.n_sensors = size

    @property
    def origin(self):
        return np.eye(self.size)

    def rearranged(self, points, order):
        order = np.asarray(order)
        return np.ascontiguousarray(points[..., order[:, None], order])

    def as_array(self, name, x):
        x = super().as_array(name, x)
        skew = _largest_skew(self._flat(x))
        if skew == 0.0:
            return x
        if skew > _ASYMMETRY:
            raise ValueError(f"{name} must be symmetric")
        return 0.5 * (x + np.swapaxes(x, -1, -2))

    def belongs(self, x):
        x = super().as_array("x", x)
        return (_margins(self._flat(x)) > SMALLEST_MARGIN).reshape(x.shape[:-2])

    def why_not(self, point) -> str:
        if not np.isfinite(point).all():
            return "its entries must be finite"
        if 0.0 < np.abs(point).max() < _SMALLEST_ENTRY:
            return f"its largest entry must be at least {_SMALLEST_ENTRY:g}"
        return (
            f"its smallest eigenvalue is {np.linalg.eigvalsh(point)[0]:.3g}, and it must be "
            "positive by more than rounding error"
        )

    def project(self, x):
        """Symmetrise, and raise eigenvalues that are not positive to 10⁻¹² of the largest."""
        x = Manifold.as_array(self, "x", x)
        if not np.isfinite(x).all():
            raise ValueError("x must be finite to be projected")
        x = 0.5 * (x + np.swapaxes(x, -1, -2))
        values, vectors = np.linalg.eigh(x)
        least = 1e13 * _SMALLEST_ENTRY  # so that what is raised belongs, also from a zero matrix
        largest = np.maximum(np.abs(values).max(axis=-1, keepdims=True), least)
        raised = np.maximum(values, 1e-12 * largest)
        nearest = (vectors * raised[..., None, :]) @ np.swapaxes(vectors, -1, -2)
        good = self.belongs(x)[..., None, None]
        return np.where(good, x, 0.5 * (nearest + np.swapaxes(nearest, -1, -2)))


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
def _margin(x, lower):
    """The smallest relative Cholesky pivot of `x`, or −1 if it is not symmetric or too small."""
    scale, skew = 0.0, 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            scale = max(scale, abs(x[i, j]))
            skew = max(skew, abs(x[i, j] - x[j, i]))
    if not (_SMALLEST_ENTRY <= scale < math.inf and skew <= _ASYMMETRY * scale):
        return -1.0
    margin = quick_cholesky(x, lower)
    if margin >= 1e-8:
        return margin
    for i in range(len(x)):  # beside huge entries, a tiny one on the diagonal misleads pairs, too
        for j in range(i):
            if not abs(x[i, j]) / math.sqrt(x[i, i]) < math.sqrt(x[j, j]):
                return -1.0
    return cholesky(x, lower)


@kernel
def _margins(points):
    """`_margin` of each matrix."""
    m = points.shape[1]
    out = np.empty(len(points))
    lower = np.empty((m, m))
    for t in range(len(points)):
        out[t] = _margin(points[t], lower)
    return out


@kernel
def is_held(x):
    """Whether double precision can work with the matrix `x`."""
    return _margin(x, np.empty(x.shape)) > SMALLEST_MARGIN


@kernel
def whitened_eigen(lower, x, values, vectors, minus):
    """Eigenvalues and eigenvectors of L⁻¹ (x − minus) L⁻ᵀ, as one block of one lane."""
    m = len(lower)
    block, rows = np.empty((m, m, 1)), np.empty((m, m, 1))
    for i in range(m):
        for j in range(m):
            block[i, j, 0] = x[i, j] - minus[i, j]
    whiten_alike(lower, block)
    find_eigensystems(block, rows)
    for i in range(m):
        values[i] = block[i, i, 0]
        for j in range(m):
            vectors[j, i] = rows[i, j, 0]


@kernel
def congruence(lower, vectors, values, out):
    """``L V diag(values) Vᵀ Lᵀ``."""
    m = len(values)
    frame = np.zeros((m, m))
    for i in range(m):
        for k in range(i + 1):
            for j in range(m):
                frame[i, j] += lower[i, k] * vectors[k, j]
    assemble(frame, values, out)


@kernel
def assemble(frame, values, out):
    """``F diag(values) Fᵀ``."""
    m = len(values)
    for i in range(m):
        for j in range(i + 1):
            total = 0.0
            for k in range(m):
                total += frame[i, k] * values[k] * frame[j, k]
            out[i, j] = total
            out[j, i] = total


@kernel
def travel(x, lower, step, out):
    """``L exp(step) Lᵀ``, x = LLᵀ: where the symmetric matrix `step` leads to in the frame L."""
    m = len(step)
    norm = 0.0
    for i in range(m):
        for j in range(m):
            norm += step[i, j] * step[i, j]
    norm = math.sqrt(norm)
    if not norm < _SHORT:
        values, vectors = np.empty(m), np.empty((m, m))
        whitened_eigen(np.eye(m), step, values, vectors, np.zeros((m, m)))
        for k in range(m):
            values[k] = math.exp(values[k])
        congruence(lower, vectors, values, out)
        return
    # Most steps of a learner are short. exp(S) − 1 = S(1 + S/2(1 + S/3(…))), from the inside.
    order, term = 1, norm
    while term > 1e-18:
        order += 1
        term *= norm / order
    series, product = np.zeros((m, m)), np.empty((m, m))
    for k in range(order, 0, -1):
        for i in range(m):
            for j in range(m):
                product[i, j] = step[i, j]
            for h in range(m):
                for j in range(m):
                    product[i, j] += step[i, h] * series[h, j]
        for i in range(m):
            for j in range(m):
                series[i, j] = product[i, j] / k
    for i in range(m):  # L (exp(S) − 1)
        for j in range(m):
            product[i, j] = 0.0
        for k in range(i + 1):
            for j in range(m):
                product[i, j] += lower[i, k] * series[k, j]
    for i in range(m):
        for j in range(i + 1):
            total = 0.0
            for k in range(j + 1):
                total += product[i, k] * lower[j, k]
            out[i, j] = x[i, j] + total
            out[j, i] = out[i, j]


@kernel
def logs_between(x, y, lower, logs, vectors):
    """The factor of x, and the eigenvalues and eigenvectors of log(L⁻¹ y L⁻ᵀ)."""
    margin = cholesky(x, lower)
    whitened_eigen(lower, y, logs, vectors, x)
    if margin > 1e-4 and 1.0 + logs.min() > 1e-4 * (1.0 + logs.max()):
        for k in range(len(logs)):
            logs[k] = math.log1p(logs[k])
    else:
        careful_logs(x, y, logs, vectors)


@kernel
def log_matrices(points):
    """The logarithms of SPD matrices, shape (T, m, m)."""
    count, m = len(points), points.shape[1]
    lanes = min(LANES, count)
    block, rows = np.empty((m, m, lanes)), np.empty((m, m, lanes))
    logs, trusted, exponents = np.empty((m, lanes)), np.empty(lanes, np.bool_), np.empty(lanes)
    lane_logs, frame, identity = np.empty(m), np.empty((m, m)), np.eye(m)
    out = np.empty(points.shape)
    for begin in range(0, count, max(lanes, 1)):
        first = min(begin, count - lanes)  # the last block overlaps the one before it
        for lane in range(lanes):
            # Scaled by a power of two, which changes no digit, eigenvalues are around 1.
            x = points[first + lane]
            exponents[lane] = math.frexp(np.trace(x) / m)[1]
            scale = 2.0 ** -exponents[lane]
            for i in range(m):
                for j in range(m):
                    block[i, j, lane] = scale * x[i, j] - identity[i, j]
        find_eigensystems(block, rows)
        eigen_logs(block, logs, trusted)
        for lane in range(lanes):
            if not trusted[lane]:
                scaled = points[first + lane] * 2.0 ** -exponents[lane]
                careful_logs(identity, scaled, lane_logs, frame)
                copy_into(logs[:, lane], lane_logs)
                copy_into(rows[:, :, lane], frame.T)
            copy_into(frame, rows[:, :, lane].T)
            for k in range(m):
                lane_logs[k] = logs[k, lane] + exponents[lane] * math.log(2.0)
            assemble(frame, lane_logs, out[first + lane])
    return out


@kernel
def exp_matrices(logs):
    """The exponentials of symmetric matrices, shape (T, m, m)."""
    m = logs.shape[1]
    values, frame, zero, out = np.empty(m), np.empty((m, m)), np.zeros((m, m)), np.empty(logs.shape)
    for t in range(len(logs)):
        whitened_eigen(np.eye(m), logs[t], values, frame, zero)
        assemble(frame, np.exp(values), out[t])
    return out
