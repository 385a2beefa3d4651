"""The verbs that kernels speak, whatever the manifold.

Each manifold file says what they mean on its geometry with ``@implements(verb, Geometry)``. They
work on single points (arrays of ``point_shape``); ``out`` is written in place. Outside of kernels
they do nothing: people call the methods of :class:`rhmm.manifolds.manifold.Manifold`.
"""

from rhmm._jit import kernel


def dist2(geometry, x, y):
    """Squared distance d²(x, y)."""
    raise NotImplementedError


def log_into(geometry, x, y, out):
    """The tangent vector at `x` that points to `y`."""
    raise NotImplementedError


def exp_into(geometry, x, v, out):
    """The point reached from `x` along the tangent vector `v`."""
    raise NotImplementedError


def geodesic_into(geometry, x, z, tau, out):
    """The paper's x #_τ z, eq. (13): the point at fraction `tau` of the way from `x` to `z`."""
    raise NotImplementedError


def squared_distances(geometry, points, centres, d2):
    """``d2[i, t] = d²(points[t], centres[i])``."""
    raise NotImplementedError


def paired_distances(geometry, x, y, d2):
    """``d2[t] = d²(x[t], y[t])``."""
    raise NotImplementedError


def prepared(geometry, points):
    """The points in the layout that `distances_to` and `lean` read.

    What distances need again and again is computed once.
    """
    raise NotImplementedError


def distances_to(geometry, layout, first, last, centre, d2):
    """``d2[t] = d²(points[first + t], centre)`` for the `prepared` points before `last`."""
    raise NotImplementedError


def lean(geometry, layout, first, last, weights, tau, centre, work):
    """`centre` moves along τ Σ w_t log(points[first + t]), the points `prepared`; returns Σ w_t d².

    The distances are those before the move. `work` is five rows that hold `last − first` numbers
    or one point each.
    """
    raise NotImplementedError


def recentre(geometry, points, weights, centres, d2, most_steps):
    """Move ``centres[i]`` to the centre of mass of `points` under ``weights[i]``, from where it is.

    Each row of `weights` has a positive sum; ``d2[i, t]`` becomes d²(points[t], centres[i]).
    Returns whether all searches converged within `most_steps` steps.
    """
    raise NotImplementedError


@kernel
def all_squared_distances(geometry, points, centres, d2):
    squared_distances(geometry, points, centres, d2)


@kernel
def all_paired_distances(geometry, x, y, d2):
    paired_distances(geometry, x, y, d2)


@kernel
def recentre_all(geometry, points, weights, centres, d2, most_steps):
    return recentre(geometry, points, weights, centres, d2, most_steps)


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
