"""Verbs as kernels call them, for tests."""

import numpy as np

from rhmm._jit import kernel
from rhmm.manifolds import verbs


@kernel
def weighted_step(geometry, points, first, last, weights, tau, centre):
    layout = verbs.prepared(geometry, points)
    return verbs.weighted_step(geometry, layout, first, last, weights, tau, centre)


@kernel
def distances_to(geometry, points, first, last, centre):
    d2 = np.empty(last - first)
    verbs.distances_to(geometry, verbs.prepared(geometry, points), first, last, centre, d2)
    return d2


@kernel
def distances_from(geometry, points, first, last, centres):
    d2 = np.empty(len(centres) * (last - first))
    verbs.distances_from(geometry, verbs.prepared(geometry, points), first, last, centres, d2)
    return d2


@kernel
def weighted_steps(geometry, points, first, last, weights, taus, centres, totals):
    layout = verbs.prepared(geometry, points)
    verbs.weighted_steps(geometry, layout, first, last, weights, taus, centres, totals)


@kernel
def approach(geometry, points, weights, centre, d2):
    verbs.approach(geometry, points, verbs.prepared(geometry, points), weights, centre, d2)


@kernel
def holds(geometry, x):
    return verbs.holds(geometry, x)


@kernel
def normal_coordinates(geometry, points, first, last, centre, coordinates, log_volume):
    layout = verbs.prepared(geometry, points)
    verbs.normal_coordinates(geometry, layout, first, last, centre, coordinates, log_volume)
