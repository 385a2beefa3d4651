"""Checks of what comes from a file: kernels trust the sizes, kinds and ranges of what they get."""

import operator

import numpy as np

from rhmm.gaussian.table import half_precision_and_log_z, radial_table
from rhmm.manifolds import Manifold
from rhmm.streams.group import FAINT
from rhmm.streams.streaming_kernel import BURST
from rhmm.streams.trace import Trace

MOST = 2**53
"""The largest count that is believed: larger ones could overflow as a stream goes on."""
_ROUNDING = 1e-6
_KINDS = {"missing": np.bool_, "begins": np.bool_, "counters": np.int64, "step": np.int64}


def check_array(
    name: str, array, shape: tuple[int, ...], kind: type = np.float64, *, or_missing: bool = False
) -> None:
    """An array of that shape and kind whose numbers are finite, or NaN too if `or_missing`."""
    if array.shape != shape or array.dtype != kind or not array.flags.c_contiguous:
        raise ValueError(f"{name} must be of shape {shape} and {kind.__name__}")
    if not (np.isfinite(array) | (or_missing & (array != array))).all():
        raise ValueError(f"{name} must be finite")


def check_whole(name: str, value, least: int, most: int) -> None:
    """A whole number in that range."""
    try:
        good = not isinstance(value, bool) and least <= operator.index(value) <= most
    except TypeError:
        good = False
    if not good:
        raise ValueError(f"{name} must be a whole number from {least} to {most}, not {value!r}")


def check_points(name: str, points: np.ndarray, manifold: Manifold) -> None:
    """Points of the manifold, shape (..., *point_shape)."""
    if not np.all(manifold.belongs(points)):
        raise ValueError(f"{name} must hold points of {manifold!r}")


def check_positive(name: str, array: np.ndarray) -> None:
    if not (array > 0.0).all():
        raise ValueError(f"{name} must be positive")


def check_laws(name: str, rows: np.ndarray, least: float = 1.0) -> None:
    """Probabilities that sum to one along the last axis, or to `least` at the least."""
    sums = rows.sum(axis=-1)
    rounding = 1.0 + _ROUNDING
    if not ((rows >= 0.0).all() and ((sums > least / rounding) & (sums < rounding)).all()):
        raise ValueError(f"{name} must hold probabilities that sum to one")


def check_state(state, n: int, manifold: Manifold, least: int, most: int, room: int) -> None:
    """The state of an algorithm with n components.

    Between two observations it holds from `least` to `most` points, the last of those that it has
    `room` for if `least` is not 0.
    """
    point_shape = manifold.point_shape
    shapes = {
        "transmat": (n, n), "means": (n, *point_shape), "points": (room, *point_shape),
        "missing": (room,), "begins": (room,), "alpha": (room, n), "density": (room, n),
        "counters": (2,), "credit": (1,), "log_likelihood": (1,),
        "scatter": (n, manifold.dim, manifold.dim), "whiteners": (n, manifold.dim, manifold.dim),
        "prior_variance": (1,), "tail": (2,),
    }  # fmt: skip
    arrays = state._asdict()
    for name, array in arrays.items():
        check_array(name, array, shapes.get(name, (n,)), _KINDS.get(name, np.float64))
    seen, end = state.counters.tolist()
    check_whole("counters[0]", seen, 0, MOST)
    check_whole("counters[1]", end, least, most)
    check_laws("transmat", state.transmat)
    check_points("means", state.means, manifold)
    positive = {"transmat", "delta", "half_precision", "visits", "prior_variance"}
    for name in positive & arrays.keys():
        check_positive(name, arrays[name])
    if "scatter" in arrays:
        _check_shapes(state)
    if "credit" in arrays and not 0.0 <= state.credit[0] <= BURST:
        raise ValueError(f"credit must be from 0 to {BURST:g}")
    _check_dispersion(state, manifold)
    held = slice(end - least if least else 0, end)
    check_points("points", state.points[held][~state.missing[held]], manifold)
    if "filtered" in arrays:
        check_laws("filtered", state.filtered, least=FAINT)
        check_laws("alpha", state.alpha[held], least=FAINT)
    else:
        check_laws("alpha", state.alpha[held])
    if "density" in arrays:
        check_positive("density", state.density[held].max(axis=1))
        if not ((state.density[held] >= 0.0) & (state.density[held] < 1.0 + _ROUNDING)).all():
            raise ValueError("density must be from 0 to 1")


def _check_dispersion(state, manifold: Manifold) -> None:
    """1/2σ² and log Z must be those of δ, up to rounding on another machine."""
    table = radial_table(manifold.gaussian)
    for i, delta in enumerate(state.delta):
        half_precision, log_z = half_precision_and_log_z(table, delta)
        if not (
            abs(state.half_precision[i] - half_precision) <= _ROUNDING * half_precision
            and abs(state.log_z[i] - log_z) <= _ROUNDING * max(abs(log_z), 1.0)
        ):
            raise ValueError("half_precision and log_z must be those of delta")


def _check_shapes(state) -> None:
    """Moments must be symmetric, whitening matrices lower triangular, and tails not negative."""
    scatter, whiteners = state.scatter, state.whiteners
    if not (scatter == np.swapaxes(scatter, 1, 2)).all():
        raise ValueError("scatter must be symmetric")
    diagonals = np.diagonal(whiteners, axis1=1, axis2=2)
    check_positive("whiteners", diagonals)
    if np.triu(whiteners, 1).any():
        raise ValueError("whiteners must be lower triangular")
    if not np.allclose(state.log_det, np.log(diagonals).sum(axis=1), rtol=_ROUNDING):
        raise ValueError("log_det must be that of the whiteners")
    if state.tail[0] < 0.0:
        raise ValueError("tail must begin with a number that is not negative")


def check_trace(
    trace: Trace, n: int, manifold: Manifold, every: int | None, seen: int, *, or_missing: bool
) -> None:
    """The trace of a learner with n components that has seen so many observations.

    If `or_missing`, states may be missing in it.
    """
    if every is None:
        raise ValueError("trace must be empty where trace_every is None")
    rows = len(trace.step)
    shapes = {
        "step": (rows,), "transmat": (rows, n, n), "means": (rows, n, *manifold.point_shape),
        "log_likelihood": (rows,),
    }  # fmt: skip
    for name, array in trace._asdict().items():
        shape, kind = shapes.get(name, (rows, n)), _KINDS.get(name, np.float64)
        check_array(name, array, shape, kind, or_missing=or_missing)
    steps = trace.step
    if (steps % every).any() or (np.diff(steps, prepend=0) <= 0).any() or steps[-1:].sum() > seen:
        raise ValueError(f"step must rise in steps of {every} to at most {seen}")
