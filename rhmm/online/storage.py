"""An online learner on disk, in mid-stream: npz without pickles, every bit kept."""

import json
import os
from pathlib import Path

import numpy as np

from rhmm.manifolds import manifold_named
from rhmm.online.bank import Bank
from rhmm.online.race import Race
from rhmm.online.runner import Field, Runner, Settings
from rhmm.online.streaming import StreamingState
from rhmm.online.trace import Trace
from rhmm.online.windowed import WindowedState
from rhmm.storage import read_npz

_FORMAT = "rhmm online learner 4"
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_FIELDS = {kind.__name__: kind for kind in (Field, Race, Bank)}


def save(path, learner) -> None:
    path = _checked(path)
    arrays = {"buffer": learner._buffer, **_prefixed("sensor", vars(learner._sensor))}
    head = {
        "format": _FORMAT,
        "manifold": [learner.manifold.name, learner.manifold.size],
        "options": learner._options(),
        "luck": [_plain(learner._first_luck), _plain(learner._rng.bit_generator.state)],
        "skipped": learner._skipped,
        "field": None,
        "settings": [],
        "latest": None,
    }
    runners = []
    if learner._field is not None:
        content = dict(vars(learner._field))
        runners = list(content.pop("runners"))
        numbers = {name: value for name, value in content.items() if isinstance(value, int)}
        head["field"] = {"kind": type(learner._field).__name__, "numbers": numbers}
        content = {name: value for name, value in content.items() if name not in numbers}
        arrays |= _prefixed("field", content)
    if learner._latest is not None:
        runner, arrays["latest.y"], observed = learner._latest
        runners.append(runner)
        head["latest"] = {"observed": observed}
    head["settings"] = [list(runner.settings) for runner in runners]
    for r, runner in enumerate(runners):
        arrays |= _prefixed(str(r), runner.state._asdict())
    if learner.trace_every and learner._traces:
        arrays |= _prefixed("trace", learner.trace_._asdict())
    whole = path.with_name(path.name + ".new.npz")
    try:
        np.savez(whole, head=json.dumps(head), **arrays)
        os.replace(whole, path)
    finally:
        whole.unlink(missing_ok=True)


def load(path, learner_class):
    path = _checked(path)
    try:
        content = read_npz(path)
        head = json.loads(str(content["head"]))
        if head["format"] != _FORMAT:
            raise ValueError("unknown format")
        learner = learner_class(manifold_named(*head["manifold"]), **head["options"])
        learner._first_luck, luck = head["luck"]
        learner._rng = generator_at(luck)
        learner._skipped, learner._buffer = head["skipped"], content["buffer"]
        vars(learner._sensor).update(_without_prefix("sensor", content))
        state_class = StreamingState if learner.algorithm == "streaming" else WindowedState
        runners = [
            Runner(Settings(*settings), state_class(**_without_prefix(str(r), content)))
            for r, settings in enumerate(head["settings"])
        ]
        for runner in runners:
            _check_state(learner, runner.state)
        if head["latest"] is not None:
            learner._latest = runners.pop(), content["latest.y"], head["latest"]["observed"]
        if head["field"] is not None:
            kind = _FIELDS[head["field"]["kind"]]
            learner._field = kind.__new__(kind)
            vars(learner._field).update(
                runners=runners, **head["field"]["numbers"], **_without_prefix("field", content)
            )
        if "trace.step" in content:
            learner._traces = [Trace(**_without_prefix("trace", content))]
        return learner
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"path {str(path)!r} is not a learner that rhmm saved ({error})") from None


def _prefixed(prefix: str, arrays: dict) -> dict:
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def _without_prefix(prefix: str, content: dict) -> dict:
    whole = prefix + "."
    return {name[len(whole) :]: x for name, x in content.items() if name.startswith(whole)}


def _plain(luck):
    """The state of a bit generator as JSON can hold it."""
    if isinstance(luck, dict):
        return {key: _plain(value) for key, value in luck.items()}
    return luck.tolist() if isinstance(luck, np.ndarray) else luck


def _check_state(learner, state) -> None:
    """Kernels trust their arrays: refuse those of another size or kind."""
    n, point = learner.n_components, learner.manifold.point_shape
    streaming = isinstance(state, StreamingState)
    room = 2 * (learner.lag if streaming else learner.window)
    shapes = {
        "transmat": (n, n), "means": (n, *point), "points": (room, *point), "missing": (room,),
        "alpha": (room, n), "density": (room, n), "counters": (2,), "log_likelihood": (1,),
    }  # fmt: skip
    kinds = {"missing": np.bool_, "counters": np.int64}
    for name, array in state._asdict().items():
        shape, kind = shapes.get(name, (n,)), kinds.get(name, np.float64)
        if array.shape != shape or array.dtype != kind or not array.flags.c_contiguous:
            raise ValueError(f"{name} must be of shape {shape} and {kind.__name__}")
    if not 0 <= state.counters[1] <= room:
        raise ValueError(f"counters must be at most {room}")


def generator_at(luck: dict) -> np.random.Generator:
    """A Generator of the kind and in the state that `luck` tells."""
    if luck["bit_generator"] not in _BIT_GENERATORS:
        raise ValueError(f"random generator {luck['bit_generator']!r} is unknown")
    bit_generator = getattr(np.random, luck["bit_generator"])()
    bit_generator.state = luck
    return np.random.Generator(bit_generator)


def _checked(path) -> Path:
    path = Path(path)
    if path.suffix != ".npz":
        raise ValueError(f"path must end in .npz, not {path.name!r}")
    return path
