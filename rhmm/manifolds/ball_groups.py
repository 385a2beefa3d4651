"""Points of the ball beside several centres at a time, for groups too short for vector loops.

A layout has the coordinates of points in rows, below them their gaps, and then working memory.
"""

import math

from rhmm._jit import copy_into, lean_kernel
from rhmm.manifolds.ball import distance_of, gap, move
from rhmm.vector_math import log1p, squared

ROOM = 128
"""Numbers that `measure` and `take_steps` work on at a time, at least."""


@lean_kernel
def measure(layout, first, last, centres, d2):
    """As many centres at a time as there is room for: short loops do not run in vectors."""
    size, products = last - first, layout[centres.shape[1] + 1]
    most = max(len(products) // max(size, 1), 1)
    for begin in range(0, len(centres), most):
        some = centres[begin : begin + most]
        mine = d2[begin * size : (begin + len(some)) * size]
        _fractions(layout, first, last, some, mine, products)
        for k in range(len(mine)):
            mine[k] = squared(distance_of(mine[k] / products[k]))


@lean_kernel
def _fractions(layout, first, last, centres, norm2, products):
    """|y − c|² and (1 − |y|²)(1 − |c|²), those of one centre after those of another."""
    size, gaps = last - first, layout[centres.shape[1], first:last]
    for i in range(len(centres)):
        centre_gap, mine = gap(centres[i]), slice(i * size, (i + 1) * size)
        separations(layout, first, last, centres[i], norm2[mine])
        row = products[mine]
        for t in range(size):
            row[t] = centre_gap * gaps[t]


@lean_kernel
def separations(layout, first, last, centre, out):
    """``out[t]`` = |y − c|²."""
    if len(centre) == 2:  # the disk: one loop instead of three
        x, y = centre[0], centre[1]
        xs, ys = layout[0, first:last], layout[1, first:last]
        for t in range(len(xs)):
            out[t] = squared(xs[t] - x) + squared(ys[t] - y)
        return
    out[: last - first] = 0.0
    for k in range(len(centre)):
        row = layout[k, first:last]
        for t in range(len(row)):
            out[t] += squared(row[t] - centre[k])


@lean_kernel
def take_steps(layout, first, last, weights, taus, centres, totals):
    dim, size = centres.shape[1], last - first
    work = layout[dim + 1 :]
    norm2, distances, pulls, products = work[0], work[1], work[2], work[3]
    most = max(len(norm2) // max(size, 1), 1)
    for begin in range(0, len(centres), most):
        some = centres[begin : begin + most]
        _fractions(layout, first, last, some, norm2, products)
        for k in range(len(some) * size):
            s = max(norm2[k], 1e-270) / products[k]  # as in `weighted_step`
            half_sinh = math.sqrt(s * (s + 1.0))
            distance = log1p(2.0 * (s + half_sinh))
            distances[k] = distance
            pulls[k] = distance / (products[k] * half_sinh)
        for i in range(len(some)):
            if taus[begin + i] > 0.0:
                mine = slice(i * size, (i + 1) * size)
                totals[begin + i] = _stepped(
                    layout, first, last, weights[begin + i], taus[begin + i], norm2[mine],
                    distances[mine], pulls[mine], some[i], work[4],
                )  # fmt: skip


@lean_kernel
def _stepped(layout, first, last, weights, tau, norm2, distances, pulls, centre, work):
    """Move `centre` as `weighted_step` does; returns Σ w d²."""
    total, inwards = 0.0, 0.0
    for t in range(len(weights)):
        total += weights[t] * distances[t] * distances[t]
        pulls[t] *= weights[t]
        inwards += pulls[t] * norm2[t]
    pull_centre(layout, first, last, pulls, inwards, tau, centre, work)
    return total


@lean_kernel
def pull_centre(layout, first, last, pulls, inwards, tau, centre, work):
    """Move `centre` by τ times the sum of the vectors to points, each multiplied by its pull;
    `inwards` is the sum of pulls times |y − c|²."""
    dim, centre_gap = len(centre), gap(centre)
    step, moved = work[:dim], work[dim : 2 * dim]
    for k in range(dim):
        row, outwards = layout[k, first:last], 0.0
        for t in range(len(row)):
            outwards += pulls[t] * (row[t] - centre[k])
        step[k] = tau * (centre_gap * outwards - inwards * centre[k])
    move(centre, centre_gap, step, moved)
    copy_into(centre, moved)
