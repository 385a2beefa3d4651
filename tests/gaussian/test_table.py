"""The table that kernels use in place of σ(δ) agrees with the direct computation."""

import numpy as np
import pytest

from rhmm import SPD, Euclidean, Hyperbolic
from rhmm.gaussian.table import half_precision_and_log_z, radial_table

MANIFOLDS = [Euclidean(2), Hyperbolic(2), Hyperbolic(5), SPD(2), SPD(5)]


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_the_table_agrees_with_the_direct_computation(manifold):
    table = radial_table(manifold.gaussian)
    for sigma in np.geomspace(1e-3, 15.0, 200):
        half_precision, log_z = half_precision_and_log_z(table, manifold.delta(sigma))
        assert half_precision == pytest.approx(0.5 / sigma**2, rel=1e-9)
        assert log_z == pytest.approx(manifold.log_z(sigma), abs=1e-9, rel=1e-9)


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_equal_laws_share_one_table(manifold):
    again = type(manifold)(manifold.size)
    assert radial_table(manifold.gaussian) is radial_table(again.gaussian)


def test_laws_of_the_same_dimension_on_different_manifolds_do_not():
    flat, curved = radial_table(Euclidean(3).gaussian), radial_table(Hyperbolic(3).gaussian)
    matrices = radial_table(SPD(2).gaussian)
    assert len({id(flat), id(curved), id(matrices)}) == 3
