"""The verbs that kernels speak, whatever the manifold.

Each manifold file says what they mean on its geometry with ``@implements(verb, Geometry)``. They
work on single points (arrays of ``point_shape``); ``out`` is written in place. Outside of kernels
they do nothing: people call the methods of :class:`rhmm.manifolds.manifold.Manifold`.
"""

from rhmm._jit import kernel

LANES = 4
"""Numbers that loops over centres handle at a time: arrays for them have a multiple of this."""


@kernel
def whole_lanes(count):
    """`count` rounded up to whole vectors."""
    return (count + LANES - 1) // LANES * LANES


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
    """The points in the layout that `distances_from` and `pull` work on; see `place_back`.

    What distances need again and again is computed once. There may be more columns than points.
    """
    raise NotImplementedError


def place_back(geometry, layout, points):
    """``points`` ← what `prepared` laid out, and `pull` may have moved since."""
    raise NotImplementedError


def distances_from(geometry, points, t, centres, out):
    """``out[i] = d²(points[t], centres[i])``, both `prepared`; `out` has room for whole lanes."""
    raise NotImplementedError


def pull(geometry, centres, i, points, t, d2, tau):
    """``centres[i]`` ← centres[i] #_τ points[t], both `prepared`; `d2` is their d²."""
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
