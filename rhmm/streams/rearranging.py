"""Sensors that were refitted: the same world, seen with its sensors in another order.

Points that tell of sensors around a limb or along a row, such as covariances of electrodes, are
moved by an isometry when the sensors are put on again shifted or the other way round. Every state
jumps then, but nothing else has changed: what was learned is true in the new order. So a learner
need not start anew. It asks which order explains the latest observations under what it knew before,
and moves its states by that. No parameter is fitted, so a few observations tell.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel
from rhmm.gaussian.table import radial_table
from rhmm.manifolds import Manifold, verbs
from rhmm.parameters import stationary_law
from rhmm.streams import emission
from rhmm.streams.chunk import start_law
from rhmm.streams.shaped_kernel import AnySettings, AnyState, ShapedState, settle_all
from rhmm.streams.streaming_kernel import BURST

_MOST = 10.0
"""Nats that one observation can speak against an order: an outlier does not decide."""
_FEW = 5
"""One of so many observations is asked first."""


class Order(NamedTuple):
    """The order of the sensors that explains observations best."""

    order: np.ndarray
    """``order[i]`` is the sensor of today that was sensor i, shape (sensors,)."""
    gain: float
    """Nats for each observation that it explains them better than the order before."""


@lru_cache
def orders(n_sensors: int) -> np.ndarray:
    """How n sensors can be put on again: shifted around a ring, or the other way round as well.

    The first is as before; shape (orders, n).
    """
    ring = np.arange(n_sensors)
    turned = [np.roll(way, -k) for way in (ring, ring[::-1]) for k in range(n_sensors)]
    ways = np.array(list(dict.fromkeys(map(tuple, turned))))
    ways.flags.writeable = False
    return ways


def best_order(manifold: Manifold, state: AnyState, points: np.ndarray) -> Order:
    """The order in which `points` look most like what a stream has learned.

    Points are taken one by one, in the chain's stationary law. If a few of them speak for the order
    before, as they do nearly always, the others are not asked.
    """
    found = _best_order(manifold, state, points[::_FEW])
    return found if found.gain <= 0.0 else _best_order(manifold, state, points)


def _best_order(manifold: Manifold, state: AnyState, points: np.ndarray) -> Order:
    ways = orders(manifold.n_sensors)
    seen = np.concatenate([manifold.rearranged(points, order) for order in ways])
    logs = np.empty(len(seen))
    explain(manifold.geometry, state, seen, logs)
    explained = logs.reshape(len(ways), len(points))
    scores = np.maximum(explained, explained.max(axis=0) - _MOST).mean(axis=1)
    best = int(scores.argmax())
    return Order(ways[best], float(scores[best] - scores[0]))


@kernel
def explain(geometry, state, points, out):
    """The log density of each point alone under the chain's stationary law, into `out` (T,)."""
    n, size = len(state.delta), len(points)
    start, logs = np.empty(n), np.empty(n * size)
    start_law(state.transmat, start)
    layout = verbs.prepared(geometry, points)
    emission.log_densities(state, geometry, layout, 0, size, logs)
    for t in range(size):
        most = -np.inf
        for i in range(n):
            most = max(most, logs[i * size + t])
        total = 0.0
        for i in range(n):
            total += start[i] * math.exp(logs[i * size + t] - most)
        out[t] = most + math.log(total)


def rearranged_state(
    manifold: Manifold, state: AnyState, order: np.ndarray, settings: AnySettings, seen: int
) -> AnyState:
    """Where a recursion goes on, after `seen` observations, from what it knew before its sensors
    were put into this order."""
    back = np.argsort(order)
    fields = {name: field.copy() for name, field in state._asdict().items()}
    fields["means"] = np.ascontiguousarray(manifold.rearranged(state.means, back))
    for name in ("points", "missing", "begins", "log_likelihood"):
        fields[name][:] = 0
    fields["filtered"], fields["credit"] = stationary_law(state.transmat), np.full(1, BURST)
    fields["counters"] = np.array([seen, 0])
    if not isinstance(state, ShapedState):
        return type(state)(**fields)
    # Frames come from the origin, which stays: their axes turn as those at the origin do.
    origin = manifold.origin
    axes = manifold.from_normal_coordinates(origin, np.eye(manifold.dim))
    turn, _ = manifold.normal_coordinates(origin, manifold.rearranged(axes, back))
    scatter = turn.T @ state.scatter @ turn
    fields["scatter"] = 0.5 * (scatter + np.swapaxes(scatter, 1, 2))
    moved = ShapedState(**fields)
    settle_all(moved, radial_table(manifold.gaussian), settings)
    return moved
