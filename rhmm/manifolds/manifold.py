"""What every manifold offers to people: its verbs on points and batches, with checked input."""

from abc import abstractmethod
from functools import lru_cache

import numpy as np

from rhmm.exceptions import warn_not_converged
from rhmm.gaussian.radial import RadialGaussian
from rhmm.manifolds import verbs
from rhmm.manifolds.points import PointSet, broadcast
from rhmm.threads import Map
from rhmm.validation import (
    SMALLEST_MODERATE,
    as_generator,
    as_numbers,
    check_integer,
    check_moderate,
    check_positive,
)

_MOST_STEPS = 500
"""Of the search for a centre of mass, which takes two to ten unless the data are extreme."""


class Manifold(PointSet):
    """A homogeneous Hadamard manifold with its Riemannian Gaussian distributions.

    Points are arrays of shape `point_shape`, batches of them ``(..., *point_shape)``; all verbs
    broadcast over the leading axes. `geometry` is what compiled kernels receive in its place.

    A manifold of one's own is a NamedTuple of whole numbers, its geometry, for which
    ``@implements`` defines the verbs `dist2`, `log_into` and `exp_into` (see
    :mod:`rhmm.manifolds.verbs`), and a subclass decorated with ``@register_manifold`` that sets
    `dim`, `point_shape` and `gaussian` and defines `belongs`, `why_not` and `draw`. Everything else
    has a default.
    """

    dim: int
    """Dimension of the manifold."""
    gaussian: RadialGaussian
    """The law of the distance to the mean of a Riemannian Gaussian."""
    is_flat = False
    """Whether Exp keeps volume, so that centres of mass are the likeliest means."""
    n_sensors = 0
    """How many sensors a point tells of, if any, see `rearranged`."""
    largest_sigma = 1e6
    """A larger σ is refused: on a curved space log Z ~ σ² then swallows all that d² says, and no
    two points that double precision can hold are so far apart."""

    def __init__(self, geometry_class: type, **size: int):
        ((name, value),) = size.items()
        self.geometry = geometry_class(check_integer(name, value, at_least=1))

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def size(self) -> int:
        """The number that the constructor takes."""
        return self.geometry[0]

    def __repr__(self) -> str:
        return f"{self.name}({self.size})"

    def __eq__(self, other) -> bool:
        return type(self) is type(other) and self.geometry == other.geometry

    def __hash__(self) -> int:
        return hash((type(self), self.geometry))

    # Points

    def project(self, x) -> np.ndarray:
        """The nearest usable points of the manifold; the identity on points that belong.

        By default, arrays that are no points are refused.
        """
        return self.points("x", x)

    def rearranged(self, points, order) -> np.ndarray:
        """The points (..., *point_shape) with their sensors in another order, which is an isometry
        that leaves the origin where it is; ``order[i]`` is the sensor that comes at place i."""
        raise ValueError(f"points of {self!r} do not tell of sensors")

    # Geometry

    def dist(self, x, y):
        """Riemannian distance."""
        x, y = self.points("x", x), self.points("y", y)
        lead = self._common_lead(x, "y", y)
        if x.size == self._point_size:
            x, y = y, x
        if y.size == self._point_size:
            d2 = self.squared_distances(self._flat(x), self._flat(y))
        else:
            x, y = self._spread(lead, x, y)
            d2 = np.empty(len(x))
            verbs.all_paired_distances(self.geometry, x, y, d2)
        return np.sqrt(d2).reshape(lead)[()]

    def geodesic(self, x, z, tau):
        """The paper's x #_τ z, eq. (13): from x at τ = 0 to z at τ = 1, at constant speed."""
        tau = as_numbers("tau", tau)
        if not np.isfinite(tau).all():
            raise ValueError("tau must be finite")
        x, z = self.points("x", x), self.points("z", z)
        lead = broadcast("tau", tau.shape, self._common_lead(x, "z", z))
        x, z = self._spread(lead, x, z)
        tau = np.require(np.broadcast_to(tau, lead).reshape(-1), float, ["C", "W"])
        out = np.empty(x.shape)
        verbs.geodesic_many(self.geometry, x, z, tau, out)
        return self._checked_result("tau", out, lead)

    def exp(self, x, v):
        """Riemannian exponential: the end of the geodesic that starts at x with velocity v."""
        x, v = self.points("x", x), self._tangents(v)
        lead = self._common_lead(x, "v", v)
        x, v = self._spread(lead, x, v)
        out = np.empty(x.shape)
        verbs.exp_many(self.geometry, x, v, out)
        return self._checked_result("v", out, lead)

    def log(self, x, y):
        """Riemannian logarithm, the inverse of `exp`: the velocity at x that ends in y."""
        x, y = self.points("x", x), self.points("y", y)
        lead = self._common_lead(x, "y", y)
        x, y = self._spread(lead, x, y)
        out = np.empty(x.shape)
        verbs.log_many(self.geometry, x, y, out)
        return out.reshape(lead + self.point_shape)

    def norm(self, x, v):
        """Riemannian length of the tangent vector v at x; ``norm(x, log(x, y)) == dist(x, y)``."""
        return self.dist(x, self.exp(x, v))

    def mean(self, points, weights=None) -> np.ndarray:
        """Weighted Riemannian centre of mass: the one point that minimises Σ w d²."""
        points = self.points("points", points)
        if points.ndim != 1 + len(self.point_shape) or len(points) == 0:
            raise ValueError(
                f"points must be a non-empty batch {self._shape('n')}, not of shape {points.shape}"
            )
        if weights is None:
            weights = np.ones(len(points))
        weights = as_numbers("weights", weights)
        if weights.shape != (len(points),):
            raise ValueError(
                f"weights must be one number for each of the {len(points)} points, "
                f"not an array of shape {weights.shape}"
            )
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.max() > 0):
            raise ValueError("weights must be finite and non-negative, with a positive sum")
        weights = np.ldexp(weights, -np.frexp(weights.max())[1])  # about 1, and no digit changes
        centre = np.require(self.first_guess(points, weights), float, ["C", "W"])
        centres, _, converged = self.recentre(points, weights[None], centre[None])
        if not converged:
            warn_not_converged(f"the centre of mass of {len(points)} points")
        return centres[0]

    # For the learners: trusted arrays, no checks

    def squared_distances(self, points, centres) -> np.ndarray:
        """d² of shape ``(len(centres), len(points))`` between arrays known to hold points."""
        d2 = np.empty((len(centres), len(points)))
        verbs.all_squared_distances(self.geometry, points, centres, d2)
        return d2

    def recentre(
        self, points, weights, centres, most_steps=_MOST_STEPS
    ) -> tuple[np.ndarray, np.ndarray, bool]:
        """Centres of mass under each row of `weights`, searched from `centres`.

        A centre that double precision cannot hold stays where it was, and has not converged.
        Returns the new centres, d² to them of shape ``weights.shape``, and whether all converged.
        """
        centres, d2 = centres.copy(), np.empty(weights.shape)
        converged = verbs.recentre_held(self.geometry, points, weights, centres, d2, most_steps)
        return centres, d2, converged

    def layout(self, points) -> np.ndarray | None:
        """What `approach` reads of the points besides, if there is anything: iterations that need
        it again and again compute it once."""
        return None

    def approach(
        self, points, weights, centres, d2, each: Map = map, layout: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The centres after one step towards their centres of mass, and d² to them, from centres
        to which the points have the squared distances `d2` (N, T). `each` maps by several threads.

        A manifold on which the distances shorten the step should make use of them. `layout` is
        that of the points, if it is known.
        """

        def step(i: int) -> tuple[np.ndarray, np.ndarray, bool]:
            return self.recentre(points, weights[i : i + 1], centres[i : i + 1], 1)

        moved, d2, _ = zip(*each(step, range(len(centres))), strict=True)
        return np.concatenate(moved), np.concatenate(d2)

    @property
    def n_centre_sums(self) -> int:
        """Numbers that a step towards a centre of mass is made of, see `centre_sums`."""
        return 1 + self._point_size

    def centre_sums(self, points, weights, centres) -> np.ndarray:
        """What a step of each centre needs of points under its row of `weights` (N, T), shape
        (N, n_centre_sums). Sums over parts of the points add up to those over all."""
        sums = np.empty((len(centres), self.n_centre_sums))
        verbs.all_centre_sums(self.geometry, points, weights, centres, sums)
        return sums

    def centre_steps(self, sums, totals, centres, share: float) -> tuple[np.ndarray, np.ndarray]:
        """A `share` of a step of each centre towards its centre of mass: from `centre_sums` and
        Σ w (N,) the centres, and Σ w d² to them as the quadratic model of the step predicts it."""
        centres, falls = centres.copy(), np.empty(len(centres))
        verbs.all_centre_steps(self.geometry, sums, totals, share, centres, falls)
        return centres, sums[:, 0] - falls

    def first_guess(self, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Where to start the search for a centre of mass: by default, at the heaviest point.

        `points` has shape (n, *point_shape), `weights` (n,).
        """
        return points[np.argmax(weights)]

    # Normal coordinates

    @property
    def origin(self) -> np.ndarray:
        """The point that frames are carried from, shape `point_shape`: by default, zero."""
        return np.zeros(self.point_shape)

    def normal_coordinates(self, centre, points) -> tuple[np.ndarray, np.ndarray]:
        """log_c(y) of points (T, *point_shape) in an orthonormal frame at `centre`, shape (T, dim),
        and the logarithm of the factor by which Exp_c enlarges volume there, shape (T,).

        The frame is one at the origin, carried along the geodesic to `centre`: the isometry that
        moves the origin along it keeps coordinates. Trusts its arguments to be points.
        """
        raise ValueError(f"{self!r} has no normal coordinates, which this needs")

    def from_normal_coordinates(self, centre, coordinates) -> np.ndarray:
        """The points (T, *point_shape) with these `normal_coordinates` (T, dim) at `centre`."""
        points = self._from_normal(centre, np.require(coordinates, float, ["C", "W"]))
        return self._checked_result("coordinates", points, (len(coordinates),))

    def _from_normal(self, centre: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        raise ValueError(f"{self!r} has no normal coordinates, which this needs")

    def frame_turn(self, start, end) -> np.ndarray:
        """The rotation (dim, dim) that takes `normal_coordinates` of vectors at `start` to those of
        the same vectors at `end`, after they were carried along the geodesic between both points.
        """
        turn = np.empty((self.dim, self.dim))
        verbs.write_frame_turn(self.geometry, start, end, turn)
        return turn

    # Riemannian Gaussians

    def log_z(self, sigma):
        """Logarithm of the normalising factor Z(σ) with respect to the Riemannian volume."""
        return self._moments(sigma, "log_z")

    def delta(self, sigma):
        """δ(σ) = E[d²(y, c)] = ∂ log Z/∂η with η = −1/2σ², the paper's eq. (5)."""
        return self._moments(sigma, "delta")

    def var_d2(self, sigma):
        """Var[d²(y, c)] = ∂δ/∂η, the Fisher information of η."""
        return self._moments(sigma, "var_d2")

    def sigma(self, delta):
        """The inverse of `delta`."""
        delta = check_positive("delta", delta)
        least, most = _delta_range(self)
        if not ((delta >= least) & (delta <= most)).all():
            raise ValueError(f"delta must be between {least:.3g} and {most:.3g} on {self!r}")
        sigma = self.gaussian.sigma(delta.reshape(-1)).reshape(delta.shape)
        return np.clip(sigma, SMALLEST_MODERATE, self.largest_sigma)[()]  # the ends are rounded

    def sample(self, centre, sigma, size=None, rng=None) -> np.ndarray:
        """Exact draws from the Riemannian Gaussian around `centre`, eq. (1); no Markov chain.

        `rng` is a numpy Generator or a seed. Returns shape ``(size, *point_shape)``, or one point.
        """
        centre = self.points("centre", centre)
        if centre.shape != self.point_shape:
            raise ValueError(f"centre must be one point of shape {self.point_shape}")
        sigma = self.check_one_sigma("sigma", sigma)
        count = 1 if size is None else check_integer("size", size, at_least=0)
        points = self.draw(as_generator("rng", rng), centre, sigma, count)
        points = self._checked_result("sigma", points, (count,))
        return points[0] if size is None else points

    @abstractmethod
    def draw(
        self, rng: np.random.Generator, centre: np.ndarray, sigma: float, size: int
    ) -> np.ndarray:
        """Draw from the Riemannian Gaussian around `centre`; shape (size, *point_shape).

        A point that double precision cannot hold is NaN.
        """

    def draw_states(
        self,
        rng: np.random.Generator,
        centres: np.ndarray,
        sigmas: np.ndarray,
        states: np.ndarray,
        out: np.ndarray,
    ) -> None:
        """Write into ``out[t]`` a draw around the centre of ``states[t]``, those of one state after
        those of another; shape (T, *point_shape)."""
        for i in range(len(centres)):
            mine = states == i
            count = int(mine.sum())
            if count:
                out[mine] = self.draw(rng, centres[i], sigmas[i], count)

    # Checks of σ

    def check_sigma(self, name, value) -> np.ndarray:
        """`value` as numbers that may be the σ of a Gaussian here."""
        return check_moderate(name, value, self.largest_sigma)

    def check_one_sigma(self, name, value) -> float:
        value = self.check_sigma(name, value)
        if value.ndim:
            raise ValueError(f"{name} must be one number, not an array of shape {value.shape}")
        return float(value)

    def check_min_sigma(self, value) -> None:
        """`value` must be a floor of σ here, or None."""
        if value is not None:
            self.check_one_sigma("min_sigma", value)

    def _moments(self, sigma, which):
        sigma = self.check_sigma("sigma", sigma)
        moments = self.gaussian.moments(sigma.reshape(-1))
        return getattr(moments, which).reshape(sigma.shape)[()]


@lru_cache(maxsize=32)
def _delta_range(manifold: Manifold) -> tuple[float, float]:
    """δ of the smallest and the largest σ."""
    ends = np.array([SMALLEST_MODERATE, manifold.largest_sigma])
    least, most = manifold.gaussian.moments(ends).delta
    return float(least), float(most)
