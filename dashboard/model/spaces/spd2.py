"""2 × 2 positive definite matrices, for example covariances: each is drawn as its ellipse.

The map is computed here and not by the engine: compiled kernels would let the first picture wait
for the compiler. For matrices of two rows all is in closed form.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dashboard.model.kinds import Invalid, is_number
from dashboard.model.spaces.chart import Coordinates, Points
from dashboard.model.spaces.space import Space, Words, ring, staying
from dashboard.model.spaces.tangent import Direction, TangentChart
from rhmm import SPD

LEAST_EIGENVALUE, MOST_EIGENVALUE = 1e-3, 1e3
_SIGNIFICANT = 6  # digits that a mean keeps after a drag, so that links stay short
_GLYPH_LIMITS = 0.2, 5.0
"""No ellipse is so thin that it cannot be seen, or so large that it hides all others."""

_FRAME = (
    Direction("wider", "taller"),
    Direction("larger", "smaller"),
    Direction("leaning right", "leaning left"),
)


def _log(points: Points) -> NDArray[np.floating]:
    """The matrix logarithms in the orthonormal frame `_FRAME`, shape (T, 3).

    P/√det P = cosh h + sinh h / h · [[b, c], [c, −b]], and log P = ½ log det P + [[b, c], [c, −b]].
    """
    p, q, r = points[..., 0, 0], points[..., 0, 1], points[..., 1, 1]
    root = np.sqrt(p * r - q * q)
    b, c = 0.5 * (p - r) / root, q / root
    sinh = np.hypot(b, c)
    shrink = np.where(sinh > 0.0, np.arcsinh(sinh) / np.where(sinh > 0.0, sinh, 1.0), 1.0)
    return math.sqrt(2.0) * np.stack([b * shrink, np.log(root), c * shrink], axis=-1)


def _exp(vectors: NDArray[np.floating]) -> Points:
    """The inverse of `_log`."""
    b, a, c = np.moveaxis(vectors / math.sqrt(2.0), -1, 0)
    h = np.hypot(b, c)
    grow = np.where(h > 0.0, np.sinh(h) / np.where(h > 0.0, h, 1.0), 1.0)
    size, middle = np.exp(a), np.cosh(h)
    b, c = b * grow, c * grow
    rows = [np.stack([middle + b, c], axis=-1), np.stack([c, middle - b], axis=-1)]
    return size[..., None, None] * np.stack(rows, axis=-2)


def _distances(x: Points, y: Points) -> NDArray[np.floating]:
    """Of matrices (T, 2, 2) and matrices (T, 2, 2), shape (T,)."""
    (a, b, c), (p, q, r) = np.moveaxis(SPD2.coords(x), -1, 0), np.moveaxis(SPD2.coords(y), -1, 0)
    product = np.sqrt((a * c - b * b) * (p * r - q * q))
    log = np.log((p * r - q * q) / product)
    half = np.arccosh(np.maximum(1.0, 0.5 * (a * r + c * p - 2.0 * b * q) / product))
    return math.sqrt(2.0) * np.hypot(log, half)


@dataclass(frozen=True, eq=False)
class _Around:
    """Normal coordinates around a matrix: log(B^{−½} P B^{−½}) in the frame `_FRAME`."""

    base: NDArray[np.floating]

    def vectors(self, points: Points) -> NDArray[np.floating]:
        shrink = _exp(-0.5 * _log(self.base))
        return _log(shrink @ np.asarray(points, dtype=float) @ shrink)

    def points(self, vectors: NDArray[np.floating]) -> Points:
        root = _exp(0.5 * _log(self.base))
        return root @ _exp(vectors) @ root


def _centre(points: Points) -> NDArray[np.floating]:
    """The centre of mass, shape (2, 2)."""
    centre = _exp(_log(points).mean(axis=0))
    for _ in range(100):
        step = _Around(centre).vectors(points).mean(axis=0)
        centre = _Around(centre).points(step)
        if np.abs(step).max() < 1e-13:
            break
    return centre


@lru_cache(maxsize=64)
def _chart(means: tuple[Coordinates, ...], sigmas: tuple[float, ...]) -> TangentChart:
    base = _centre(SPD2.points(means))
    size = np.linalg.det(base) ** 0.25

    def shapes(points: Points) -> NDArray[np.floating]:
        """Semi-axes √λ, so that the base matrix has the area of a dot, and the angle."""
        b, a, c = np.moveaxis(_log(np.asarray(points, dtype=float)) / math.sqrt(2.0), -1, 0)
        h = np.hypot(b, c)
        axes = np.exp(0.5 * np.stack([a + h, a - h], axis=-1)) / size
        return np.column_stack([axes.clip(*_GLYPH_LIMITS), 0.5 * np.arctan2(c, b)])

    return TangentChart(
        space=SPD2.key,
        title="Map of the 2 × 2 matrices",
        frame=_FRAME,
        normal=_Around(base),
        distances=_distances,
        to_points=SPD2.points,
        to_coordinates=_rounded,
        shapes=shapes,
        means=means,
        sigmas=sigmas,
    )


def _rounded(points: Points) -> NDArray[np.floating]:
    """The coordinates to so many digits of the largest."""
    coordinates = SPD2.coords(points)
    digits = _SIGNIFICANT - 1 - np.floor(np.log10(np.abs(coordinates).max())).astype(int)
    return coordinates.round(digits)


class Covariances(Space):
    """Matrices [[a₁₁, a₁₂], [a₁₂, a₂₂]] with the affine-invariant metric."""

    key = "spd2"
    label = "SPD(2): 2 × 2 covariances"
    manifold = SPD(2)
    coordinates = ("a₁₁", "a₁₂", "a₂₂")
    effort = 3.5
    words = Words(
        title="Online learning of 2 × 2 covariance matrices",
        caption="Each observation is a positive definite matrix, drawn as its ellipse. Crosses are "
        "the true means: drag them. Large coloured ellipses are what the online algorithm believes "
        "after k observations, and the path it took; the thin lines around them are σ away, dashed "
        "those of the true means.",
        picture="The map of the 2 × 2 matrices",
        noun="map",
        mean="(a₁₁, a₁₂, a₂₂), a positive definite matrix",
        states="(a₁₁, a₁₂, a₂₂) are the entries of the mean, a symmetric matrix with a₁₁ and a₂₂ "
        "above 0 and a₁₁ · a₂₂ above a₁₂²; σ is the spread around it, the distance of its dashed "
        "line; π is the probability of being the first state.",
        estimates="Small ellipses are observations. A large, filled ellipse is an estimated mean, "
        "and the line around it is σ̂ away.",
        balls="σ-balls",
        distance="affine-invariant distance",
        beware="The map is flat and the space is not: far from its middle, what looks near may be "
        "far. The distances tell what the map does not:",
    )

    def models(self) -> dict[str, dict]:
        even, first = ((0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.1, 0.8)), (1.0, 0.0, 0.0)
        shapes = _typed([(0.0, -0.9, 0.0), (1.3, 0.4, 0.0), (-0.7, 0.5, 1.2)])
        return {
            "Three shapes": {
                "transmat": even,
                "means": shapes,
                "sigmas": (0.3, 0.4, 0.5),
                "startprob": first,
            },
            "Overlapping": {
                "transmat": ((0.8, 0.1, 0.1), (0.15, 0.7, 0.15), (0.1, 0.2, 0.7)),
                "means": _typed([(0.0, -0.4, 0.0), (0.9, 0.2, 0.0), (-0.4, 0.3, 0.8)]),
                "sigmas": (0.45, 0.6, 0.5),
                "startprob": first,
            },
            "Sticky": {
                "transmat": staying(0.97, 3),
                "means": shapes,
                "sigmas": (0.6, 0.6, 0.6),
                "startprob": first,
            },
            "Two sizes": {
                "transmat": ((0.9, 0.1), (0.2, 0.8)),
                "means": _typed([(0.6, -0.8, 0.4), (0.6, 0.8, 0.4)]),
                "sigmas": (0.4, 0.6),
                "startprob": (0.5, 0.5),
            },
            "Five directions": {
                "transmat": staying(0.6, 5),
                "means": _typed([(x, 0.0, y) for x, y in ring(5, 1.6)]),
                "sigmas": (0.4,) * 5,
                "startprob": (0.2,) * 5,
            },
        }

    def points(self, coordinates: Sequence[Coordinates]) -> Points:
        a, b, c = np.array(coordinates, dtype=float).reshape(-1, 3).T
        return np.stack([np.stack([a, b], axis=-1), np.stack([b, c], axis=-1)], axis=-2)

    def coords(self, points: Points) -> NDArray[np.floating]:
        points = np.asarray(points)
        return np.stack([points[..., 0, 0], points[..., 0, 1], points[..., 1, 1]], axis=-1)

    def check(self, coordinates: Sequence, name: str) -> Coordinates:
        if len(coordinates) != 3 or not all(map(is_number, coordinates)):
            raise Invalid(f"{name} needs three numbers, a₁₁, a₁₂ and a₂₂.")
        a, b, c = map(float, coordinates)
        named = f"{name} = ({a:g}, {b:g}, {c:g})"
        middle, half = 0.5 * (a + c), math.hypot(0.5 * (a - c), b)
        if min(a, c) <= 0.0 or middle <= half:
            raise Invalid(
                f"{named} is not positive definite: a₁₁ and a₂₂ must be above 0, and a₁₁ · a₂₂ "
                "above a₁₂²."
            )
        if middle - half < LEAST_EIGENVALUE or middle + half > MOST_EIGENVALUE:
            raise Invalid(
                f"{named} is too thin or too large to draw: its eigenvalues, {middle - half:.3g} "
                f"and {middle + half:.3g}, must be between {LEAST_EIGENVALUE} and "
                f"{MOST_EIGENVALUE:,.0f}."
            )
        return a, b, c

    @property
    def rooms(self) -> Sequence[Coordinates]:
        round_and_long = [(0.0, 0.0), *ring(8, 0.8), *ring(8, 1.6)]
        return _typed([(x, size, y) for size in (0.0, -1.0, 1.0) for x, y in round_and_long])

    def chart_for(self, means: Sequence[Coordinates], sigmas: Sequence[float]) -> TangentChart:
        return _chart(tuple(means), tuple(sigmas))


def _typed(vectors: Sequence[Sequence[float]]) -> tuple[Coordinates, ...]:
    """Matrices by their logarithms in the frame `_FRAME`, as they are typed: to two digits."""
    rows = SPD2.coords(_exp(np.array(vectors, dtype=float))).round(2).tolist()
    return tuple((a, b, c) for a, b, c in rows)


SPD2 = Covariances()
