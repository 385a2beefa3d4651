"""The verbs that kernels speak, whatever the manifold.

A manifold must implement three of them with ``@implements(verb, Geometry)``: :func:`dist2`,
:func:`log_into` and :func:`exp_into`. The body of every other verb is its default, written with
these three; a manifold implements it as well only where that is measured to pay.

Verbs work on trusted arrays: a point has the manifold's ``point_shape``, a batch of T points
``(T, *point_shape)``; ``out``, ``d2`` and ``centres`` are written in place. They are compiled into
the kernels that call them; people call the methods of :class:`rhmm.manifolds.manifold.Manifold`.
"""

import math

import numpy as np

from rhmm._jit import copy_into, inlined_verb, kernel, required_verb, verb

_REMAINDER = 1e-9
"""The accuracy of a centre of mass, as a distance."""
_NO_STEP = 1e-12
"""Shorter steps are rounding error."""


# What every manifold must implement


@required_verb
def dist2(geometry, x, y):
    """Squared distance d²(x, y)."""
    raise NotImplementedError("verbs can be called by compiled kernels only")


@required_verb
def log_into(geometry, x, y, out):
    """The tangent vector at `x` that points to `y`."""
    raise NotImplementedError("verbs can be called by compiled kernels only")


@required_verb
def exp_into(geometry, x, v, out):
    """The point reached from `x` along the tangent vector `v`; NaN if coordinates cannot hold it.

    `out` is not `x` or `v`.
    """
    raise NotImplementedError("verbs can be called by compiled kernels only")


# What has a default


@verb
def geodesic_into(geometry, x, z, tau, out):
    """The paper's x #_τ z, eq. (13): the point at fraction `tau` of the way from `x` to `z`."""
    v = np.empty_like(x)
    log_into(geometry, x, z, v)
    v *= tau
    exp_into(geometry, x, v, out)


@verb
def prepared(geometry, points):
    """The points of shape (T, *point_shape) in the layout that `distances_to` and `weighted_step`
    read.

    A layout holds what these need again and again, and their working memory: by default, the points
    and room for three more.
    """
    layout = np.empty((len(points) + 3, *points.shape[1:]))
    copy_into(layout[:-3], points)
    return layout


@verb
def holds(geometry, x):
    """Whether double precision can work with the point `x`, as the manifold's `belongs` says.

    By default, whether its numbers are finite.
    """
    finite = True
    for k in range(x.size):
        finite &= abs(x.flat[k]) < math.inf
    return finite


@verb
def distances_to(geometry, layout, first, last, centre, d2):
    """``d2[t] = d²(points[first + t], centre)`` for the `prepared` points before `last`."""
    for t in range(last - first):
        d2[t] = dist2(geometry, layout[first + t], centre)


@inlined_verb
def distances_from(geometry, layout, first, last, centres, d2):
    """The same to N centres, those of one after those of another: with T = last − first points
    ``d2[i * T + t] = d²(points[first + t], centres[i])``.

    T may be small, as in the groups of a streaming learner. A manifold whose distances run in
    vectors should implement this verb so that they run over all centres at once. It must not make
    arrays: if it needs some, let it call a `kernel` that makes them.
    """
    size = last - first
    for i in range(len(centres)):
        mine = d2[i * size : (i + 1) * size]
        distances_to(geometry, layout, first, last, centres[i], mine)


@verb
def squared_distances(geometry, points, centres, d2):
    """``d2[i, t] = d²(points[t], centres[i])``, shape (N, T)."""
    layout = prepared(geometry, points)
    for i in range(len(centres)):
        distances_to(geometry, layout, 0, len(points), centres[i], d2[i])


@verb
def paired_distances(geometry, x, y, d2):
    """``d2[t] = d²(x[t], y[t])``, shape (T,)."""
    for t in range(len(d2)):
        d2[t] = dist2(geometry, x[t], y[t])


@required_verb
def normal_coordinates(geometry, layout, first, last, centre, coordinates, log_volume):
    """`Manifold.normal_coordinates` of the `prepared` points from `first` to before `last`, into
    `coordinates` (T, dim) and `log_volume` (T,).

    Only learners with shapes ask for it: a manifold without normal coordinates need not have it.
    """
    raise NotImplementedError("verbs can be called by compiled kernels only")


@required_verb
def frame_turn(geometry, start, end, turn):
    """`Manifold.frame_turn` into `turn` (dim, dim).

    Only learners with shapes ask for it, as for `normal_coordinates`.
    """
    raise NotImplementedError("verbs can be called by compiled kernels only")


@verb
def weighted_step(geometry, layout, first, last, weights, tau, centre):
    """Move `centre` along τ Σ w_t log(points[first + t]), the points `prepared` and before `last`.

    Returns Σ w_t d², with the distances before the move. Where a step can lead to a point that
    double precision cannot hold, a manifold should implement this verb so that `centre` then stays.
    """
    step, towards, moved = layout[-3], layout[-2], layout[-1]
    total = 0.0
    step[:] = 0.0
    for t in range(last - first):
        total += weights[t] * dist2(geometry, layout[first + t], centre)
        log_into(geometry, centre, layout[first + t], towards)
        for k in range(step.size):
            step.flat[k] += weights[t] * towards.flat[k]
    for k in range(step.size):
        step.flat[k] *= tau
    exp_into(geometry, centre, step, moved)
    copy_into(centre, moved)
    return total


@inlined_verb
def weighted_steps(geometry, layout, first, last, weights, taus, centres, totals):
    """`weighted_step` of N centres by τ (N,) with weights (N, T); what it returns goes to `totals`.

    A centre whose τ is 0 stays, and has no total. As for `distances_from`, T may be small, and what
    implements it must not make arrays.
    """
    for i in range(len(centres)):
        if taus[i] > 0.0:
            totals[i] = weighted_step(
                geometry, layout, first, last, weights[i], taus[i], centres[i]
            )


@verb
def centre_sums(geometry, points, weights, centres, sums):
    """Write into ``sums[i]`` what `centre_step` of ``centres[i]`` needs of the points.

    `weights` has shape (N, T), `sums` (N, K). Sums over parts of the points add up to those over
    all, so that data can come in parts. The first column is Σ w d²; by default the others are
    Σ w log(point), a vector at the centre.
    """
    towards = np.empty_like(centres[0])
    sums[:] = 0.0
    for i in range(len(centres)):
        for t in range(len(points)):
            sums[i, 0] += weights[i, t] * dist2(geometry, points[t], centres[i])
            log_into(geometry, centres[i], points[t], towards)
            for k in range(towards.size):
                sums[i, 1 + k] += weights[i, t] * towards.flat[k]


@verb
def centre_step(geometry, sums, total, share, centre):
    """Move `centre` by this share of a step towards the centre of mass, from its `centre_sums`.

    `total` is Σ w. Returns by how much Σ w d² falls in the quadratic model behind the step. By
    default the step is the mean logarithm, which ends at the centre of mass of a flat space.
    """
    step, moved = np.empty_like(centre), np.empty_like(centre)
    for k in range(step.size):
        step.flat[k] = share * sums[1 + k] / total
    exp_into(geometry, centre, step, moved)
    if not holds(geometry, moved):
        return 0.0
    length2 = dist2(geometry, centre, moved)
    copy_into(centre, moved)
    return (2.0 / share - 1.0) * total * length2


@verb
def recentre(geometry, points, weights, centres, d2, most_steps):
    """Move ``centres[i]`` to the centre of mass of `points` under ``weights[i]``, from where it is.

    `weights` has shape (N, T), each row with a positive sum; ``d2[i, t]`` becomes
    d²(points[t], centres[i]). Returns whether all searches converged within `most_steps` steps.
    """
    layout = prepared(geometry, points)
    converged = True
    for i in range(len(centres)):
        converged &= _search(geometry, layout, weights[i], centres[i], most_steps)
        distances_to(geometry, layout, 0, len(points), centres[i], d2[i])
    return converged


@kernel
def _search(geometry, layout, weights, centre, most_steps):
    """Descend Σ w d² by gradient steps, which are halved as long as they go too far.

    Σ w d² is convex along geodesics of a Hadamard manifold. On a flat space one step along the mean
    logarithm ends at the minimum; where space is curved it goes too far. A step is accepted if it
    gains a quarter of what the slope at its start promises. Near the end gains drown in rounding
    error: there a step is accepted if the slope does not grow.
    """
    total = weights.sum()
    start, moved = centre.copy(), np.empty_like(centre)
    value, slope, damping = math.inf, math.inf, 1.0
    previous = before = math.inf  # the slopes before
    for _ in range(most_steps):
        copy_into(moved, centre)
        new_value = weighted_step(
            geometry, layout, 0, len(weights), weights, damping / total, moved
        )
        new_slope = math.sqrt(dist2(geometry, centre, moved)) / damping
        promised = 2.0 * total * damping * slope * slope
        if promised > 1e-10 * value:
            accepted = new_value <= value - 0.25 * promised
        else:
            accepted = new_slope <= slope
        if accepted:
            before, previous = previous, slope
            value, slope = new_value, new_slope
            copy_into(start, centre)
            copy_into(centre, moved)
        else:
            damping *= 0.5
            geodesic_into(geometry, start, centre, 0.5, moved)
            copy_into(centre, moved)
        length = damping * slope
        if length < _NO_STEP:
            return True
        # Linear convergence: after this step about its length · rate/(1 − rate) remains. While a
        # fast direction hides a slow one, the ratio of two slopes is not yet the rate: the slower
        # of the last two counts.
        if accepted and before < math.inf:
            rate = max(slope / previous, previous / before)
            if length * rate < _REMAINDER * (1.0 - rate):
                return True
    return False


@kernel
def recentre_held(geometry, points, weights, centres, d2, most_steps):
    """`recentre`, but a centre that double precision cannot hold stays where it was."""
    before = centres.copy()
    converged = recentre(geometry, points, weights, centres, d2, most_steps)
    for i in range(len(centres)):
        if not holds(geometry, centres[i]):
            copy_into(centres[i], before[i])
            mine = slice(i, i + 1)
            squared_distances(geometry, points, centres[mine], d2[mine])
            converged = False
    return converged


@verb
def approach(geometry, points, layout, weights, centre, d2):
    """Move `centre` by one step of `recentre`, from where the points (T, *point_shape), which are
    `prepared` in `layout`, have the squared distances `d2` (T,); these become those after it.

    A centre that double precision cannot hold stays where it was. A manifold on which the distances
    shorten the step should implement this verb.
    """
    one = np.int64(1)  # a plain 1 would be a type of its own, and have the search compiled twice
    recentre_held(
        geometry,
        points,
        weights.reshape((1, len(weights))),
        centre.reshape((1, *centre.shape)),
        d2.reshape((1, len(d2))),
        one,
    )


# Kernels that bring verbs to Python


@kernel
def all_squared_distances(geometry, points, centres, d2):
    squared_distances(geometry, points, centres, d2)


@kernel
def all_centre_sums(geometry, points, weights, centres, sums):
    centre_sums(geometry, points, weights, centres, sums)


@kernel
def all_centre_steps(geometry, sums, totals, share, centres, falls):
    """`centre_step` of N centres, whose falls of Σ w d² go to `falls` (N,)."""
    for i in range(len(centres)):
        falls[i] = centre_step(geometry, sums[i], totals[i], share, centres[i])


@kernel
def write_frame_turn(geometry, start, end, turn):
    frame_turn(geometry, start, end, turn)


@kernel
def all_paired_distances(geometry, x, y, d2):
    paired_distances(geometry, x, y, d2)


@kernel
def log_many(geometry, x, y, out):
    for t in range(len(out)):
        log_into(geometry, x[t], y[t], out[t])


@kernel
def exp_many(geometry, x, v, out):
    for t in range(len(out)):
        exp_into(geometry, x[t], v[t], out[t])


@kernel
def geodesic_many(geometry, x, z, tau, out):
    for t in range(len(out)):
        geodesic_into(geometry, x[t], z[t], tau[t], out[t])


@kernel
def without_nan(rows):
    """Which of the rows (T, K) are numbers, shape (T,)."""
    whole = np.ones(len(rows), np.bool_)
    for t in range(len(rows)):
        for q in range(rows.shape[1]):
            whole[t] &= not np.isnan(rows[t, q])
    return whole
