"""Sums of logarithms of SPD matrices, and the centre of mass that they lead to."""

import math

import numpy as np

from rhmm._jit import copy_into, kernel
from rhmm.manifolds.blocks import (
    LANES,
    eigen_logs,
    find_eigensystems,
    load_chosen,
    load_pairs,
    subtract,
    sum_of_squares,
    whiten,
    whiten_alike,
)
from rhmm.manifolds.careful import careful_logs, cholesky
from rhmm.manifolds.spd_matrices import travel
from rhmm.vector_math import squared

_REMAINDER = 1e-9
"""The accuracy of a centre of mass, as a distance."""
_NEGLIGIBLE = 1e-18
"""Points whose weights, all together, are below this share of the sum change no digit."""


@kernel
def _that_count(weights):
    """The indices of the points whose weights change a digit of weighted sums.

    Of a hidden Markov model on matrices most points belong to one state beyond doubt: they need no
    eigenvectors at the means of the others.
    """
    least = _NEGLIGIBLE * weights.sum() / max(len(weights), 1)
    chosen, count = np.empty(len(weights), np.int64), 0
    for t in range(len(weights)):
        if weights[t] > least:
            chosen[count] = t
            count += 1
    return chosen[:count]


@kernel
def gather_logs(points, weights, centre, lower, margin, gradient):
    """Σ w log(L⁻¹ y L⁻ᵀ) into `gradient`, shape (m, m); returns Σ w d² and the mean curvature.

    `points` has shape (T, m, m), `weights` (T,); `lower` and `margin` are the Cholesky factor of
    `centre` and what `cholesky` returned.

    In the eigenbasis of the logarithm the Hessian of ½d² is (x/2) coth(x/2) for the difference x
    of each pair of eigenvalues and 1 for each eigenvalue. Averaged over directions without trace
    (the trace direction is flat, with Hessian exactly 1) it gives the second returned number.
    """
    m = len(centre)
    chosen = _that_count(weights)
    count = len(chosen)
    lanes = min(LANES, count)
    block, rows = np.empty((m, m, lanes)), np.empty((m, m, lanes))
    logs, trusted = np.empty((m, lanes)), np.empty(lanes, np.bool_)
    lane_weights, scaled, curvatures = np.empty(lanes), np.empty(lanes), np.zeros(lanes)
    sums = np.zeros((m, m, lanes))  # by lane: additions into one number would not run in vectors
    lane_logs, lane_vectors = np.empty(m), np.empty((m, m))
    value = 0.0
    for begin in range(0, count, max(lanes, 1)):
        first = min(begin, count - lanes)  # the last block overlaps the one before it
        load_chosen(points, chosen, first, block)
        subtract(block, centre)
        whiten_alike(lower, block)
        find_eigensystems(block, rows)
        eigen_logs(block, logs, trusted)
        for lane in range(lanes):
            t = chosen[first + lane]
            w = weights[t] if first + lane >= begin else 0.0
            lane_weights[lane] = w
            square = sum_of_squares(logs, lane)
            if not (trusted[lane] and margin > 1e-4 and square < math.inf):
                careful_logs(centre, points[t], lane_logs, lane_vectors)
                copy_into(logs[:, lane], lane_logs)
                copy_into(rows[:, :, lane], lane_vectors.T)
                square = sum_of_squares(logs, lane)
            value += w * square
        for i in range(m):
            for j in range(i):
                for lane in range(lanes):  # (x/2) coth(x/2) to 3% in a form that runs in vectors
                    x2 = squared(logs[i, lane] - logs[j, lane])
                    curvatures[lane] += lane_weights[lane] * (math.sqrt(1.0 + 0.25 * x2) - 1.0)
        for k in range(m):
            for i in range(m):
                for lane in range(lanes):
                    scaled[lane] = lane_weights[lane] * logs[k, lane] * rows[k, i, lane]
                for j in range(i + 1):
                    for lane in range(lanes):
                        sums[i, j, lane] += scaled[lane] * rows[k, j, lane]
    for i in range(m):
        for j in range(i + 1):
            total = 0.0
            for lane in range(lanes):
                total += sums[i, j, lane]
            gradient[i, j] = gradient[j, i] = total
    return value, curvatures.sum()


@kernel
def gather_pairs(points, weights, moving, centres, lower, margins, gradients, totals):
    """`gather_logs` of several centres (N, m, m) at once: ``gradients[i]`` becomes
    Σ w log(L⁻¹ y L⁻ᵀ), shape (m, m), and ``totals[i]`` Σ w d², with weights (N, T).

    Blocks hold points beside different centres: of a few points, those that count for one centre
    would fill few lanes. Only the centres that are `moving` (N,) are looked at.
    """
    n, m = len(centres), centres.shape[1]
    pairs, count = np.empty((n * len(points), 2), np.int64), 0
    for i in range(n):
        gradients[i], totals[i] = 0.0, 0.0
        if moving[i]:
            for t in _that_count(weights[i]):
                pairs[count, 0], pairs[count, 1] = i, t
                count += 1
    lanes = min(LANES, count)
    shape = (m, m, lanes)
    factor, block, rows = np.empty(shape), np.empty(shape), np.empty(shape)
    logs, trusted, scaled = np.empty((m, lanes)), np.empty(lanes, np.bool_), np.empty(lanes)
    lane_logs, lane_vectors = np.empty(m), np.empty((m, m))
    for begin in range(0, count, max(lanes, 1)):
        first = min(begin, count - lanes)  # the last block overlaps the one before it
        load_pairs(points, centres, lower, pairs, first, factor, block)
        whiten(factor, block)
        find_eigensystems(block, rows)
        eigen_logs(block, logs, trusted)
        for lane in range(lanes):
            i, t = pairs[first + lane]
            square = sum_of_squares(logs, lane)
            if not (trusted[lane] and margins[i] > 1e-4 and square < math.inf):
                careful_logs(centres[i], points[t], lane_logs, lane_vectors)
                copy_into(logs[:, lane], lane_logs)
                copy_into(rows[:, :, lane], lane_vectors.T)
                square = sum_of_squares(logs, lane)
            if first + lane >= begin:
                totals[i] += weights[i, t] * square
        block[:] = 0.0
        for k in range(m):
            for i in range(m):
                for lane in range(lanes):
                    scaled[lane] = logs[k, lane] * rows[k, i, lane]
                for j in range(i + 1):
                    for lane in range(lanes):
                        block[i, j, lane] += scaled[lane] * rows[k, j, lane]
        for lane in range(begin - first, lanes):
            i, t = pairs[first + lane]
            for j in range(m):
                for k in range(j + 1):
                    gradients[i, j, k] += weights[i, t] * block[j, k, lane]
    for i in range(n):
        for j in range(m):
            for k in range(j):
                gradients[i, k, j] = gradients[i, j, k]


@kernel
def scale_gradient(gradient, curvature, total, damping, step):
    """The gradient divided by the mean curvature where space is curved, into `step` (m, m).

    `gradient` and `curvature` come from `gather_logs`, `total` is Σ w. Only the part without trace
    is damped: the trace direction is flat, where a step ends at the minimum.
    """
    m = len(gradient)
    directions = max(m * (m + 1) // 2 - 1, 1)
    trace = np.trace(gradient) / m
    kappa = 1.0 + curvature / (total * directions)
    for i in range(m):
        for j in range(m):
            part = trace if i == j else 0.0
            step[i, j] = damping * (gradient[i, j] - part) / (kappa * total) + part / total


@kernel
def search_centre(points, weights, centre, most_steps):
    """Move `centre` to the centre of mass; returns whether the search converged.

    Gradient steps are divided by the mean curvature, which is nearly Newton's method on isotropic
    data; where one overshoots, half of it is tried.
    """
    m = len(centre)
    total = weights.sum()
    lower, gradient, step = np.empty((m, m)), np.empty((m, m)), np.zeros((m, m))
    start, start_lower = centre.copy(), np.empty((m, m))
    value, slope, damping = math.inf, math.inf, 1.0
    length, previous = math.inf, math.inf
    for _ in range(most_steps):
        margin = cholesky(centre, lower)
        new_value, curvature = gather_logs(points, weights, centre, lower, margin, gradient)
        new_slope = math.sqrt((gradient**2).sum())
        # Overshot: half of the step from the same start. Near the end the value is all rounding
        # error, and only the gradient can tell. Both are NaN where a step left the manifold.
        if not (new_value <= value * (1.0 + 1e-12) or new_slope <= slope):
            damping *= 0.5
            step *= 0.5
        else:
            value, slope = new_value, new_slope
            copy_into(start, centre)
            copy_into(start_lower, lower)
            scale_gradient(gradient, curvature, total, damping, step)
        travel(start, start_lower, step, centre)
        before, previous, length = previous, length, math.sqrt((step**2).sum())
        if not length < math.inf:  # a point is no positive matrix, and half of this is no better
            return False
        # Linear convergence: what remains after this step is about its length · rate/(1 − rate).
        # While a fast direction hides a slow one the ratio of two steps is not yet the rate, so the
        # slower of the last two counts.
        rate = max(length / previous, previous / before)
        settled = before < 0.1 and rate < 1.0 and length * rate < _REMAINDER * (1.0 - rate)
        # An ill-conditioned centre is known no better than its entries are rounded.
        if settled or length < 1e-13 + 1e-16 / margin:
            return True
    return False
