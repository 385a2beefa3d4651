"""Checks of arrays that come from a file: kernels trust the size and kind of their arrays."""

import numpy as np

_KINDS = {"missing": np.bool_, "counters": np.int64}


def check_array(name: str, array, shape: tuple[int, ...], kind: type = np.float64) -> None:
    if array.shape != shape or array.dtype != kind or not array.flags.c_contiguous:
        raise ValueError(f"{name} must be of shape {shape} and {kind.__name__}")


def check_state(state, n: int, point_shape: tuple[int, ...], least: int, room: int) -> None:
    """The state of an algorithm with n components that holds from `least` to `room` points."""
    shapes = {
        "transmat": (n, n), "means": (n, *point_shape), "points": (room, *point_shape),
        "missing": (room,), "alpha": (room, n), "density": (room, n), "counters": (2,),
        "log_likelihood": (1,),
    }  # fmt: skip
    for name, array in state._asdict().items():
        check_array(name, array, shapes.get(name, (n,)), _KINDS.get(name, np.float64))
    if not least <= state.counters[1] <= room:
        raise ValueError(f"counters must be from {least} to {room}")
