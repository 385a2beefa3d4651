"""The manifolds that observations live on."""

from rhmm.manifolds.euclidean import Euclidean
from rhmm.manifolds.hyperbolic import Hyperbolic
from rhmm.manifolds.manifold import Manifold
from rhmm.manifolds.spd import SPD

__all__ = ["SPD", "Euclidean", "Hyperbolic", "Manifold"]


def check_manifold(manifold) -> Manifold:
    if not isinstance(manifold, Manifold):
        raise ValueError(f"manifold must be a manifold such as Hyperbolic(2), not {manifold!r}")
    return manifold


def manifold_named(name: str, size: int) -> Manifold:
    """The manifold that calls itself `name` (see `Manifold.name`), of the given size."""
    for kind in (Euclidean, Hyperbolic, SPD):
        if kind.__name__ == name:
            return kind(size)
    raise ValueError(f"name must be Euclidean, Hyperbolic or SPD, not {name!r}")
