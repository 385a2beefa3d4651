"""The manifolds that observations live on.

One line below imports, registers and exports each of them.
"""

from rhmm.manifolds.euclidean import Euclidean as Euclidean
from rhmm.manifolds.hyperbolic import Hyperbolic as Hyperbolic
from rhmm.manifolds.log_euclidean import LogEuclideanSPD as LogEuclideanSPD
from rhmm.manifolds.manifold import Manifold
from rhmm.manifolds.registry import manifold_named as manifold_named
from rhmm.manifolds.registry import register_manifold, registered_manifolds
from rhmm.manifolds.spd import SPD as SPD

__all__ = ["Manifold", "register_manifold", *registered_manifolds()]


def check_manifold(manifold) -> Manifold:
    """`manifold` itself, if it is one."""
    if not isinstance(manifold, Manifold):
        raise ValueError(f"manifold must be a manifold such as Hyperbolic(2), not {manifold!r}")
    return manifold
