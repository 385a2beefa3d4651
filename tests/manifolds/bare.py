"""The ball and the cone with the three required verbs alone: everything else is a default."""

from typing import NamedTuple

from rhmm import SPD, Hyperbolic, Manifold
from rhmm._jit import implements
from rhmm.manifolds import verbs
from rhmm.manifolds.hyperbolic import BallGeometry
from rhmm.manifolds.spd import ConeGeometry


class BareBallGeometry(NamedTuple):
    dim: int


class BareConeGeometry(NamedTuple):
    size: int


class _Defaults:
    project = Manifold.project
    norm = Manifold.norm
    first_guess = Manifold.first_guess


class BareHyperbolic(_Defaults, Hyperbolic):
    def __init__(self, dim: int):
        super().__init__(dim)
        self.geometry = BareBallGeometry(dim)


class BareSPD(_Defaults, SPD):
    def __init__(self, size: int):
        super().__init__(size)
        self.geometry = BareConeGeometry(size)


def _borrow_required_verbs(bare: type, full: type) -> None:
    @implements(verbs.dist2, bare)
    def dist2(geometry, x, y):
        return verbs.dist2(full(geometry[0]), x, y)

    @implements(verbs.log_into, bare)
    def log_into(geometry, x, y, out):
        verbs.log_into(full(geometry[0]), x, y, out)

    @implements(verbs.exp_into, bare)
    def exp_into(geometry, x, v, out):
        verbs.exp_into(full(geometry[0]), x, v, out)


_borrow_required_verbs(BareBallGeometry, BallGeometry)
_borrow_required_verbs(BareConeGeometry, ConeGeometry)
