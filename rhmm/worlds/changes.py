"""Events that change the parameters of a world."""

import math
from dataclasses import dataclass, replace

import numpy as np

from rhmm.manifolds import Manifold
from rhmm.validation import check_integer, check_number, check_positive, check_stochastic
from rhmm.worlds.event import (
    BLOCK,
    Change,
    check_coordinates,
    check_multiple,
    check_real,
    check_share,
    point_of,
    register_event,
)
from rhmm.worlds.truth import Truth


class Jump(Change):
    """A change that happens at once."""

    @property
    def moments(self) -> tuple[int]:
        """Only `at` itself."""
        return (0,)


@register_event
@dataclass(frozen=True, kw_only=True)
class MoveMean(Jump):
    """The mean of one state moves to another point."""

    name = "move"
    label = "a mean moves"
    state: int
    mean: tuple[float, ...]
    """The numbers of a point of the manifold, in one row."""

    def check_fields(self) -> None:
        """Raise a ValueError that names the first wrong field."""
        self._set("state", check_integer("state", self.state, at_least=0))
        self._set("mean", check_coordinates("mean", self.mean))

    def apply(self, manifold: Manifold, truth: Truth, elapsed: int) -> Truth:
        """The parameters with the mean moved."""
        means = truth.means.copy()
        means[_known("state", self.state, truth)] = point_of(manifold, "mean", self.mean)
        return replace(truth, means=means)


@register_event
@dataclass(frozen=True, kw_only=True)
class Turn(Jump):
    """All means turn about the origin by an angle in degrees, at once: an isometry.

    Vectors turn in the plane of their first two coordinates; matrices are seen from axes that are
    turned in the plane of the first two.
    """

    name = "turn"
    label = "all means jump"
    angle: float

    def check_fields(self) -> None:
        """Raise a ValueError that names the first wrong field."""
        self._set("angle", check_real("angle", self.angle))

    def apply(self, manifold: Manifold, truth: Truth, elapsed: int) -> Truth:
        """The parameters with the means turned."""
        return replace(truth, means=turned(manifold, truth.means, self.angle))


@register_event
@dataclass(frozen=True, kw_only=True)
class Scale(Jump):
    """The logarithms of all means at the origin are multiplied by a factor, at once."""

    name = "scale"
    label = "all means are scaled"
    factor: float

    def check_fields(self) -> None:
        """Raise a ValueError that names the first wrong field."""
        self._set("factor", check_real("factor", self.factor))

    def apply(self, manifold: Manifold, truth: Truth, elapsed: int) -> Truth:
        """The parameters with the means scaled."""
        steps = self.factor * manifold.log(manifold.origin, truth.means)
        try:
            return replace(truth, means=manifold.exp(manifold.origin, steps))
        except ValueError as error:
            raise ValueError(f"factor={self.factor:g} moves a mean too far: {error}") from None


@register_event
@dataclass(frozen=True, kw_only=True)
class SlowTurn(Change):
    """All means turn about the origin by an angle in degrees, a little before every block of so
    many observations."""

    name = "slow-turn"
    label = "the means turn slowly"
    angle: float
    length: int

    def check_fields(self) -> None:
        """Raise a ValueError that names the first wrong field."""
        self._set("angle", check_real("angle", self.angle))
        self._set("length", check_multiple("length", self.length))

    @property
    def moments(self) -> range:
        """The beginning of each block."""
        return range(0, self.length, BLOCK)

    def apply(self, manifold: Manifold, truth: Truth, elapsed: int) -> Truth:
        """The parameters with the means turned by one step more."""
        step = self.angle * BLOCK / self.length
        return replace(truth, means=turned(manifold, truth.means, step))


@register_event
@dataclass(frozen=True, kw_only=True)
class NewTransitions(Jump):
    """Another transition matrix."""

    name = "transitions"
    label = "another A"
    transmat: tuple[tuple[float, ...], ...]
    """Shape (N, N) for the N states of that time; links and callers may give it in one row."""

    def check_fields(self) -> None:
        """Raise a ValueError that names the first wrong field."""
        numbers = np.array(check_coordinates("transmat", self.transmat))
        n = math.isqrt(len(numbers))
        if n * n != len(numbers):
            raise ValueError(f"transmat must be square, not made of {len(numbers)} numbers")
        start = np.full(n, 1.0 / n)
        _, transmat = check_stochastic(start, numbers.reshape(n, n), names=("start", "transmat"))
        self._set("transmat", tuple(map(tuple, transmat.tolist())))

    def apply(self, manifold: Manifold, truth: Truth, elapsed: int) -> Truth:
        """The parameters with the other A."""
        if len(self.transmat) != truth.n_states:
            raise ValueError(
                f"transmat must have {truth.n_states} rows, one for each state that there is by "
                f"then, not {len(self.transmat)}"
            )
        return replace(truth, full_transmat=np.array(self.transmat))


@register_event
@dataclass(frozen=True, kw_only=True)
class StateAway(Change):
    """A state is not visited for so many observations, then it is there again."""

    name = "away"
    label = "a state goes and comes back"
    state: int
    length: int

    def check_fields(self) -> None:
        """Raise a ValueError that names the first wrong field."""
        self._set("state", check_integer("state", self.state, at_least=0))
        self._set("length", check_multiple("length", self.length))

    @property
    def moments(self) -> tuple[int, int]:
        """When it goes, and when it comes back."""
        return (0, self.length)

    def apply(self, manifold: Manifold, truth: Truth, elapsed: int) -> Truth:
        """The parameters without the state, or with it again."""
        state = _known("state", self.state, truth)
        comes = elapsed == self.length
        if not comes and not truth.exists[state]:
            raise ValueError(f"state {state} is away already at that time")
        exists = truth.exists.copy()
        exists[state] = comes
        if not exists.any():
            raise ValueError(f"state {state} is the last one, and cannot go")
        return replace(truth, exists=exists)


@register_event
@dataclass(frozen=True, kw_only=True)
class NewState(Jump):
    """A state appears.

    It takes a share of every row of A. Its own row stays with the probability `stay`, and leads to
    the other states alike.
    """

    name = "new-state"
    label = "a new state appears"
    mean: tuple[float, ...]
    """The numbers of a point of the manifold, in one row."""
    sigma: float
    share: float = 0.2
    stay: float = 0.6

    def check_fields(self) -> None:
        """Raise a ValueError that names the first wrong field."""
        self._set("mean", check_coordinates("mean", self.mean))
        sigma = check_positive("sigma", self.sigma)
        if sigma.ndim:
            raise ValueError(f"sigma must be one number, not an array of shape {sigma.shape}")
        self._set("sigma", float(sigma))
        for name in ("share", "stay"):
            number = check_number(name, getattr(self, name), at_least=0.0)
            if number >= 1.0:
                raise ValueError(f"{name} must be below 1, not {number:g}")
            self._set(name, number)
        check_share("share", self.share)

    def apply(self, manifold: Manifold, truth: Truth, elapsed: int) -> Truth:
        """The parameters with one state more, the last."""
        mean = point_of(manifold, "mean", self.mean)
        sigma = manifold.check_one_sigma("sigma", self.sigma)
        n = truth.n_states
        transmat = np.full((n + 1, n + 1), self.share)
        transmat[:n, :n] = (1.0 - self.share) * truth.full_transmat
        transmat[n, :n] = (1.0 - self.stay) / n
        transmat[n, n] = self.stay
        return Truth(
            transmat,
            np.concatenate([truth.means, mean[None]]),
            np.append(truth.sigmas, sigma),
            np.append(truth.exists, True),
        )


def _known(name: str, state: int, truth: Truth) -> int:
    if state >= truth.n_states:
        raise ValueError(f"{name} must be below {truth.n_states}, not {state}")
    return state


def turned(manifold: Manifold, points: np.ndarray, angle: float) -> np.ndarray:
    """Points (N, *point_shape) turned about the origin by an angle in degrees, see `Turn`."""
    size = manifold.point_shape[0]
    if size < 2:
        raise ValueError(f"angle needs two coordinates to turn in, and {manifold!r} has one")
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    rotation = np.eye(size)
    rotation[:2, :2] = (cos, -sin), (sin, cos)
    moved = points @ rotation.T
    if len(manifold.point_shape) == 2:
        moved = rotation @ moved
        moved = 0.5 * (moved + np.swapaxes(moved, -1, -2))
    return np.ascontiguousarray(moved)
