"""Points of the ball beside several centres at a time, for groups too short for vector loops.

A layout has the coordinates of points in rows, below them their gaps, and then working memory.
"""

import math

from rhmm._jit import copy_into, lean_kernel
from rhmm.manifolds.ball import distance_from, gap, keep_inside, move, shrunk
from rhmm.vector_math import fma, log_one_more, squared

ROOM = 128
"""Numbers that `measure` and `take_steps` work on at a time, at least."""


@lean_kernel
def measure(layout, first, last, centres, d2):
    """As many centres at a time as there is room for: short loops do not run in vectors."""
    size, products, begin = last - first, layout[centres.shape[1] + 1], 0
    while begin < len(centres):
        some = centres[begin : begin + _as_many(len(centres), size, len(products))]
        mine = d2[begin * size : (begin + len(some)) * size]
        _fractions(layout, first, last, some, mine, products)
        for k in range(len(mine)):
            mine[k] = squared(distance_from(mine[k], products[k]))
        begin += len(some)


@lean_kernel
def _as_many(count, size, room):
    """How many centres with so many points there is room for: all, if possible."""
    return count if count * size <= room else max(room // size, 1)


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
    for t in range(last - first):
        out[t] = 0.0
    for k in range(len(centre)):
        row = layout[k, first:last]
        for t in range(len(row)):
            out[t] += squared(row[t] - centre[k])


@lean_kernel
def take_steps(layout, first, last, weights, taus, centres, totals):
    dim, size = centres.shape[1], last - first
    work = layout[dim + 1 :]
    norm2, distances, pulls, products = work[0], work[1], work[2], work[3]
    begin = 0
    while begin < len(centres):
        some = centres[begin : begin + _as_many(len(centres), size, len(norm2))]
        _fractions(layout, first, last, some, norm2, products)
        for k in range(len(some) * size):
            square = max(norm2[k], 1e-270)  # as in `weighted_step`
            half_sinh = math.sqrt(square * (square + products[k]))
            distance = log_one_more(2.0 * (square + half_sinh), products[k])
            distances[k] = distance
            pulls[k] = distance / half_sinh
        for i in range(len(some)):
            if taus[begin + i] > 0.0:
                mine = slice(i * size, (i + 1) * size)
                totals[begin + i] = _stepped(
                    layout, first, last, weights[begin + i], taus[begin + i], norm2[mine],
                    distances[mine], pulls[mine], some[i], work[4],
                )  # fmt: skip
        begin += len(some)


@lean_kernel
def _stepped(layout, first, last, weights, tau, norm2, distances, pulls, centre, work):
    """Move `centre` as `weighted_step` does; returns Σ w d²."""
    if len(centre) == 2:
        return _stepped_on_disk(layout, first, weights, tau, norm2, distances, pulls, centre)
    total, inwards = 0.0, 0.0
    for t in range(len(weights)):
        total += weights[t] * distances[t] * distances[t]
        pulls[t] *= weights[t]
        inwards += pulls[t] * norm2[t]
    pull_centre(layout, first, last, pulls, inwards, tau, centre, work)
    return total


@lean_kernel
def _stepped_on_disk(layout, first, weights, tau, norm2, distances, pulls, centre):
    """The same with all sums in one loop."""
    x, y = centre[0], centre[1]
    total, inwards, along_x, along_y = 0.0, 0.0, 0.0, 0.0
    for t in range(len(weights)):
        pull = weights[t] * pulls[t]
        total = fma(weights[t], squared(distances[t]), total)
        inwards = fma(pull, norm2[t], inwards)
        along_x = fma(pull, layout[0, first + t] - x, along_x)
        along_y = fma(pull, layout[1, first + t] - y, along_y)
    centre_gap = gap(centre)
    step_x = tau * (centre_gap * along_x - inwards * x)
    step_y = tau * (centre_gap * along_y - inwards * y)
    scale, step_gap = shrunk(squared(step_x) + squared(step_y))
    square = squared(x + scale * step_x) + squared(y + scale * step_y)
    denominator = square + centre_gap * step_gap
    if denominator > 0.0:  # else the end of a long step is anywhere on the boundary
        inverse = 1.0 / denominator
        centre[0] = (x * (square + centre_gap) + centre_gap * scale * step_x) * inverse
        centre[1] = (y * (square + centre_gap) + centre_gap * scale * step_y) * inverse
        keep_inside(centre)
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
